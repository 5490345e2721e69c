"""The time that a question names."""

from datetime import UTC, datetime
from math import inf

import pytest

from environment.episodes.when import period

NOW = datetime(2026, 8, 19, 12, tzinfo=UTC)  # a Wednesday


def at(day):
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() if isinstance(day, str) else day


@pytest.mark.parametrize(
    ("asked", "since", "until"),
    [
        ("what broke last Tuesday?", "2026-08-18", "2026-08-19"),
        ("who was away yesterday", "2026-08-18", "2026-08-19"),
        ("what did she say in March", "2026-03-01", "2026-04-01"),
        ("the launch in October 2025", "2025-10-01", "2025-11-01"),
        ("dinner on 3 May, 2026?", "2026-05-03", "2026-05-04"),
        ("dinner on May 3rd", "2026-05-03", "2026-05-04"),
        ("before 2026-05-03", -inf, "2026-05-03"),
        ("what changed since Monday", "2026-08-17", inf),
        ("after May 3, 2026", "2026-05-04", inf),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("last month", "2026-07-01", "2026-08-01"),
        ("last week", "2026-08-10", "2026-08-17"),
        ("two days ago", "2026-08-17T12:00", "2026-08-18T12:00"),
    ],
)
def test_it_is_read(asked, since, until):
    found = period(asked, NOW.timestamp())
    slack = 43_200.0 if "ago" in asked else 0.0
    assert (found.since + slack, found.until + slack) == (at(since), at(until))
    assert found.said in asked


@pytest.mark.parametrize(
    "asked", ["May I come in?", "they march on", "what is 2026?", "the second pump", "", "31 February", "by 9999-12-31"]
)
def test_what_is_no_time_is_none(asked):
    assert period(asked, NOW.timestamp()) is None
