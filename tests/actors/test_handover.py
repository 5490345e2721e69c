import numpy as np
import pytest

from actors.handover import Goal, Habits, HandoverState, Holding, OpenUse
from actors.snapshots import pack, unpack
from environment.messages import Connection, Via
from tests.actors.making import thought, unit


def test_a_handover_state_is_kept_whole_by_the_snapshot_codec():
    event = thought()
    link = Connection("a", "k1", "printers", "b", 0.3, False, 4, 2, 7.0, ((1.0, "opened"), (2.0, "credited")))
    handover = HandoverState(
        owner="a",
        goals=(Goal("Notice danger.", unit(1)),),
        topics=(Holding("k1", "printers", unit(2), 3, {"printer": 2}), Holding("k2", "doors", unit(3), 9)),
        about=unit(4),
        mean=unit(5),
        seen=40,
        connections=(link,),
        uses=(OpenUse(9.0, "k1", "b", rewarded=True),),
        events=(event,),
        via={event.id: Via("text", "k9")},
        waiting=(thought(),),
        share=0.5,
        habits=Habits((0.5, 0.25), (3, [1.0], [2.0]), {"printer": 2}),
    )
    again = unpack(pack(handover), HandoverState)
    assert pack(again) == pack(handover)
    assert again.labels == ("doors", "printers")
    assert np.array_equal(again.topics[0].centroid, unit(2))
    with pytest.raises(ValueError, match="truncated"):
        unpack(pack(handover)[:-3], HandoverState)
