from __future__ import annotations

from actors.events import Started
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import FactStanding, Progress
from environment.packs import PackChange, PackSection
from tests.actors.knowledge.test_knowledge import DAY, HOUR, KEPT, NOON, World


def row(of, pack="assets.csv", **said):
    facts = tuple((of, relation.replace("_", " "), value) for relation, value in said.items())
    return PackSection(pack, of, ", ".join([of, *(f"{r} {v}" for _, r, v in facts)]), 0.9, facts)


def teach(world, came=(), gone=(), at=NOON):
    world.tell(PackChange(tuple(came), tuple(one.id for one in gone)), at)


def reborn(world, packs):
    *kept, progress = (dict(world.kept[one.name]) for one in KEPT)
    progress = progress.get("progress", Progress())
    given = {one.id: one for one in packs}
    world.core = KnowledgeCore("knowledge", *kept, progress, world.settings, given)
    world.tell(Started(), NOON + DAY)


def values(world, relation):
    return {(f.value, f.open) for f in world.facts if f.relation == relation}


def test_what_a_pack_says_is_known_from_always_and_told_again_changes_nothing():
    world = World()
    van = row("van 9", responsible="Aiko", whereabouts="bay 3", also_known_as="niner")
    prose = PackSection("book.md", "Rooms", "Rooms\nMags is responsible for room 2. The audit is on Monday.", 0.9)
    teach(world, [van, prose])
    before = dict(world.kept["facts"])
    teach(world, [van, prose], at=NOON + DAY)
    assert world.kept["facts"] == before
    assert values(world, "location") == {("bay 3", True)}
    assert values(world, "responsible") == {("Aiko", True), ("Mags", True)}
    assert values(world, "time") == set()
    (fact,) = [one for one in world.facts if one.relation == "location"]
    assert (fact.since, fact.trust, fact.evidence[0].source) == (0.0, 0.9, "pack assets.csv: van 9")
    reborn(world, [van, prose])
    assert world.kept["facts"] == before


def test_experience_changes_what_a_mind_was_born_with_and_packs_never_change_experience():
    world = World()
    world.line("Bo: the key is in the yard", NOON)
    teach(world, [row("van 9", location="bay 3"), row("the key", location="desk")], at=NOON + HOUR)
    assert values(world, "location") == {("bay 3", True), ("yard", True), ("desk", False)}
    world.line("Bo: van 9 is in hall 4", NOON + 2 * HOUR)
    assert values(world, "location") == {("bay 3", False), ("hall 4", True), ("yard", True), ("desk", False)}
    assert not world.contradictions


def test_another_version_supersedes_what_the_one_before_said_and_leaves_the_rest():
    world = World()
    one = row("van 9", location="bay 3", phone="0100 100100", responsible="Aiko")
    two = row("van 9", location="bay 5", phone="0100 100100")
    teach(world, [one])
    world.line("Aiko is responsible for van 9", NOON + HOUR)
    teach(world, [two], [one], at=NOON + DAY)
    assert values(world, "location") == {("bay 3", False), ("bay 5", True)}
    (moved,) = [f for f in world.facts if f.value == "bay 5"]
    (was,) = [f for f in world.facts if f.value == "bay 3"]
    assert moved.since == was.until == NOON + DAY
    (phone,) = [f for f in world.facts if f.relation == "phone"]
    assert [ref.id for ref in phone.evidence] == [two.id]
    assert phone.since == 0.0
    (cares,) = [f for f in world.facts if f.relation == "responsible"]
    assert [ref.id[:2] for ref in cares.evidence] == ["p-"]


def test_with_a_pack_goes_all_that_it_said_and_nothing_else():
    world = World()
    one, two = row("van 9", location="bay 3"), row("van 9", location="bay 5")
    other = row("van 9", "more.csv", phone="0100 100100")
    teach(world, [one, other])
    teach(world, [two], [one], at=NOON + HOUR)
    world.line("Bo: the ladder is behind van 9", NOON + 2 * HOUR)
    teach(world, [], [two], at=NOON + DAY)
    assert values(world, "location") == {("behind van 9", True)}
    assert values(world, "phone") == {("0100 100100", True)}
    teach(world, [], [other], at=NOON + DAY)
    assert {f.relation for f in world.facts} == {"location"}


def test_a_withdrawn_section_settles_what_it_denied():
    world = World(deference=0.0)
    one = row("van 9", location="bay 3")
    teach(world, [one])
    world.line("Bo: van 9 is in hall 4", NOON)
    assert {f.standing for f in world.facts} == {FactStanding.DISPUTED}
    teach(world, [], [one], at=NOON + HOUR)
    (fact,) = world.facts
    assert (fact.value, fact.standing) == ("hall 4", FactStanding.HELD)
    (denied,) = world.contradictions
    assert denied.settled == NOON + HOUR


def test_what_went_while_it_was_away_goes_at_its_next_birth():
    world = World()
    teach(world, [row("van 9", location="bay 3")])
    reborn(world, [row("key", location="desk")])
    assert [(f.subject, f.value) for f in world.facts] == [("key", "desk")]
    assert [one.name for one in world.kept["entities"].values()] == ["key"]
