from __future__ import annotations

from actors.answering.facts import known_facts
from actors.events import Tick
from actors.knowledge.fact import FACTS, Fact, FactStanding
from environment.identity import perception_id
from environment.recalls import Recalls
from tests.actors.knowledge.test_knowledge import DAY, HOUR, NOON, World


def told(world: World, at: float, *seqs: int) -> None:
    world.tell(Recalls(tuple((perception_id(seq), at) for seq in seqs)), at)


def fact(world: World, value: str) -> Fact:
    return next(each for each in world.facts if each.value == value)


def test_what_is_told_grows_stronger_once_an_hour_however_often_it_is_heard_of() -> None:
    world = World()
    world.line("Ana: ladder 7 is in bay 3", NOON)
    told(world, NOON + 10 * DAY, 1)
    once = fact(world, "bay 3")
    assert (once.sightings, once.used, once.recalled) == (2, NOON + 10 * DAY, NOON + 10 * DAY)
    for _ in range(3):
        told(world, NOON + 10 * DAY, 1)
        world.born()
    told(world, NOON + 10 * DAY + HOUR / 2, 1)
    told(world, NOON + 9 * DAY, 1)  # late
    assert fact(world, "bay 3") == once
    told(world, NOON + 10 * DAY + 2 * HOUR, 1)
    assert fact(world, "bay 3").sightings == 3


def test_beyond_the_bound_what_is_never_asked_for_goes_first() -> None:
    world = World(facts=20)
    for n in range(22):
        world.line(f"Ana: ladder {n} is in bay {n}", NOON + n * 60)
    told(world, NOON + DAY, 1, 2, 3)
    world.tell(Tick(), NOON + 2 * DAY)
    assert {f"bay {n}" for n in range(22)} - {each.value for each in world.facts} == {"bay 3", "bay 4"}


def test_who_says_otherwise_when_it_was_told_changes_it_and_the_contradiction_is_kept() -> None:
    world = World()
    world.line("Ana: ladder 7 is in bay 3", NOON)
    world.line("Ana: ladder 8 is in bay 4", NOON)
    told(world, NOON + 1.5 * HOUR, 1, 2)
    world.line("Bo: ladder 7 is in hall 2", NOON + 2 * HOUR)
    world.line("Bo: ladder 8 is in hall 3", NOON + 3 * HOUR)
    before, now = fact(world, "bay 3"), fact(world, "hall 2")
    assert (before.until, now.open, now.standing) == (NOON + 2 * HOUR, True, FactStanding.HELD)
    assert "said otherwise when it was told" in before.reason
    settled, still = world.contradictions
    assert (settled.right, settled.how, settled.values) == (now.id, before.reason, ["bay 3", "hall 2"])
    assert still.settled is None  # an hour is over


def test_who_is_trusted_less_changes_nothing_of_what_was_told() -> None:
    world = World()
    world.line("Ana: ladder 7 is in bay 3", NOON, trust=0.9)
    told(world, NOON + HOUR, 1)
    world.line("Bo: ladder 7 is in hall 2", NOON + 1.2 * HOUR, trust=0.1)
    assert [one.settled for one in world.contradictions] == [None]
    assert fact(world, "bay 3").open


async def test_what_faded_is_not_offered_beside_what_did_not(inline_stores) -> None:
    world = World()
    world.line("Ana: Quill is on call for press 1", NOON)
    world.line("Ana: Vell is on call for press 2", NOON)
    for day in (30, 60, 90):
        told(world, NOON + day * DAY, 2)
    later = NOON + 100 * DAY
    world.tell(Tick(), later)
    assert [each.faint for each in world.facts] == [True, False]
    await inline_stores.commit([FACTS.write(each.key, each) for each in world.facts])
    everyone = await known_facts("who is on call?", inline_stores.collections, later)
    assert everyone is not None
    assert [each.value for each in everyone.facts] == ["Vell"]
    told(world, later, 1)
    assert not fact(world, "Quill").faint
