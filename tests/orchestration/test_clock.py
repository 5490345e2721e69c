"""The clocks of a living mind."""

from hypothesis import given
from hypothesis import strategies as st

from orchestration.clock import CatchUpClock, ForwardClock, WallClock, clock_of, wall
from orchestration.settings import ClockSettings

DAY = 86_400.0
times = st.floats(1e9, 2e9)
spans = st.floats(0, 30 * DAY)
speeds = st.floats(1.5, 1e5)


@given(times, spans, speeds, spans, spans)
def test_mind_time_never_goes_back_and_never_passes_the_wall(origin, behind, speed, first, more):
    clock = CatchUpClock(origin - behind, speed, origin)
    early, late = origin + first, origin + first + more
    assert clock.at(early) <= clock.at(late)
    assert clock.at(late) <= late


@given(times, spans, speeds, spans)
def test_it_is_the_wall_once_they_have_met(origin, behind, speed, later):
    clock = CatchUpClock(origin - behind, speed, origin)
    assert clock.at(clock.meets + later) == clock.meets + later


@given(times, spans, speeds, st.floats(0, 1), st.floats(0, 60 * DAY))
def test_sleeping_the_delay_gets_there(origin, behind, speed, share, ahead):
    clock = CatchUpClock(origin - behind, speed, origin)
    seen = origin + share * (clock.meets - origin)
    until = clock.at(seen) + ahead
    woken = clock.at(seen + clock.delay(until, seen))
    assert abs(woken - until) <= 1e-6 * max(1.0, speed) + 1e-3


def test_a_day_at_twelve_hundred_times_takes_72_seconds():
    clock = CatchUpClock(1e9 - DAY, 1200.0, 1e9)
    assert 72.0 <= clock.meets - 1e9 < 72.1
    assert clock.at(1e9) == 1e9 - DAY
    assert clock.at(1e9 + 1) == 1e9 - DAY + 1200


def test_a_start_in_the_future_is_the_wall_at_once():
    clock = CatchUpClock(2e9, 1200.0, 1e9)
    assert clock.at(1e9 + 3) == 1e9 + 3
    assert clock.delay(1e9 + 10, 1e9 + 3) == 7


def test_settings_choose_the_clock():
    assert clock_of(ClockSettings(), 5.0) == WallClock()
    assert clock_of(ClockSettings(start=1.0, speed=2.0), 5.0) == CatchUpClock(1.0, 2.0, 5.0)
    assert clock_of(ClockSettings(start=1.0, speed=2.0, origin=4.0), 5.0) == CatchUpClock(1.0, 2.0, 4.0)


def test_a_wall_clock_goes_back_only_where_it_was_wrong():
    times = iter([100.0, 90.0, 101.0, 5000.0, 4500.0, 4399.0, 4400.0])
    clock = ForwardClock(lambda: next(times))
    assert [clock() for _ in range(7)] == [100.0, 100.0, 101.0, 5000.0, 5000.0, 4399.0, 4400.0]


def test_nobody_wakes_in_vain_while_the_clock_stands_still(monkeypatch):
    shown = wall()
    monkeypatch.setattr(wall, "read", lambda: shown - 300)
    assert WallClock().now() >= shown
    assert WallClock().wall_delay(shown + 1) == 301
