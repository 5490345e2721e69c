import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.severity import Severity, level_of, log_odds, salience_of, severity

SHARES = st.floats(0, 1)


@given(SHARES, SHARES)
def test_salience_keeps_the_order_of_levels_and_stays_in_its_range(one, other):
    assert 0 <= salience_of(one) <= 1
    if one < other:
        assert salience_of(one) <= salience_of(other)


@given(st.floats(0.001, 0.999))
def test_the_level_of_a_salience_is_what_it_came_from(level):
    assert level_of(salience_of(level)) == pytest.approx(level, rel=1e-6)


def test_it_is_even_where_a_line_begins_to_be_of_worth_and_spread_out_around_it():
    assert salience_of(0.42) == pytest.approx(0.5)
    assert salience_of(0.68) - salience_of(0.42) > 1.2 * (0.68 - 0.42)
    assert (salience_of(0), salience_of(1), level_of(0), level_of(1)) == (0, 1, 0, 1)


@given(st.floats(0, 0.99), st.floats(0, 0.99), st.floats(-3, 3), st.floats(-3, 3))
def test_more_salience_or_more_alarm_is_never_less_severe(one, other, calm, alarm):
    calm, alarm = sorted((calm, alarm))
    low, high = sorted((one, other))
    assert severity(low, {"alarm": calm}).rank <= severity(high, {"alarm": alarm}).rank


@pytest.mark.parametrize(
    ("salience", "evidence", "found"),
    [
        (0.3, {}, Severity.INFO),
        (0.3, {"tempo": 1.2}, Severity.INFO),
        (0.6, {}, Severity.NOTABLE),
        (0.6, {"tempo": 1.2}, Severity.WARNING),
        (0.85, {}, Severity.WARNING),
        (0.95, {"threat": 0.5, "tempo": 0.4}, Severity.CRITICAL),
        (0.999, {}, Severity.WARNING),
        (0.999, {"threat": 0.3}, Severity.NOTABLE),
        (0.2, {"threat": 0.8, "alarm": 0.8}, Severity.CRITICAL),
        (0.95, {"threat": 0.9, "tempo": -2.0}, Severity.CRITICAL),
    ],
)
def test_the_scale(salience, evidence, found):
    assert severity(salience, evidence) is found


def test_log_odds_are_bounded():
    assert log_odds(0.5) == 0
    assert -14 < log_odds(0) < log_odds(0.1) < 0 < log_odds(1) < 14
