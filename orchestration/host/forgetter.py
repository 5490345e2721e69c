"""Doing what operators asked to forget: the mind process rests meanwhile, and begins again from what is kept."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import structlog

from environment.erasure import FORGOTTEN, HOLDS, ForgetRecord, ForgetState, Redactor
from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Instant
from environment.stores.erasing import Eraser, UnderHold
from environment.stores.movable import Movable
from orchestration.host.supervisor import MindSupervisor

T = TypeVar("T")
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
            fence = await self._patiently(lambda: self._stores.lead(token))

            async def told(now: ForgetRecord) -> None:
                await self._stores.commit([FORGOTTEN.write(now.id, now, time=now.at)], fence)

            async def erased() -> Eraser:
                eraser = Eraser(self._stores, record.scope, fence)
                await eraser.run([*(await HOLDS.all_of(self._stores.collections)).values()])
                return eraser

            await self._patiently(lambda: told(replace(record, state=ForgetState.RUNNING)))
            try:
                eraser = await self._patiently(erased)
            except UnderHold as error:
                reason = f"{error.hold} holds some of it"
                await self._patiently(lambda: told(replace(record, state=ForgetState.REFUSED, reason=reason)))
                return
            eraser.removed["answers"] += await self._patiently(self._answers)
            eraser.redacted["log lines"] += await asyncio.to_thread(self._log_lines, eraser.redactor)
            removed = +(Counter(record.removed) + eraser.removed)
            made = replace(record, removed=removed, redacted=+(Counter(record.redacted) + eraser.redacted))
            await self._patiently(lambda: told(replace(made, state=ForgetState.SWEEPING)))
            await self._patiently(self._stores.scrub)
            done = replace(made, state=ForgetState.DONE, done=self._wall())
            await self._patiently(lambda: told(done))
        self._forgot()
        _log.info("forgotten_on_request", record=record.id, removed=dict(made.removed), redacted=dict(made.redacted))

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """What the store answers, once it does."""
        while True:
            try:
                return await ask()
            except StoreUnavailable as error:
                _log.warning("store_unavailable", reason=str(error))
                await asyncio.sleep(max(0.1, min(error.retry_after, 1.0)))

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
        """Blank what names it in the log and the audit log, in place: others go on appending to these files."""
        changed = 0
        for path in (path for pattern in _LOGS for path in self._data_dir.glob(pattern)):
            with path.open("r+b") as file:
                at = 0
                for line in file.read().splitlines(keepends=True):
                    shown = _cleaned(line, redactor)
                    if shown is not None:
                        os.pwrite(file.fileno(), shown, at)
                        changed += 1
                    at += len(line)
                os.fsync(file.fileno())
        return changed


def _cleaned(line: bytes, redactor: Redactor) -> bytes | None:
    """A line of a log without it, as long as it was; None where it stays."""
    text = line.decode("utf-8", "replace")
    if not redactor.clean(text)[1]:
        return None
    try:
        said = json.dumps(redactor.clean(json.loads(text))[0], ensure_ascii=False).encode()
    except ValueError:
        said = b""
    end = b"\n" if line.endswith(b"\n") else b""
    room = len(line) - len(end)
    return (said if len(said) <= room else b"{}"[:room]).ljust(room) + end
