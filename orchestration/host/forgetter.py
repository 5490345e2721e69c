"""Doing what operators asked to forget: the mind process rests meanwhile, and begins again from what is kept."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import structlog

from environment.erasure import FORGOTTEN, HOLDS, ForgetRecord, ForgetState, Redactor
from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Instant
from environment.stores.erasing import Eraser, UnderHold
from environment.stores.movable import Movable
from orchestration.host.supervisor import MindSupervisor

_log = structlog.get_logger(__name__)
_LOOK = 5.0
"""Seconds between two looks at what was asked for elsewhere."""
_OVER = {ForgetState.DONE, ForgetState.REFUSED}
_LOGS = ("audit.log*", "submind.log*")


class Forgetter:
    """Carries out requests, one after the other, while this host leads.

    Guarantees: what was asked for is done, over every crash: each attempt does all of it, and what tells what is to go
    goes last. No actor lives from the first change to the last, so none holds or writes what was forgotten.
    """

    def __init__(
        self,
        stores: Movable,
        data_dir: Path,
        mind: str,
        supervisor: MindSupervisor,
        wall: Callable[[], Instant],
        forgot: Callable[[], None],
    ) -> None:
        """``forgot`` is called when something was forgotten."""
        self._stores = stores
        self._data_dir = data_dir
        self._mind = mind
        self._supervisor = supervisor
        self._wall = wall
        self._asked = asyncio.Event()
        self._forgot = forgot

    async def look(self) -> None:
        """Have what was asked for done now."""
        self._asked.set()

    async def run(self) -> None:
        """Do what is asked for, until cancelled."""
        while True:
            self._asked.clear()
            try:
                records = (await FORGOTTEN.all_of(self._stores.collections)).values()
                for record in sorted(records, key=lambda each: each.at):
                    if record.state not in _OVER:
                        await self._forget(record)
            except (StoreUnavailable, FencedOut) as error:
                _log.warning("not_forgotten", what="what was asked for", reason=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._asked.wait()

    async def _forget(self, record: ForgetRecord) -> None:
        _log.info("forgetting", record=record.id, scope=record.scope.kind.value)
        async with self._supervisor.resting(f"it rests while {record.id} is being forgotten") as token:
            fence = await self._stores.lead(token)
            while record.state not in _OVER:
                try:
                    made = await self._next(record, fence)
                    await self._stores.commit([FORGOTTEN.write(made.id, made, time=made.at)], fence)
                    record = made
                except StoreUnavailable as error:
                    _log.warning("store_unavailable", reason=str(error))
                    await asyncio.sleep(max(0.1, min(error.retry_after, 1.0)))
        self._forgot()
        _log.info("forgotten_on_request", record=record.id, state=record.state.value, removed=dict(record.removed))

    async def _next(self, record: ForgetRecord, fence: int) -> ForgetRecord:
        """One step, which may be repeated: the record as it is then."""
        if record.state is ForgetState.ASKED:
            return replace(record, state=ForgetState.RUNNING)
        if record.state is ForgetState.SWEEPING:
            await self._stores.scrub()
            return replace(record, state=ForgetState.DONE, done=self._wall())
        eraser = Eraser(self._stores, record.scope, fence)
        try:
            await eraser.run([*(await HOLDS.all_of(self._stores.collections)).values()])
        except UnderHold as error:
            return replace(record, state=ForgetState.REFUSED, reason=f"{error.hold} holds some of it")
        eraser.removed["answers"] += await self._answers()
        eraser.redacted["log lines"] += await asyncio.to_thread(self._log_lines, eraser.redactor)
        return replace(record, state=ForgetState.SWEEPING, removed=+eraser.removed, redacted=+eraser.redacted)

    async def _answers(self) -> int:
        """The answers of models that are kept on this machine: nobody knows what they were of, so all go."""
        if not (self._data_dir / "answers.db").exists():
            return 0
        from environment.stores.sqlite.answer_cache import open_answers  # noqa: PLC0415 - where it is used

        answers = await open_answers(self._data_dir, self._mind)
        try:
            return await answers.clear()
        finally:
            await answers.close()

    def _log_lines(self, redactor: Redactor) -> int:
        """Blank lines that name it in the log and the audit log, in place: others go on appending to these files."""
        blanked = 0
        for path in (path for pattern in _LOGS for path in self._data_dir.glob(pattern)):
            with path.open("r+b") as file:
                at = 0
                for line in file.read().splitlines(keepends=True):
                    if redactor.clean(line.decode("utf-8", "replace"))[1]:
                        os.pwrite(file.fileno(), b" " * (len(line) - 1), at)
                        blanked += 1
                    at += len(line)
                os.fsync(file.fileno())
        return blanked
