"""Asking the autoscaler of a cluster for nodes."""

from orchestration.placement.placement import Placement, needs_of
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime.machines.demand import Demand


def placement(**settings):
    settings = ClusterSettings(**settings)
    return Placement(settings, needs_of([(f"a{n}", "cognitive") for n in range(5)], settings))


def asking(broken=()):
    """A demand, what was asked for, and the time, which a test sets."""
    asked, now, failing = [], [0.0], list(broken)

    def request(bundles, labels):
        if failing and failing.pop():
            raise RuntimeError("no autoscaler")
        asked.append((bundles, labels))

    return Demand("submind", request, lambda: now[0]), asked, now


def test_all_actors_are_wanted_as_far_as_the_quota_goes():
    assert placement(units=2).wanted() == [2, 2, 2, 2, 2]
    assert placement(units=2, quota=7).wanted() == [2, 2, 2]


async def test_it_is_asked_when_something_changes_and_again_where_it_failed():
    demand, asked, _ = asking([True])
    for units in ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0]):
        await demand.ask(units)
    assert asked == [([{"submind": 1.0}, {"submind": 2.0}], [{}, {}]), ([{"submind": 1.0}], [{}])]


async def test_it_is_asked_again_now_and_then_as_a_new_head_does_not_know():
    demand, asked, now = asking()
    for now[0] in (0.0, 30.0, 59.0, 61.0, 100.0, 122.0):
        await demand.ask([1.0])
    assert len(asked) == 3


async def test_room_on_a_node_that_is_to_be_empty_does_not_count():
    demand, asked, _ = asking()
    await demand.ask([1.0], frozenset({"b", "a"}))
    await demand.ask([1.0])
    assert [labels for _, labels in asked] == [[{"ray.io/node-id": "!in(a,b)"}], [{}]]
