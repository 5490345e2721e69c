"""Places as time goes on: lagging books, others' use, drained nodes, restarts."""

from collections import Counter
from dataclasses import replace

import pytest

from orchestration.placement.errors import NoSuchNode
from orchestration.placement.placement import ObservedNode, Placement, needs_of
from orchestration.placement.settings import ClusterSettings

SETTINGS = ClusterSettings(moves=2, steady_after=5, born_within=30)


def seen(*nodes, total=4.0):
    """``a`` is a node of which all is free, ``("a", 1.0)`` one of which so much is."""
    pairs = [(node, total) if isinstance(node, str) else node for node in nodes]
    return [ObservedNode(f"id-{name}", name, f"10.0.0.{ord(name) - 96}", total, free) for name, free in pairs]


def placement(count=4, settings=SETTINGS):
    return Placement(settings, needs_of([(f"n{i}", "cognitive") for i in range(count)], settings))


def all_born(made, now):
    for name, node in made.places.items():
        made.born(name, node, now)


def test_books_that_lag_move_nobody():
    made = placement()
    made.looked(seen("a", "b"), 0.0)
    before = dict(made.places)
    made.looked(seen("a", "b"), 0.5)  # the cluster has not yet noticed that we took anything
    all_born(made, 1.0)
    made.looked(seen(("a", 2.0), ("b", 2.0)), 1.5)
    made.died("n0", before["n0"], 10.0)
    made.looked(seen(("a", 3.0), ("b", 2.0)), 10.5)
    made.born("n0", before["n0"], 11.0)
    made.looked(seen(("a", 3.0), ("b", 2.0)), 11.5)
    made.looked(seen(("a", 2.0), ("b", 2.0)), 30.0)
    assert made.places == before
    assert all(node["others"] == 0 for node in made.described())


def test_what_others_take_is_left_to_them():
    made = placement(6)
    made.looked(seen(("a", 1.0), ("b", 4.0)), 0.0)
    assert sorted(made.places.values()) == ["id-a", *["id-b"] * 4]
    assert list(made.unschedulable) == ["n5"]
    all_born(made, 1.0)
    made.looked(seen(("a", 3.0), ("b", 0.0)), 10.0)  # the others have gone
    assert made.unschedulable == {}


def test_who_waits_in_vain_gets_another_place():
    made = placement(2)
    made.looked(seen("a", total=2.0), 0.0)
    made.looked(seen(("a", 0.0), "b", total=2.0), 1.0)  # another mind was faster
    assert set(made.places.values()) == {"id-a"}
    made.looked(seen(("a", 0.0), "b", total=2.0), 40.0)
    assert set(made.places.values()) == {"id-b"}


def test_the_lost_come_back_at_once_and_drained_is_known_to_the_next():
    made = placement(4)
    made.looked(seen("a", "b", "c"), 0.0)
    all_born(made, 1.0)
    made.drain("c")
    made.looked(seen("a", "c"), 2.0)
    assert "id-b" not in made.places.values()
    later = placement(4)
    later.restore(made.drained)
    later.looked(seen("a", "c"), 0.0)
    assert set(later.places.values()) == {"id-a"}
    later.drain("c", undo=True)
    later.looked(seen("a", "c"), 10.0)
    all_born(later, 11.0)
    later.looked(seen(("a", 0.0), "c"), 20.0)
    assert set(later.places.values()) == {"id-a", "id-c"}


def test_a_node_is_meant_by_name_address_or_the_beginning_of_its_id():
    made = placement()
    made.looked([*seen("a", "b"), ObservedNode("id-b2", "b", "10.0.0.9", 4.0, 4.0)], 0.0)
    assert made.drain("10.0.0.1").name == "a"
    assert made.drain("id-b2").address == "10.0.0.9"
    with pytest.raises(NoSuchNode, match="may mean 2 nodes"):
        made.drain("b")
    with pytest.raises(NoSuchNode, match=r"no node 'x'; there are: a \(id-a\), b"):
        made.drain("x")


def test_needs_follow_name_role_and_default():
    settings = ClusterSettings(units=2, units_of={"environment": 4, "perceptual": 0.5})
    needs = needs_of([("environment", "environment"), ("text", "perceptual"), ("concern", "cognitive")], settings)
    assert [(need.units, need.kind) for need in needs] == [(4, "singleton"), (0.5, ""), (2, "")]


