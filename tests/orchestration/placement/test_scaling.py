"""What an autoscaler is asked for, and which node is left for it to take away."""

import pytest

from orchestration.placement.placement import Placement, needs_of
from orchestration.placement.settings import ClusterSettings
from tests.orchestration.placement.test_placement import all_born, seen

SETTINGS = ClusterSettings(autoscale=True, moves=2, steady_after=5, spare_after=60)


class Mind:
    """A placement, looked at twice a second on nodes whose books are up to date."""

    def __init__(self, count, settings=SETTINGS, per_node=None, units=1.0):
        settings = settings.model_copy(update={"units": units})
        needs = needs_of([(f"n{i}", "cognitive") for i in range(count)], settings)
        self.made, self.now, self.total = Placement(settings, needs, per_node), 0.0, 4.0

    def live(self, nodes, seconds):
        """Let time go by; actors are born where they are to be, and end where they are not."""
        until = self.now + seconds
        while self.now < until:
            before = dict(self.made.places)
            free = {name: self.total - list(before.values()).count(f"id-{name}") for name in nodes}
            self.made.looked(seen(*((name, max(0.0, free[name])) for name in nodes), total=self.total), self.now)
            for name, node in before.items():
                if self.made.places.get(name) != node:
                    self.made.died(name, node, self.now)
            all_born(self.made, self.now)
            self.now += 0.5

    def end(self, *names):
        for name in names:
            self.made.remove(name, self.now)

    @property
    def spread(self):
        return {node["name"]: len(node["actors"]) for node in self.made.described()}


def test_what_all_could_do_without_is_emptied_after_a_while_and_asked_for_no_more():
    mind = Mind(6)
    mind.live("ab", 30.0)
    assert mind.spread == {"a": 3, "b": 3}
    mind.end("n4", "n5")
    mind.live("ab", 55.0)
    assert mind.spread == {"a": 2, "b": 2}, "it may be needed again"
    mind.live("ab", 15.0)
    assert sorted(mind.spread.values()) == [0, 4]
    (left,) = [node for node in mind.made.described() if not node["actors"]]
    assert "for the autoscaler to take away" in left["barred"]
    assert mind.made.elsewhere() == {left["id"]}
    assert mind.made.wanted() == [1.0] * 4
    mind.live({"a", "b"} - {left["name"]}, 10.0)
    assert mind.made.elsewhere() == frozenset()
    assert mind.made.unschedulable == {}


def test_who_lives_on_two_nodes_that_are_needed_is_left_in_peace():
    mind = Mind(5)
    mind.live("ab", 300.0)
    assert sorted(mind.spread.values()) == [2, 3]


def test_a_node_that_is_left_takes_actors_again_as_soon_as_it_is_needed():
    mind = Mind(4)
    mind.live("abc", 120.0)
    assert sum(1 for many in mind.spread.values() if not many) >= 1
    (left,) = [node["name"] for node in mind.made.described() if node["barred"]]
    (full,) = [name for name, many in mind.spread.items() if many == 4] or [None]
    mind.live({"a", "b", "c"} - {full}, 2.0)  # all at once are without a place
    assert mind.made.unschedulable == {}
    assert left in {name for name, many in mind.spread.items() if many} or full is None


@pytest.mark.parametrize(
    "settings", [SETTINGS.model_copy(update={"autoscale": False}), SETTINGS.model_copy(update={"least_nodes": 2})]
)
def test_no_node_is_left_where_nobody_takes_it_away(settings):
    mind = Mind(4, settings)
    mind.live("ab", 300.0)
    assert mind.spread == {"a": 2, "b": 2}
    assert mind.made.elsewhere() == frozenset()


def test_a_node_is_not_left_where_the_others_would_be_too_crowded():
    mind = Mind(4, per_node=3)
    mind.live("ab", 300.0)
    assert mind.spread == {"a": 2, "b": 2}


def test_a_drained_node_does_not_count_so_that_another_is_brought():
    mind = Mind(4)
    mind.live("ab", 30.0)
    mind.made.drain("a")
    assert mind.made.elsewhere() == {"id-a"}


def test_room_is_asked_for_one_who_could_not_be_born_and_nothing_is_left_meanwhile():
    mind = Mind(4)
    mind.live("a", 30.0)
    assert mind.made.crowds(4, 1.0) == {}
    mind.made.wish(1.0)
    assert mind.made.wanted() == [1.0] * 5
    mind.live("ab", 300.0)
    assert mind.spread == {"a": 2, "b": 2}, "it came for that one"
    mind.made.add(needs_of([("child", "cognitive")], SETTINGS)[0], mind.now)
    assert mind.made.wanted() == [1.0] * 5
    mind.end("child")
    mind.live("ab", 120.0)
    assert sorted(mind.spread.values()) == [0, 4]


def test_a_wish_ends():
    mind = Mind(4)
    mind.live("a", 30.0)
    mind.made.wish(1.0)
    mind.live("a", 1000.0)
    assert mind.made.wanted() == [1.0] * 4


def test_where_room_for_all_does_not_come_one_node_more_is_asked_for():
    """An autoscaler that may bring two nodes more brings none at all where three are asked for."""
    mind = Mind(16)
    mind.live("a", 290.0)
    assert mind.made.wanted() == [1.0] * 16
    mind.live("a", 20.0)
    assert mind.made.wanted() == [1.0] * 8
    mind.live("ab", 20.0)
    assert mind.made.wanted() == [1.0] * 16, "there is hope again"
    mind.live("ab", 300.0)
    assert mind.made.wanted() == [1.0] * 12


def test_what_the_quota_leaves_without_a_place_keeps_no_node():
    mind = Mind(6, SETTINGS.model_copy(update={"quota": 4.0}))
    mind.live("ab", 120.0)
    assert sorted(mind.spread.values()) == [0, 4]
    assert len(mind.made.unschedulable) == 2
