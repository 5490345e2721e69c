"""How far the rows of a mind are written: what readers go by."""

from __future__ import annotations

from environment.stores.cassandra.commits.record import CORE, LaneState, decode_state
from environment.stores.cassandra.driver.session import Session

_HEAD = "SELECT state FROM heads WHERE mind = ? AND room = ? AND lane = ?"


async def head_of(session: Session, mind: str, lane: str, room: str = CORE) -> LaneState:
    """What a lane had counted when the last record was applied of which all rows are there."""
    rows = await session.execute(await session.prepare(_HEAD), (mind, room, lane), idempotent=True)
    return decode_state(rows[0].state) if rows else LaneState()
