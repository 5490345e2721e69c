"""Three ways through the environment, and what is passed by on each."""

import random

import pytest

from tests.environment.worlds import NOON, thought, unit, world


def ids(met) -> list[str]:
    return [trace.id for trace, _ in met]


def crawl(environment, kind, k=3, now=NOON, **given):
    return environment.crawl(kind, k, now, random.Random(7), **given)


def test_directed_meets_the_nearest_first():
    environment = world()
    environment.post([thought(n, vector=unit(1, n / 3)) for n in range(6)], NOON)
    met = crawl(environment, "directed", vector=unit(1, 0))
    assert ids(met) == [thought(n).id for n in range(3)]
    assert [score for _, score in met] == pytest.approx([1, 3 / 10**0.5, 1.5 / 3.25**0.5], abs=1e-5)
    assert crawl(environment, "directed") == []
    assert crawl(environment, "directed", k=0, vector=unit(1)) == []
    assert len(crawl(environment, "directed", k=99, vector=unit(1))) == 6


def test_associative_meets_what_shares_the_rarest():
    environment = world()
    environment.post([thought(n, associations=("server",)) for n in range(8)], NOON)
    environment.post([thought(20, associations=("pump-7", "server")), thought(21, associations=("PUMP-7",))], NOON)
    assert ids(crawl(environment, "associative", k=2, terms=("pump-7", "server"))) == [thought(20).id, thought(21).id]
    assert crawl(environment, "associative", terms=("unheard of",)) == []


def test_associative_goes_one_step_further_when_too_few_share():
    environment = world()
    bridge = thought(1, associations=("pump-7", "hall 3"))
    far = thought(2, associations=("hall 3",))
    further = thought(3, associations=("hall 4",))
    environment.post([bridge, far, further], NOON)
    assert ids(crawl(environment, "associative", terms=("pump-7",))) == [bridge.id, far.id]


def test_associative_without_terms_starts_from_the_nearest():
    environment = world()
    environment.post([thought(1, vector=unit(1), associations=("pump-7",))], NOON)
    environment.post([thought(2, vector=unit(0, 1), associations=("pump-7",))], NOON)
    met = crawl(environment, "associative", vector=unit(1, 0.1))
    assert set(ids(met)) == {thought(1).id, thought(2).id}
    assert dict(zip(ids(met), [score for _, score in met], strict=True))[thought(2).id] == pytest.approx(
        0.0995, abs=1e-3
    )
    assert crawl(environment, "associative") == []


def test_random_meets_anybody_and_the_same_ones_with_the_same_seed():
    environment = world()
    environment.post([thought(n) for n in range(30)], NOON)
    met = {seed: ids(environment.crawl("random", 4, NOON, random.Random(seed))) for seed in range(40)}
    assert all(len(set(found)) == 4 for found in met.values())
    assert set().union(*met.values()) == {thought(n).id for n in range(30)}
    assert met[3] == ids(environment.crawl("random", 4, NOON, random.Random(3)))
    assert world().crawl("random", 4, NOON, random.Random(3)) == []


@pytest.mark.parametrize("kind", ["directed", "associative", "random"])
def test_what_is_excluded_is_passed_by_on_every_way(kind):
    environment = world()
    environment.post(
        [
            thought(1, author="causes", associations=("x",)),
            thought(2, parents=(thought(9).id,), associations=("x",)),
            thought(9, associations=("x",)),
            thought(3, time=NOON + 500, associations=("x",)),
            thought(4, at=NOON - 5000, associations=("x",)),
            thought(5, associations=("x",)),
        ],
        NOON,
    )
    given = {
        "vector": unit(1, 1),
        "terms": ("x",),
        "exclude_author": "causes",
        "exclude_lineage": (thought(9).id,),
        "before": NOON + 100,
    }
    assert set(ids(crawl(environment, kind, k=9, **given))) == {thought(4).id, thought(5).id}
    later = NOON + 4000  # number 4 has sunk below the floor by now, though nobody has swept
    assert ids(crawl(environment, kind, k=9, now=later, **given)) == [thought(5).id]


def test_directed_looks_further_where_what_is_near_is_excluded():
    environment = world()
    environment.post([thought(n, author="causes", vector=unit(1, n / 1000)) for n in range(200)], NOON)
    environment.post([thought(300 + n, vector=unit(0, 1, n)) for n in range(3)], NOON)
    met = crawl(environment, "directed", vector=unit(1), exclude_author="causes")
    assert set(ids(met)) == {thought(300 + n).id for n in range(3)}


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="directed, associative or random"):
        crawl(world(), "sideways")


def test_retired_traces_are_not_met():
    environment = world()
    environment.post([thought(n, associations=("x",)) for n in range(5)], NOON)
    environment.sweep(NOON + 1e6)
    for kind in ("directed", "associative", "random"):
        assert crawl(environment, kind, vector=unit(1), terms=("x",)) == []
