from dataclasses import replace

import pytest

from actors.events import Generated
from actors.handover import Goal
from actors.submind.binding import Bound
from actors.submind.composing import apart, compose
from actors.submind.linking import Tie
from actors.substrate.ports import Generation
from environment.relations import RelationKind
from environment.severity import log_odds
from tests.actors.making import thought, unit


def joined(event, strength, source="alerts"):
    """An event bound with a memory from elsewhere."""
    memory = thought(time=event.time - 3600, source=source)
    bound = Bound(event, memory, Goal("cold", unit(900)), Tie(RelationKind.ENTITY, "both name it", strength), 1.0, ())
    return compose("intention", bound, Generated("t", Generation("both", "rule"), unit(3)), (), "cold", event.time + 1)


def test_a_connection_lifts_once_however_many_are_made_on_it():
    event = thought(salience=0.4, evidence={"information": 1.0})
    sure, weak = joined(event, 1.25), joined(event, 0.8)
    assert event.salience < weak.salience < sure.salience < 0.6
    assert joined(event, 1.25, source="chat").salience == pytest.approx(event.salience)  # the same place
    for strength in (0.8, 1.25):
        again = joined(replace(sure, depth=1), strength)
        assert again.salience == pytest.approx(sure.salience)
        assert again.evidence["sources"] == pytest.approx(log_odds(again.salience) - log_odds(0.4), abs=0.01)
    assert joined(weak, 1.25).salience == pytest.approx(sure.salience, abs=0.001)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (1000.0, "just before"),
        (990.0, "just before"),
        (1010.0, "just after"),
        (880.0, "2 min earlier"),
        (1120.0, "2 min later"),
        (1000.0 - 3 * 3600, "3 h earlier"),
        (1000.0 + 3 * 3600, "3 h later"),
        (1000.0 - 2 * 86400, "2 d earlier"),
    ],
)
def test_what_is_recalled_says_when_it_was_on_either_side_of_the_event(time, said):
    assert apart(time, event=1000.0) == said
