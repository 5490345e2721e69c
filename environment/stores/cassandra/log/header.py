"""The one row that says who writes a mind's perception log and how far it goes; lightweight transactions only.

A commit is one of them: ``head`` moves where the writer still leads and nothing else was decided since it looked. The
answer to one can get lost. Asking again would not settle it, because a server may still be at it; so the writer
takes the place of the doubtful one with a commit that changes nothing (``settle``): after that, one of the two happened
and the other never will.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from environment.errors import FencedOut, StoreUnavailable
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import Row, Session
from environment.stores.cassandra.log.layout import LAST_EPOCH

_READ = "SELECT leader, n, head, low, swept FROM perception_log WHERE mind = ?"
_ENTER = "INSERT INTO perception_log (mind, leader, n, head, low, swept) VALUES (?, ?, 0, 0, 0, 0) IF NOT EXISTS"
_LEAD = "UPDATE perception_log SET leader = ? WHERE mind = ? IF leader = ?"
_COMMIT = "UPDATE perception_log SET n = ?, head = ? WHERE mind = ? IF leader = ? AND n = ?"
_SKIP = "UPDATE perception_log SET n = ?, head = ?, low = ?, swept = ? WHERE mind = ? IF leader = ? AND n = ?"
_VOID = "UPDATE perception_log SET n = ? WHERE mind = ? IF leader = ? AND n = ?"
_FORGET = "UPDATE perception_log SET low = ? WHERE mind = ? IF leader = ? AND low = ?"
_SWEEP = "UPDATE perception_log SET swept = ? WHERE mind = ? IF swept = ?"
_TRIES = 50


@dataclass(frozen=True, slots=True)
class Header:
    """What the row says."""

    leader: int = 0
    """The epoch of who writes."""
    n: int = 0
    """The attempt that was committed last."""
    head: int = 0
    """The last number that was committed."""
    low: int = 0
    """The last that was forgotten."""
    swept: int = 0
    """The last whose rows are gone; the last of a chunk."""


class LogHeader:
    """The row of one mind. Every method may raise ``StoreUnavailable``."""

    def __init__(self, session: Session, mind: str) -> None:
        self._session = session
        self._mind = mind

    async def read(self) -> Header | None:
        """What was decided and answered is seen; what is being decided may be. None where nobody ever led."""
        statement = await self._session.prepare(_READ)
        return _header(await self._session.execute(statement, (self._mind,), idempotent=True))

    async def decided(self) -> Header | None:
        """The same, after finishing whatever was being decided."""
        statement = await self._session.prepare(_READ)
        return _header(await self._session.serial(statement, (self._mind,)))

    async def lead(self, token: int | None, *, retried: bool = False) -> Header:
        """Begin an epoch: ``token``, else the next. The answer stays as it is until its leader changes it.

        ``retried``: the caller tried this token before and does not know what became of that. Raises ``FencedOut``
        where ``token`` is not larger than the epoch that is there.
        """
        doubtful = retried
        for _ in range(_TRIES):
            there = await self.decided()
            current = there.leader if there else 0
            if token is not None and doubtful and current == token and there:
                return there
            epoch = current + 1 if token is None else token
            if epoch <= current:
                raise FencedOut(epoch, current)
            if epoch > LAST_EPOCH:
                raise ValueError(f"{epoch} cannot be an epoch of the perception log: the last is {LAST_EPOCH}")
            try:
                applied = await self._take(epoch, there)
            except OutcomeUnknown:
                doubtful = True  # without a token, the next epoch is one that nobody can mistake for another's
                continue
            if applied:
                led = await self.decided()
                if led and led.leader == epoch:
                    return led
                if token is not None:
                    raise FencedOut(epoch, led.leader if led else 0)
        raise StoreUnavailable("the perception log is being led by many at once", retry_after=0.2)

    async def _take(self, epoch: int, there: Header | None) -> bool:
        if there is None:
            entered = await self._session.prepare(_ENTER)
            return (await self._session.conditional(entered, (self._mind, epoch))).applied
        taken = await self._session.prepare(_LEAD)
        return (await self._session.conditional(taken, (epoch, self._mind, there.leader))).applied

    async def commit(self, header: Header, n: int, head: int) -> bool:
        """Move the head, where nothing was decided since ``header``; false where something was.

        Raises ``OutcomeUnknown``: then ``settle`` says what happened.
        """
        statement = await self._session.prepare(_COMMIT)
        values = (n, head, self._mind, header.leader, header.n)
        return (await self._session.conditional(statement, values)).applied

    async def skip(self, header: Header, n: int, to: int, swept: int) -> bool:
        """Move the head of a log that holds nothing to ``to``, and what is forgotten and ``swept`` along with it.

        False where something was decided since ``header``. Raises ``OutcomeUnknown`` as ``commit`` does.
        """
        statement = await self._session.prepare(_SKIP)
        values = (n, to, to, swept, self._mind, header.leader, header.n)
        return (await self._session.conditional(statement, values)).applied

    async def settle(self, header: Header, n: int) -> Header:
        """After a commit on ``header`` that is in doubt: what is there now, which no such commit changes any more.

        ``n`` is an attempt later than those. Raises ``OutcomeUnknown`` where this is in doubt as well: settle again.
        """
        statement = await self._session.prepare(_VOID)
        answer = await self._session.conditional(statement, (n, self._mind, header.leader, header.n))
        if answer.applied:
            return replace(header, n=n)
        return await self.decided() or Header()

    async def forget(self, header: Header, low: int) -> bool:
        """Raise ``low``, where neither it nor the leader changed since ``header``; false where one did."""
        statement = await self._session.prepare(_FORGET)
        try:
            return (await self._session.conditional(statement, (low, self._mind, header.leader, header.low))).applied
        except OutcomeUnknown:
            there = await self.decided()
            if there is not None and there.low >= low:
                return True
            raise

    async def sweep(self, swept: int, to: int) -> None:
        """Say that the rows up to ``to`` are gone; where that is not written, they are deleted once more some day."""
        statement = await self._session.prepare(_SWEEP)
        await self._session.conditional(statement, (to, self._mind, swept))


def _header(rows: list[Row]) -> Header | None:
    return Header(*rows[0]) if rows else None
