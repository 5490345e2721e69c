"""Fenced logs: rows that say what was decided last, changed by lightweight transactions alone.

A fenced log is one row: the number of its last record, the epoch of who may write, and that record. A decision is one
conditional write that puts the next record in its place where number and epoch are what its writer saw: an older leader
is refused there, and of two writers one. What a mind commits goes through such logs (``commit_logs``), and so does the
end of its perception log (``log/header``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from environment.errors import FencedOut, StoreUnavailable
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import Session

_READ = "SELECT log, n, epoch, record FROM fenced_logs WHERE mind = ? AND family = ?"
_MAKE = "INSERT INTO fenced_logs (mind, family, log, n, epoch, record) VALUES (?, ?, ?, 0, ?, ?) IF NOT EXISTS"
_DECIDE = """UPDATE fenced_logs SET n = ?, epoch = ?, record = ? WHERE mind = ? AND family = ? AND log = ?
    IF n = ? AND epoch = ?"""
_RAISE = "UPDATE fenced_logs SET epoch = ? WHERE mind = ? AND family = ? AND log = ? IF epoch = ?"
_REMOVE = "DELETE FROM fenced_logs WHERE mind = ? AND family = ? AND log = ? IF EXISTS"
TRIES = 50


@dataclass(frozen=True, slots=True)
class LogRow:
    """What a fenced log was seen to hold."""

    family: str
    """Logs of one family can be decided on together."""
    log: str
    n: int = 0
    """The number of the last record."""
    epoch: int = 0
    """Of who may write; an older one is refused."""
    record: bytes = b""
    """The last record; empty before the first."""


@dataclass(slots=True)
class FencedLogs:
    """The fenced logs of one mind. Every method may raise ``StoreUnavailable``."""

    session: Session
    mind: str
    _tried: dict[tuple[str, str], int] = field(default_factory=dict)
    """Epochs that were asked for by number, and of which nobody told what became."""

    async def read(self, family: str, *, serial: bool = True) -> dict[str, LogRow]:
        """The logs of a family by name. ``serial``: after finishing whatever was being decided; else as last told."""
        statement, values = await self.session.prepare(_READ), (self.mind, family)
        if serial:
            rows = await self.session.serial(statement, values)
        else:
            rows = await self.session.execute(statement, values, idempotent=True)
        return {row.log: LogRow(family, row.log, row.n, row.epoch, bytes(row.record)) for row in rows}

    async def one(self, family: str, log: str) -> LogRow:
        """One log, after finishing what was being decided; as it is before the first record where it is not there."""
        return (await self.read(family)).get(log) or LogRow(family, log)

    async def make(self, family: str, log: str, epoch: int) -> bool:
        """Make a log where it is not there; whether this call did. Raises ``OutcomeUnknown``."""
        statement = await self.session.prepare(_MAKE)
        return await self.session.conditional(statement, (self.mind, family, log, epoch, b""))

    async def decide(self, changes: Sequence[tuple[LogRow, int, int]], record: bytes) -> bool:
        """Put ``record`` in the place of the last, in all of these logs of a family or in none of them.

        ``changes``: each log as it was seen, the new record's number and epoch. False where one of them has moved on.
        Raises ``OutcomeUnknown``: it was decided, or not, or may yet be until another record is.
        """
        values: list[object] = []
        for row, n, epoch in changes:
            values += (n, epoch, record, self.mind, row.family, row.log, row.n, row.epoch)
        batch = f"BEGIN BATCH {'; '.join([_DECIDE] * len(changes))}; APPLY BATCH"
        statement = await self.session.prepare(_DECIDE if len(changes) == 1 else batch)
        return await self.session.conditional(statement, values)

    async def raise_epoch(self, row: LogRow, epoch: int) -> bool:
        """Close a log to older epochs; false where it has another than ``row``. Raises ``OutcomeUnknown``."""
        if not row.epoch and not row.n and await self.make(row.family, row.log, epoch):
            return True
        statement = await self.session.prepare(_RAISE)
        values = (epoch, self.mind, row.family, row.log, row.epoch)
        return await self.session.conditional(statement, values)

    async def lead(self, family: str, log: str, token: int | None, most: int | None = None) -> LogRow:
        """Begin an epoch of a log: ``token``, else the next. What is answered stays until this leader changes it.

        A token may be given again where the call before failed. Raises ``FencedOut`` where it is not larger than the
        epoch that is there, ``ValueError`` where the epoch would be larger than ``most``.
        """
        doubtful = token is not None and self._tried.get((family, log)) == token
        for _ in range(TRIES):
            there = await self.one(family, log)
            if doubtful and there.epoch == token:
                self._tried.pop((family, log), None)
                return there
            epoch = there.epoch + 1 if token is None else token
            if epoch <= there.epoch:
                raise FencedOut(epoch, there.epoch)
            if most is not None and epoch > most:
                raise ValueError(f"{epoch} cannot be an epoch of {log}: the last is {most}")
            try:
                applied = await self.raise_epoch(there, epoch)
            except OutcomeUnknown:
                if token is not None:  # without one, the next epoch is one that nobody can mistake for another's
                    doubtful, self._tried[family, log] = True, token
                continue
            if applied:
                self._tried.pop((family, log), None)
                led = await self.one(family, log)
                if led.epoch == epoch:
                    return led
                if token is not None:
                    raise FencedOut(epoch, led.epoch)
        raise StoreUnavailable(f"many processes want to lead {log} at once", retry_after=0.2)

    async def remove(self, family: str, log: str) -> None:
        """Take a log away."""
        await self.session.conditional(await self.session.prepare(_REMOVE), (self.mind, family, log))
