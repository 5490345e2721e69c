from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chance import Chance


@given(st.integers(), st.text(max_size=20), st.integers(0, 50), st.integers(1, 50))
def test_the_nth_draw_is_always_the_same(seed, name, drawn, more):
    whole = Chance(seed, name)
    draws = [whole.uniform() for _ in range(drawn + more)]
    continued = Chance(seed, name)
    continued.drawn = drawn
    assert [continued.uniform() for _ in range(more)] == draws[drawn:]
    assert continued.drawn == drawn + more


@given(st.integers(0, 2**63), st.integers(1, 1000))
def test_draws_are_in_range(seed, n):
    chance = Chance(seed, "x")
    for _ in range(20):
        assert 0 <= chance.uniform() < 1
        assert 0 <= chance.below(n) < n


def test_names_and_seeds_have_streams_of_their_own():
    streams = {
        tuple(Chance(seed, name).uniform() for _ in range(4)) for seed in range(50) for name in ("a", "b", "1/a")
    }
    assert len(streams) == 150


@pytest.mark.parametrize("seed", range(5))
def test_draws_are_uniform(seed):
    chance = Chance(seed, "even")
    n, cells = 100_000, 64
    counts = Counter(chance.below(cells) for _ in range(n))
    squared = sum((counts[i] - n / cells) ** 2 / (n / cells) for i in range(cells))
    assert 25 < squared < 120  # chi-squared with 63 degrees of freedom: beyond either once in 10,000


def test_neighbouring_draws_do_not_depend_on_each_other():
    chance = Chance(1, "pairs")
    draws = [chance.uniform() - 0.5 for _ in range(50_000)]
    for lag in (1, 2, 7):
        together = sum(a * b for a, b in zip(draws, draws[lag:], strict=False)) / len(draws) * 12
        assert abs(together) < 0.02
