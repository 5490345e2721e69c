"""The end of a mind's perception log: one fenced log, whose record says how far it goes.

A commit moves ``head`` where the writer still leads and nothing else was decided since it looked. The answer to one can
get lost. Asking again would not settle it, because a server may still be at it; so the writer takes the place of the
doubtful one with a commit that changes nothing (``settle``): after that, one of the two happened and the other
never will.
"""

from dataclasses import dataclass, replace

from msgspec.msgpack import decode, encode

from environment.errors import StoreUnavailable
from environment.ports import LAST_EPOCH
from environment.stores.cassandra.commits.fenced_log import TRIES, FencedLogs, LogRow
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.session import Session

_LOG = "perceptions"
_NEW = LogRow(_LOG, _LOG)


@dataclass(frozen=True, slots=True)
class Header:
    """What the record says."""

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
    row: LogRow = _NEW


class LogHeader:
    """The header of one mind's perception log. Every method may raise ``StoreUnavailable``."""

    def __init__(self, session: Session, mind: str) -> None:
        self._fenced = FencedLogs(session, mind)

    async def read(self) -> Header:
        """What was decided and answered is seen; what is being decided may be."""
        return _header((await self._fenced.read(_LOG, serial=False)).get(_LOG) or _NEW)

    async def decided(self) -> Header:
        """The same, after finishing whatever was being decided."""
        return _header(await self._fenced.one(_LOG, _LOG))

    async def lead(self, token: int | None) -> Header:
        """As ``FencedLogs.lead``."""
        return _header(await self._fenced.lead(_LOG, _LOG, token, LAST_EPOCH))

    async def commit(self, then: Header) -> bool:
        """Decide on what ``then`` says, with its number, where nothing was since the row was read that it names.

        Raises ``OutcomeUnknown``: then ``settle`` says what happened.
        """
        return await self._fenced.decide([(then.row, then.n, then.leader)], encode((then.head, then.low, then.swept)))

    async def settle(self, header: Header, n: int) -> Header:
        """After a commit on ``header`` that is in doubt: what is there now, which no such commit changes any more.

        ``n`` is an attempt later than those. Raises ``OutcomeUnknown`` where this is in doubt as well: settle again.
        """
        await self.commit(replace(header, n=n))
        return await self.decided()

    async def raise_end(self, *, low: int = 0, swept: int = 0) -> Header:
        """Raise what was forgotten or swept, whoever commits meanwhile; the header with it."""
        for _ in range(TRIES):
            there = await self.decided()
            then = replace(there, n=there.n + 1, low=max(low, there.low), swept=max(swept, there.swept))
            try:
                if (then.low, then.swept) == (there.low, there.swept) or await self.commit(then):
                    return await self.decided()
            except OutcomeUnknown:
                continue
        raise StoreUnavailable("the perception log is being written by many at once", retry_after=0.2)


def _header(row: LogRow) -> Header:
    head, low, swept = decode(row.record, type=tuple[int, int, int]) if row.record else (0, 0, 0)
    return Header(row.epoch, row.n, head, low, swept, row)
