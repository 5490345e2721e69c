"""A core that would decide on growth itself, or write what is another's: the shell lets nothing of it through."""

import pickle

import numpy as np
import pytest

from actors.effect_policy import EffectForbidden
from actors.effects import Commit, Send
from actors.events import Configured, Credit, Tick
from actors.growth import Born, Divided, Gone, GrowthRefused, Inherited, Moved, Permitted
from actors.settings import ShellSettings
from actors.shell import ActorShell
from environment.collections import Collection, Document, WriteDocument
from environment.messages import SubmindReport, SubmindState
from environment.population import (
    GrowthEvent,
    GrowthKind,
    Member,
    growth_head,
    read_members,
    write_growth,
    write_member,
)
from environment.ports import WriteConnections, WriteRemoved, WriteReport, WriteState
from environment.stores.sqlite import open_stores
from tests.actors.shells import Out, Plain

NOON = 1_772_539_200.0
NOBODY = np.zeros(0, np.float32)
CHILD = Member("own-1", "cognitive", ("Be more.",), "own", 1, 1, NOON, 1.0, (), (), NOBODY, "own/1")
HANDOVERS = Collection("mind.handovers", bytes)


async def step(folder, effect):
    """Have a core ask for it: what the shell said, and what came of it."""
    stores = await open_stores(folder, "mind", inline=True, synchronous="OFF")
    out = Out()
    shell = ActorShell(Plain(Commit(WriteState("own", b"mine")), effect), stores, out, ShellSettings(), embedder=None)
    said = ""
    try:
        shell.offer(Tick(), 1.0, NOON)
        await shell.step(NOON)
    except EffectForbidden as error:
        said = str(pickle.loads(pickle.dumps(error)))  # noqa: S301 - made here
    found = (
        await read_members(stores.collections),
        await growth_head(stores.collections),
        {name: await stores.registry.state(name) for name in ("own", "other")}
        | await HANDOVERS.all_of(stores.collections),
        out.sent,
    )
    await stores.close()
    return said, found


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        (Commit(write_member(CHILD)), "own may not commit"),
        (Commit(write_growth(GrowthEvent(1, NOON, GrowthKind.THAWED, "own"))), "own may not commit"),
        (
            Commit(write_growth(GrowthEvent(1, NOON, GrowthKind.APPROVED, "ann", "own", "divide"))),
            "own may not commit WriteDocument",
        ),
        (Commit(WriteRemoved(("other",))), "own may not commit WriteRemoved"),
        (
            Commit(WriteReport(SubmindReport("other", "cognitive", "", SubmindState.STOPPED, NOON))),
            "own may not commit WriteReport",
        ),
        (Commit(WriteState("other", b"mine")), "own may not write what other keeps"),
        (Commit(HANDOVERS.write("other", b"mine")), "own may not commit"),
        (Commit(HANDOVERS.remove("other")), "own may not commit"),
        (Commit(WriteDocument(Document(".moving", "mark", b""))), "own may not commit WriteDocument"),
        (Commit(WriteConnections("other", (), (("k", "own"),), ())), "own may not write what other keeps"),
        (Send("own", Divided("own/1", "own-1", (), 100.0, 1, ())), "own may not tell own Divided"),
        (Send("other", Gone("other", "own")), "own may not tell other Gone"),
        (Send("other", GrowthRefused("other/1", "no", NOON)), "GrowthRefused"),
        (Send("other", Permitted(end=True)), "Permitted"),
        (Send("other", Born(None)), "Born"),
        (Send("own", Inherited("other", None, 100.0, 1)), "Inherited"),
        (Send("own", Configured(1, None)), "Configured"),
        (Send("~population", CHILD), "own may not tell ~population Member"),
    ],
)
async def test_no_core_passes_the_guard_by(tmp_path, effect, said):
    told, found = await step(tmp_path, effect)
    assert said in told
    assert found == ([], 0, {"own": None, "other": None}, [])


async def test_what_is_its_own_and_what_subminds_say_to_each_other_passes(tmp_path):
    for event in (Credit("own", "k", "t", "useful"), Moved("k", "own", "other")):
        told, found = await step(tmp_path, Send("other", event))
        assert (told, found[2]["own"], found[3]) == ("", b"mine", [("other", event)])
