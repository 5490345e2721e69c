"""Asking the autoscaler of a cluster for nodes."""

from orchestration.placement.placement import Placement, needs_of
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime.demand import Demand


def placement(**settings):
    settings = ClusterSettings(**settings)
    return Placement(settings, needs_of([(f"a{n}", "cognitive") for n in range(5)], settings))


def test_all_actors_are_wanted_as_far_as_the_quota_goes():
    assert placement(units=2).wanted() == [2, 2, 2, 2, 2]
    assert placement(units=2, quota=7).wanted() == [2, 2, 2]


async def test_it_is_asked_when_something_changes_and_again_where_it_failed():
    asked, broken = [], [True]

    def request(bundles):
        if broken.pop() if broken else False:
            raise RuntimeError("no autoscaler")
        asked.append(bundles)

    demand = Demand("submind", request)
    for units in ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0]):
        await demand.ask(units)
    assert asked == [[{"submind": 1.0}, {"submind": 2.0}], [{"submind": 1.0}]]
