"""Who is born to which pack, and what the next mind process knows of it."""

import random
from dataclasses import replace

import pytest

from environment.population import Member
from orchestration.growth.history import DAY
from orchestration.runtime.hosting.packing import is_pack
from orchestration.runtime.hosting.placement_map import PlacementMap
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
    placement_map = PlacementMap(DensitySettings(cognitive=density))
    if saved is not None:
        placement_map.restore(saved)
    known = {member.name: member for member in members}
    plans = [*configured(count), *(plan_of(member) for member in members if member.living)]
    return placement_map, {
        one.name: [p.name for p in one.plans] for one in placement_map.begin(plans, known, part, part, NOON)
    }


def test_where_fewest_live_and_rather_not_with_its_parent():
    placement_map, packs = begun(3, 4)
    assert packs == {"environment": ["environment"], "cognitive~1": ["s0", "s1"], "cognitive~2": ["s2", "s3"]}
    nodes = {"cognitive~1": "a", "cognitive~2": "b"}
    assert placement_map.choose("cognitive", "s0", nodes, {"a": 2, "b": 2}, 9) == "cognitive~2"
    assert placement_map.choose("cognitive", "s2", nodes, {"a": 2, "b": 2}, 9) == "cognitive~1"
    assert placement_map.choose("cognitive", "s0", nodes, {"a": 2, "b": 3}, 9) == "cognitive~1", (
        "fewer live on its node"
    )
    assert placement_map.choose("cognitive", "s0", nodes, {"a": 3, "b": 3}, 3) is None, (
        "the nodes have as many as they may"
    )
    assert placement_map.choose("cognitive", "s0", nodes, {"a": 2}, 9) == "cognitive~1", (
        "the other's node takes nobody in"
    )
    assert placement_map.choose("cognitive", "s0", {}, {"a": 2, "b": 2}, 9) is None, "neither has a place"
    placement_map.assign("c1", "cognitive~2")
    assert placement_map.choose("cognitive", "s0", nodes, {"a": 2, "b": 2}, 9) == "cognitive~1"
    placement_map.assign("c2", "cognitive~1")
    assert placement_map.choose("cognitive", "s0", nodes, {"a": 2, "b": 2}, 9) is None, "all are full"
    assert placement_map.new("cognitive") == "cognitive~3"


def test_the_next_mind_process_finds_everybody_where_they_were():
    placement_map, _ = begun(2)
    for name, process in (("c1", "cognitive~2"), ("c2", "cognitive~4"), ("c3", "cognitive~2")):
        placement_map.assign(name, process)
    members = [child("c1"), child("c2"), child("c3")]
    again, packs = begun(2, members=members, saved=placement_map.saved(NOON))
    assert packs == {
        "environment": ["environment"],
        "cognitive~1": ["s0", "s1"],
        "cognitive~2": ["c1", "c3"],
        "cognitive~4": ["c2"],
    }
    assert again.moves("c1", NOON) == ()
    _, packs = begun(3, members=members, saved=placement_map.saved(NOON))
    assert packs["cognitive~4"] == ["c2"], "more room moves nobody"
    _, packs = begun(1, members=members, saved=placement_map.saved(NOON))
    assert list(packs) == ["environment", "s0", "s1", "c1", "c2", "c3"], "packed no more"


def test_what_was_granted_and_never_came_to_be_said_is_taken_up():
    placement_map, _ = begun(2)
    placement_map.assign("c1", "cognitive~2")
    gone = replace(child("c1"), retired=NOON, heir="s1")
    again, packs = begun(2, members=[gone, child("c2")], saved=placement_map.saved(NOON), part=lambda name: 0.5)
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
    placement_map, _ = begun(density, 3)
    living, most, now = [], 0, NOON
    for number in range(2000):
        now += chance.uniform(0, DAY / 2)
        if living and (len(living) > 20 or chance.random() < 0.5):
            name = living.pop(chance.randrange(len(living)))
            process = placement_map.home(name)
            empty = placement_map.leave(name, "s0")
            assert empty == (not placement_map.members(process))
            placement_map.moved(f"left:{name}", "s0", process, 0.1, whole, now)
        else:
            name, parent = f"c{number}", chance.choice([*living, "s0", "s1", "s2"])
            process = placement_map.choose(
                "cognitive", parent, dict.fromkeys(placement_map.packs("cognitive"), ""), HERE, 99
            )
            source = placement_map.home(parent)
            placement_map.assign(name, process or placement_map.new("cognitive"))
            placement_map.moved(f"born:{name}", name, source, 0.1, whole, now)
            living.append(name)
        packs = {placement_map.home(name) for name in (*living, "s0", "s1", "s2")}
        assert all(is_pack(one) and 0 < len(placement_map.members(one)) <= density for one in packs)
        assert sum(len(placement_map.members(one)) for one in packs) == len(living) + 3
        most = max(most, *(int(one.partition("~")[2]) for one in packs))
        saved = placement_map.saved(now)
        assert len(saved) < 20_000
    assert most <= 24, "names are used again"
