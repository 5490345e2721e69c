"""Every trace that is kept, one after the other: at the price of all there ever were, for who needs them all."""

import math
from collections.abc import AsyncGenerator
from typing import NamedTuple

from environment.messages import Instant
from environment.stores.cassandra import partitions
from environment.stores.cassandra.calendar import buckets_of
from environment.stores.cassandra.driver.session import Session

_ROWS = "SELECT at, id FROM traces_by_time WHERE mind = ? AND hour = ? AND part = ? AND at <= ?"
_LAST_HOUR = 1 << 41


class ScanPosition(NamedTuple):
    """Where a scan stands, in the index of times."""

    hour: int
    part: int
    at: Instant
    id: str

    def __str__(self) -> str:
        return f"{self.hour} {self.part} {self.at!r} {self.id}"


FIRST = ScanPosition(-_LAST_HOUR, 0, math.inf, "")


def parse_position(text: str) -> ScanPosition:
    """What ``str`` made of a position; the first where it says none."""
    match text.split(" ", 3):
        case [hour, part, at, name]:
            return ScanPosition(int(hour), int(part), float(at), name)
    return FIRST


async def scan_traces(
    session: Session, mind: str, after: ScanPosition = FIRST, last_part: float = math.inf
) -> AsyncGenerator[tuple[str, ScanPosition], None]:
    """The id of each trace, once, with its position, behind ``after``: by hours, the oldest first, up to a part."""
    statement = await session.prepare(_ROWS)
    async for hour, parts in buckets_of(session, mind, partitions.TIME, after.hour, _LAST_HOUR, newest_first=False):
        for part in parts:
            if (hour, part) < after[:2] or part > last_part:
                continue
            here = (hour, part) == after[:2]
            latest = after.at if here else math.inf
            async for rows in session.pages(statement, (mind, hour, part, latest)):
                for row in rows:
                    if not (here and row.at == after.at and row.id <= after.id):
                        yield row.id, ScanPosition(hour, part, row.at, row.id)
