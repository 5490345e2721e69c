"""The example: a day of a small operations team, lived through in a minute and a quarter, then live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from environment.messages import Instant, NewPerception
from orchestration.cli.failure import Failure
from orchestration.cli.input.lines import Format, LineReader
from orchestration.cli.input.reading import file_lines
from orchestration.clock import CatchUpClock, wall

LASTS = 75.0
"""Seconds of wall time for the day."""
BOOT = 12.0
"""Seconds until the day begins, in which the mind comes up."""

SETTINGS: dict[str, Any] = {
    "attention.per_hour": 2.5,
    "gateway.intake.trust": {"feeds": 0.5, "support": 0.4, "*": 0.7},
}
"""What the mind of the example is told about its day, where nobody says otherwise: a thought every two seconds of a
day that takes 75, colleagues known, customers and feeds less so."""

_PLACES = (
    Path(__file__).resolve().parents[2] / "examples" / "day.jsonl",
    Path(__file__).resolve().parent / "day.jsonl",
)
"""In a checkout, in an installed package."""


@dataclass(frozen=True, slots=True)
class Day:
    """The example's perceptions, moved so that the day ends when mind time meets the wall."""

    perceptions: Sequence[NewPerception]
    clock: CatchUpClock

    async def unfold(self) -> AsyncIterator[NewPerception]:
        """Each perception when mind time reaches it."""
        for perception in self.perceptions:
            delay = self.clock.wall_delay(perception.time)
            if delay > 0:
                await asyncio.sleep(delay)
            yield perception


def day_at(now: Instant) -> Day:
    """The day as it is to be lived from wall time ``now`` on. Raises ``Failure`` when the example is not there."""
    path = next((path for path in _PLACES if path.is_file()), None)
    if path is None:
        raise Failure("the example is not part of this installation: it lies in the source tree, examples/day.jsonl")
    reader = LineReader(source="day", now=wall, run="day", repeatable=True, directory=path.parent, format=Format.JSON)
    read = [perception for line in file_lines(path) if (perception := reader.read(line.whole())) is not None]
    read.sort(key=lambda perception: perception.time)
    return moved(read, now)


def moved(read: Sequence[NewPerception], now: Instant) -> Day:
    """The same perceptions, so that the first comes ``BOOT`` seconds after ``now`` and the last ``LASTS`` later."""
    first, last = read[0].time, read[-1].time
    begins, ends = now + BOOT, now + BOOT + LASTS
    shift = ends - last
    clock = CatchUpClock(start=first + shift, speed=max((last - first) / LASTS, 1.0), origin=begins)
    return Day([replace(perception, time=perception.time + shift) for perception in read], clock)
