"""Who is born to which pack, and what the next mind process knows of it."""

import random
from dataclasses import replace

import pytest

from environment.population import Member
from orchestration.growth.history import DAY
from orchestration.runtime.inhabitants.lodging import Lodgings
from orchestration.runtime.inhabitants.packing import is_pack
from orchestration.runtime.settings import DensitySettings
from orchestration.wiring import ActorPlan, plan_of

NOON = 1_772_539_200.0
HERE = {"": 3}


def configured(count):
    return [ActorPlan("environment", "environment"), *(ActorPlan(f"s{n}", "cognitive", ("be",)) for n in range(count))]


def child(name, parent="s0", **more):
    return Member(name, "cognitive", ("Find out why.",), parent, 1, 1, NOON, 0.5, **more)


def whole(name):
    return 1.0


def begun(density, count=2, members=(), saved=None, part=whole):
    lodgings = Lodgings(DensitySettings(cognitive=density))
    if saved is not None:
        lodgings.restore(saved)
    known = {member.name: member for member in members}
    plans = [*configured(count), *(plan_of(member) for member in members if member.living)]
    return lodgings, {one.name: [p.name for p in one.plans] for one in lodgings.begin(plans, known, part, part, NOON)}


def test_where_fewest_live_and_rather_not_with_its_parent():
    lodgings, packs = begun(3, 4)
    assert packs == {"environment": ["environment"], "cognitive~1": ["s0", "s1"], "cognitive~2": ["s2", "s3"]}
    nodes = {"cognitive~1": "a", "cognitive~2": "b"}
    assert lodgings.choose("cognitive", "s0", nodes, {"a": 2, "b": 2}, 9) == "cognitive~2"
    assert lodgings.choose("cognitive", "s2", nodes, {"a": 2, "b": 2}, 9) == "cognitive~1"
    assert lodgings.choose("cognitive", "s0", nodes, {"a": 2, "b": 3}, 9) == "cognitive~1", "fewer live on its node"
    assert lodgings.choose("cognitive", "s0", nodes, {"a": 3, "b": 3}, 3) is None, "the nodes have as many as they may"
    assert lodgings.choose("cognitive", "s0", nodes, {"a": 2}, 9) == "cognitive~1", "the other's node takes nobody in"
    assert lodgings.choose("cognitive", "s0", {}, {"a": 2, "b": 2}, 9) is None, "neither has a place"
    lodgings.lodge("c1", "cognitive~2")
    assert lodgings.choose("cognitive", "s0", nodes, {"a": 2, "b": 2}, 9) == "cognitive~1"
    lodgings.lodge("c2", "cognitive~1")
    assert lodgings.choose("cognitive", "s0", nodes, {"a": 2, "b": 2}, 9) is None, "all are full"
    assert lodgings.new("cognitive") == "cognitive~3"


def test_the_next_mind_process_finds_everybody_where_they_were():
    lodgings, _ = begun(2)
    for name, process in (("c1", "cognitive~2"), ("c2", "cognitive~4"), ("c3", "cognitive~2")):
        lodgings.lodge(name, process)
    members = [child("c1"), child("c2"), child("c3")]
    again, packs = begun(2, members=members, saved=lodgings.saved(NOON))
    assert packs == {
        "environment": ["environment"],
        "cognitive~1": ["s0", "s1"],
        "cognitive~2": ["c1", "c3"],
        "cognitive~4": ["c2"],
    }
    assert again.moves("c1", NOON) == ()
    _, packs = begun(3, members=members, saved=lodgings.saved(NOON))
    assert packs["cognitive~4"] == ["c2"], "more room moves nobody"
    _, packs = begun(1, members=members, saved=lodgings.saved(NOON))
    assert list(packs) == ["environment", "s0", "s1", "c1", "c2", "c3"], "packed no more"


def test_what_was_granted_and_never_came_to_be_said_is_taken_up():
    lodgings, _ = begun(2)
    lodgings.lodge("c1", "cognitive~2")
    gone = replace(child("c1"), retired=NOON, heir="s1")
    again, packs = begun(2, members=[gone, child("c2")], saved=lodgings.saved(NOON), part=lambda name: 0.5)
    assert packs["cognitive~2"] == ["c2"], "born when the process ended"
    own, moved = again.moves("c2", NOON)
    assert (own.process, own.part, own.rest) == ("c2", 0.5, 0.0), "where it had a process of its own before"
    assert (moved.process, moved.part, moved.rest) == ("cognitive~1", 0.5, 1.0)
    (left,) = again.moves("s1", NOON)
    assert (left.key, left.process, left.part) == ("left:c1", "cognitive~2", 0.5)
    third, _ = begun(2, members=[gone, child("c2")], saved=again.saved(NOON), part=lambda name: 0.5)
    assert third.moves("c2", NOON) == (own, moved), "once, however often it is begun"
    assert third.moves("c2", NOON + DAY) == (), "what was spent before counts no more"


@pytest.mark.parametrize("seed", range(20))
def test_a_year_of_births_and_ends_collects_nothing(seed):
    chance, density = random.Random(seed), random.Random(seed).randint(2, 5)
    lodgings, _ = begun(density, 3)
    living, most, now = [], 0, NOON
    for number in range(2000):
        now += chance.uniform(0, DAY / 2)
        if living and (len(living) > 20 or chance.random() < 0.5):
            name = living.pop(chance.randrange(len(living)))
            process = lodgings.home(name)
            empty = lodgings.leave(name, "s0")
            assert empty == (not lodgings.members(process))
            lodgings.moved(f"left:{name}", "s0", process, 0.1, whole, now)
        else:
            name, parent = f"c{number}", chance.choice([*living, "s0", "s1", "s2"])
            process = lodgings.choose("cognitive", parent, dict.fromkeys(lodgings.packs("cognitive"), ""), HERE, 99)
            source = lodgings.home(parent)
            lodgings.lodge(name, process or lodgings.new("cognitive"))
            lodgings.moved(f"born:{name}", name, source, 0.1, whole, now)
            living.append(name)
        packs = {lodgings.home(name) for name in (*living, "s0", "s1", "s2")}
        assert all(is_pack(one) and 0 < len(lodgings.members(one)) <= density for one in packs)
        assert sum(len(lodgings.members(one)) for one in packs) == len(living) + 3
        most = max(most, *(int(one.partition("~")[2]) for one in packs))
        saved = lodgings.saved(now)
        assert len(saved) < 20_000
    assert most <= 24, "names are used again"
