import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from actors.snapshots import pack, unpack
from actors.submind.heads import Moments, focus, softmax

scores = hnp.arrays(np.float64, st.integers(1, 130), elements=st.floats(-50, 50))


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([1.0], 1.0),
        ([1.0, 0.0, 0.0], 1.0),
        ([0.25] * 4, 0.0),
        ([0.5, 0.5, 0.0, 0.0], 0.5),
        ([0.7, 0.1, 0.1, 0.1], 1 + (0.7 * math.log(0.7) + 0.3 * math.log(0.1)) / math.log(4)),
        ([1 / 125] * 125, 0.0),
    ],
)
def test_focus_is_one_minus_entropy_over_its_most(probabilities, expected):
    assert focus(np.array(probabilities)) == pytest.approx(expected, abs=1e-9)


@given(scores, st.floats(0.05, 5))
def test_softmax_is_a_distribution_and_keeps_the_order(values, temperature):
    p = softmax(values, temperature)
    assert p.sum() == pytest.approx(1)
    assert (p >= 0).all()
    assert p[values.argmax()] == p.max()
    assert 0 <= focus(p) <= 1 + 1e-12


def test_a_lower_temperature_is_sharper():
    values = np.array([0.1, 0.3, 0.2, 0.9])
    assert focus(softmax(values, 0.1)) > focus(softmax(values, 0.5)) > focus(softmax(values, 2.0))


def test_moments_run_so_that_one_of_five_candidates_may_stand_out_by_more_than_two():
    moments = Moments(1, 1000)
    rng = np.random.default_rng(1)
    for _ in range(100):
        moments.learn(rng.normal(0.2, 0.1, (5, 1)))
    assert moments.z(np.array([[1.0]]))[0, 0] == 4.0


def test_heads_come_to_a_common_scale():
    rng = np.random.default_rng(2)
    centre, spread = np.array([5.0, -3.0, 0.0]), np.array([0.1, 10.0, 1.0])
    moments = Moments(3, 500)
    for _ in range(400):
        moments.learn(rng.normal(centre, spread, (10, 3)))
    z = moments.z(rng.normal(centre, spread, (5000, 3)))
    assert z.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.15)
    assert z.std(axis=0) == pytest.approx(np.ones(3), abs=0.15)


rows = hnp.arrays(np.float64, st.tuples(st.integers(0, 20), st.just(3)), elements=st.floats(-100, 100))


@given(st.lists(rows, max_size=12), rows)
def test_z_scores_are_clipped_finite_and_a_snapshot_continues_the_same(history, last):
    moments = Moments(3, 40)
    for part in history:
        moments.learn(part)
    again = Moments(3, 40)
    again.load(unpack(pack(moments.dump()), list[object]))
    z = moments.z(last)
    assert np.isfinite(z).all()
    assert np.array_equal(z, again.z(last))
    if sum(len(p) for p in history) >= 8:
        assert np.abs(z).max(initial=0) <= 4