@pytest.mark.parametrize("address", ["nowhere", "http://a:1", "ray://a", "a:b", "ray://:1", "a:70000"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ValueError, match="HOST:PORT, ray://HOST:PORT or auto"):
        ClusterSettings(address=address)


def test_a_drained_node_is_not_empty_before_the_last_one_has_ended_there():
    made = placement(2)
    made.looked(seen("a", "b"), 0.0)
    all_born(made, 1.0)
    (leaving,) = [name for name, node in made.places.items() if node == "id-a"]
    made.drain("a")
    made.looked(seen(("a", 3.0), ("b", 3.0)), 3.0)
    assert made.places[leaving] == "id-b"
    assert made.described()[0]["actors"] == [leaving], "it has yet to save"
    made.died(leaving, "id-a", 4.0)
    assert made.described()[0]["actors"] == []
    assert made.described()[1]["actors"] == ["n0", "n1"]


def test_one_that_is_no_more_leaves_as_well():
    made = placement(2)
    made.looked(seen("a", "b"), 0.0)
    all_born(made, 1.0)
    node = made.places["n0"]
    made.remove("n0", 2.0)
    assert not any("n0" in each["actors"] for each in made.described())
    made.died("n0", node, 3.0)
    made.looked(seen("a", "b"), 4.0)
    made.drain("a")
    made.looked(seen("a", "b"), 5.0)
    made.looked(seen("b"), 6.0)
    assert [each["name"] for each in made.described()] == ["b"]


def born(name, settings=SETTINGS):
    (need,) = needs_of([(name, "cognitive")], settings)
    return replace(need, newborn=True)


def test_a_newborn_goes_to_no_node_that_has_its_subminds_though_it_has_more_room():
    needs = needs_of(
        [("environment", "environment"), ("pack", "cognitive"), ("n0", "cognitive")], SETTINGS, {"pack": 8}
    )
    made = Placement(SETTINGS, needs, per_node=9)
    made.looked(seen(("a", 10.0), ("b", 4.0)), 0.0)
    all_born(made, 1.0)
    (full,) = [node for name, node in made.places.items() if name == "pack"]
    other = {"id-a": "id-b", "id-b": "id-a"}[full]
    alone = sum(node == other for name, node in made.places.items() if name == "n0")
    assert made.crowds(9, 1.0) == {full: 9 - alone, other: alone}, "the environment is no submind"
    assert made.crowds(10, 1.0) == {full: 10 - alone, other: alone + 1}, "who is yet to come may come to either"
    for number in range(3):
        made.add(born(f"child-{number}"), 2.0)
        assert made.crowds(10 + number, 1.0).get(full, 0) <= 9
    counts = Counter({full: 0, other: 0})
    for name, node in made.places.items():
        counts[node] += {"environment": 0, "pack": 8}.get(name, 1)
    assert counts[full] <= 9


def test_where_all_nodes_have_their_subminds_a_newborn_has_no_place_and_others_do():
    made = Placement(SETTINGS, needs_of([(f"n{i}", "cognitive") for i in range(4)], SETTINGS), per_node=2)
    made.looked(seen(("a", 8.0), ("b", 8.0)), 0.0)
    all_born(made, 1.0)
    assert min(made.crowds(4, 1.0).values()) == 2
    made.add(born("child"), 2.0)
    assert made.unschedulable["child"].endswith("and fewer than 2 subminds")
    made.looked(seen(("a", 6.0)), 3.0)  # a node is lost: whom the mind is configured with live on
    assert set(made.places) == {"n0", "n1", "n2", "n3"}
    made.looked(seen(("a", 4.0), ("b", 8.0), ("c", 8.0)), 4.0)
    made.looked(seen(("a", 4.0), ("b", 8.0), ("c", 8.0)), 40.0)
    assert made.places["child"] in {"id-b", "id-c"}
    made.born("child", made.places["child"], 41.0)
    assert made.crowds(5, 100.0) == {}, "no node has so much room"


def test_a_node_that_is_full_takes_a_newborn_where_a_pack_on_it_has_room():
    needs = needs_of([("p~1", "cognitive"), ("p~2", "cognitive")], SETTINGS, {"p~1": 3, "p~2": 4})
    made = Placement(SETTINGS, needs, per_node=5)
    made.looked(seen(("a", 1.0), ("b", 1.0)), 0.0)
    all_born(made, 1.0)
    first, second = made.places["p~1"], made.places["p~2"]
    assert first != second
    assert made.crowds(7, 1.0) == {}
    assert made.crowds(7, 1.0, ["p~1", "gone"]) == {first: 3}
    made.resize("p~1", 4)
    assert made.crowds(8, 1.0, ["p~1", "p~2"]) == {first: 4, second: 4}
    made.drain(first.removeprefix("id-"))
    assert made.crowds(8, 1.0, ["p~1", "p~2"]) == {second: 4}
