"""Forgetting: the loop of everything that goes once it is old, and carrying out what operators asked for."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from environment.erasure import FORGOTTEN, HOLDS, ForgetRecord, ForgetState, Redactor
from environment.errors import FencedOut, StoreUnavailable, SubliminalError
from environment.messages import Instant
from environment.stores.erasing import Eraser, UnderHold
from environment.stores.movable import Movable

_log = structlog.get_logger(__name__)
_OVER = {ForgetState.DONE, ForgetState.REFUSED}
_LOGS = ("audit.log*", "submind.log*")


async def forget_every(every: float, forget: Callable[[], Awaitable[int | list[str]]], what: str) -> None:
    """Call ``forget`` every so many seconds until another leads, and log what went of ``what``: a count, or names.

    What the store refuses is logged and tried again the next time.
    """
    while True:
        await asyncio.sleep(every)
        try:
            gone = await forget()
        except FencedOut as error:
            _log.warning("fenced_out", reason=str(error))
            return
        except SubliminalError as error:
            _log.warning("not_forgotten", what=what, reason=str(error))
            continue
        if gone:
            _log.info("forgotten", what=what, gone=gone)


@dataclass(frozen=True)
class ForgetRun:
    """Carries out requests in ``stores`` that no mind process writes to, and in the files of ``data_dir``.

    Guarantees: each attempt does all of it, and what tells what is to go goes last; so it may end anywhere, and begin
    anew.
    """

    stores: Movable
    data_dir: Path | None
    mind: str
    wall: Callable[[], Instant]

    async def pending(self) -> list[ForgetRecord]:
        """What is asked for and not done, the first first. Raises ``StoreUnavailable``."""
        records = (await FORGOTTEN.all_of(self.stores.collections)).values()
        return sorted((one for one in records if one.state not in _OVER), key=lambda each: each.at)

    async def carry_out(self, record: ForgetRecord, fence: int) -> ForgetRecord:
        """Do it, however long a store is away; the record as it is then. Raises ``FencedOut``."""
        while record.state not in _OVER:
            try:
                made = await self._next(record, fence)
                await self.stores.commit([FORGOTTEN.write(made.id, made, time=made.at)], fence)
                record = made
            except StoreUnavailable as error:
                _log.warning("store_unavailable", reason=str(error))
                await asyncio.sleep(max(0.1, min(error.retry_after, 1.0)))
        return record

    async def _next(self, record: ForgetRecord, fence: int) -> ForgetRecord:
        """One step, which may be repeated: the record as it is then."""
        if record.state is ForgetState.ASKED:
            return replace(record, state=ForgetState.RUNNING)
        if record.state is ForgetState.SWEEPING:
            await self.stores.scrub()
            for file in self.data_dir.glob("episodes.*") if self.data_dir else ():  # made of the log, and made again
                file.unlink(missing_ok=True)
            return replace(record, state=ForgetState.DONE, done=self.wall())
        eraser = Eraser(self.stores, record.scope, fence)
        holds = (await HOLDS.all_of(self.stores.collections)).values()
        try:  # of one that was done before, older holds were let go of by then
            await eraser.run([hold for hold in holds if record.done is None or hold.at > record.done])
        except UnderHold as error:
            return replace(record, state=ForgetState.REFUSED, reason=f"{error.hold} holds some of it")
        eraser.removed["answers"] += await self._answers()
        eraser.redacted["log lines"] += await asyncio.to_thread(self._log_lines, eraser.redactor)
        return replace(record, state=ForgetState.SWEEPING, removed=+eraser.removed, redacted=+eraser.redacted)

    async def _answers(self) -> int:
        """The answers of models that are kept on this machine: nobody knows what they were of, so all go."""
        if self.data_dir is None or not (self.data_dir / "answers.db").exists():
            return 0
        from environment.stores.sqlite.answer_cache import open_answers  # noqa: PLC0415 - where it is used

        answers = await open_answers(self.data_dir, self.mind)
        try:
            return await answers.clear()
        finally:
            await answers.close()

    def _log_lines(self, redactor: Redactor) -> int:
        """Blank lines that name it in the log and the audit log, in place: others go on appending to these files."""
        blanked, place = 0, self.data_dir
        for path in (path for pattern in _LOGS for path in (place.glob(pattern) if place else ())):
            with path.open("r+b") as file:
                at = 0
                for line in file.read().splitlines(keepends=True):
                    if redactor.clean(line.decode("utf-8", "replace"))[1]:
                        os.pwrite(file.fileno(), b" " * (len(line) - 1), at)
                        blanked += 1
                    at += len(line)
                os.fsync(file.fileno())
        return blanked
