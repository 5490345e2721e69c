"""Times at the front of log lines."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.logs.stamps import stamped

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC).timestamp()
EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("line", "time", "text"),
    [
        ("2026-03-03T06:00:07Z pump on", "2026-03-03T06:00:07Z", "pump on"),
        ("2026-03-03 06:00:07,123 INFO pump on", "2026-03-03T06:00:07.123Z", "INFO pump on"),
        ("[2026-03-03T06:00:07.5+01:00] pump on", "2026-03-03T05:00:07.5Z", "pump on"),
        ("2026-03-03T06:00:07+0100 web1 app[3]: up", "2026-03-03T05:00:07Z", "web1 app[3]: up"),
        ("2026/03/03 06:00:07 [error] 7#7: no", "2026-03-03T06:00:07Z", "[error] 7#7: no"),
        ("2026-03-03 06:00:07 UTC | pump on", "2026-03-03T06:00:07Z", "pump on"),
        ("2026-03-03T06:00:07.123456789Z x", "2026-03-03T06:00:07.123456Z", "x"),
        ("Mar  3 06:00:07 web1 cron[3]: ran", "2026-03-03T06:00:07Z", "web1 cron[3]: ran"),
        ("Mar 03 06:00:07 web1 cron[3]: ran", "2026-03-03T06:00:07Z", "web1 cron[3]: ran"),
        ("<34>Oct 11 22:14:15 web1 su: failed", "2025-10-11T22:14:15Z", "web1 su: failed"),
        ("Feb 29 22:14:15 web1 su: failed", "2024-02-29T22:14:15Z", "web1 su: failed"),
    ],
)
def test_a_leading_time_is_read_and_taken_off(line: str, time: str, text: str) -> None:
    found = stamped(line, NOW, UTC)
    assert found.time == pytest.approx(datetime.fromisoformat(time).timestamp(), abs=1e-6)
    assert found.text == text


def test_a_time_without_an_offset_is_in_the_zone() -> None:
    assert stamped("2026-03-03 06:00:07 x", NOW, EAST).time == stamped("2026-03-03T04:00:07Z x", NOW, UTC).time
    assert stamped("Mar  3 06:00:07 x", NOW, EAST).time == stamped("2026-03-03T04:00:07Z x", NOW, UTC).time


def test_an_access_log_keeps_its_line() -> None:
    line = '192.0.2.7 - - [03/Mar/2026:06:00:07 +0100] "GET / HTTP/1.1" 200 3'
    found = stamped(line, NOW, UTC)
    assert found.time == datetime(2026, 3, 3, 5, 0, 7, tzinfo=UTC).timestamp()
    assert found.text == line


@pytest.mark.parametrize(
    "line",
    [
        "pump on at 2026-03-03T06:00:07Z",
        "2026-13-03T06:00:07Z not a month",
        "2026-03-03T25:00:07Z not an hour",
        "Mai  3 06:00:07 another language",
        "Feb 30 06:00:07 no such day",
        "2026-03-03 only a day",
        "12:00:01 only a time",
        "1772517607 looks like a number",
        "2026-03-03T06:00:07Zulu",
        "",
    ],
)
def test_what_is_not_evidently_a_time_stays_text(line: str) -> None:
    found = stamped(line, NOW, UTC)
    assert found.time is None
    assert found.text == line


def test_a_line_that_is_only_a_time_keeps_its_words() -> None:
    assert stamped("2026-03-03T06:00:07Z", NOW, UTC).text == "2026-03-03T06:00:07Z"


@given(st.datetimes(datetime(1972, 1, 1), datetime(2200, 1, 1)), st.text(min_size=1).filter(lambda text: text.strip()))  # noqa: DTZ001 - made aware below
def test_iso_times_round_trip(moment: datetime, words: str) -> None:
    found = stamped(f"{moment.isoformat(timespec='microseconds')}Z {words}", NOW, UTC)
    assert found.time == pytest.approx(moment.replace(tzinfo=UTC).timestamp(), abs=1e-5)
