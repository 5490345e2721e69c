from __future__ import annotations

from itertools import count

from actors.effects import Count
from actors.events import Perceived
from actors.knowledge.fact import PROGRESS
from environment.identity import perception_id
from environment.messages import Perception
from tests.actors.knowledge.test_knowledge import NOON, World


def told(world: World, lines: list[str], apart: float, source: str = "host") -> list[Count]:
    seqs = count(world.seq + 1)
    world.seq += len(lines)
    every = tuple(
        Perception(source, NOON + n * apart, NOON, text=text, trust=0.5, id=perception_id(seq), seq=seq)
        for n, (text, seq) in enumerate(zip(lines, seqs, strict=False))
    )
    return [effect for effect in world.tell(Perceived(every, {}), NOON) if isinstance(effect, Count)]


def test_a_flood_fills_memory_with_no_more_than_its_pace_and_says_what_was_passed_over() -> None:
    world = World(pace=20)
    lines = [f"worker {n} is jammed" for n in range(3000)]
    assert Count("limit_hits:pace", 2980) in told(world, lines, 1e-4)
    assert len(world.facts) == 20
    told(world, ["ladder 7 is in bay 3"], 0.0, "chat")
    assert world.values("location", NOON) == ["bay 3"], "others are read meanwhile"


def test_what_told_nothing_is_not_read_again_and_forgotten_in_time() -> None:
    world = World(templates=2)
    read: list[str] = []
    reader = world.core._reader
    whole = reader.read
    reader.read = lambda text, *rest: read.append(text) or whole(text, *rest)  # type: ignore[assignment,func-returns-value,method-assign]
    told(world, ["took 12 ms", "took 31 ms", "took 7 ms", "one", "two", "took 8 ms"], 60.0)
    assert read == ["took 12 ms", "one", "two", "took 8 ms"]
    told(world, ["took 12 ms"], 60.0, "another")
    assert read[-1] == "took 12 ms"


def test_how_far_it_read_is_kept_though_nothing_was_learnt() -> None:
    world = World()
    told(world, ["took 12 ms"] * 1023, 60.0)
    assert not world.kept[PROGRESS.name]
    told(world, ["took 12 ms"], 60.0)
    world.born()
    assert world.asked == 1024


def test_what_tells_nothing_now_may_tell_something_later() -> None:
    world = World()
    told(world, ["Cleo: no, it's in bay 4", "Cleo: ladder 7 is in bay 3", "Cleo: no, it's in bay 4"], 1.0)
    assert world.values("location", NOON + 3) == ["bay 4"]


def test_who_dies_in_a_flood_keeps_its_pace() -> None:
    world = World(pace=5)
    told(world, [f"worker {n} is jammed" for n in range(4)], 0.0)
    world.born()
    told(world, [f"press {n} is jammed" for n in range(4)], 0.0)
    assert len(world.facts) == 5


def test_pairs_of_a_log_line_are_no_facts() -> None:
    world = World()
    effects = told(world, ["request 17 host=web-1 user=anna state=failed"], 0.0)
    assert not world.facts
    assert not effects


def test_what_is_said_over_and_over_leaves_nothing_behind() -> None:
    world = World(evidence=2)
    told(world, ["ladder 7 is in bay 3"] * 50, 60.0)
    assert world.facts[0].sightings == 50
    assert len(world.core._ledger._of) == 2
    told(world, [line for n in range(300) for line in (f"Ana's k{n} is 1 kg", f"Ana's k{n} is 2 kg")], 60.0)
    assert 200 < len(world.core._ledger.progress.changes) <= 256


def test_denials_are_bounded_between_looks_as_well() -> None:
    world = World(contradictions=10)
    for n in range(60):
        for who in ("ana", "bo"):
            told(world, [f"ladder {n} is in bay {len(who)}"], 0.0, who)
        assert len(world.core._ledger.contradictions) <= 11
    assert len(world.contradictions) <= 11
