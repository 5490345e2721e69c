"""Writing the perception log in a process of its own, so that who takes perceptions in keeps the interpreter for that.

A commit is short of Python but long of SQLite, which hands the interpreter over at every step and, beside a busy event
loop, gets it back only milliseconds later. The two processes talk on a pipe that nobody else can open: a request is
what a method of ``SqlitePerceptions`` is called with, an answer what it returns or raises, both pickled.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any, Literal, TypeAlias

from environment.errors import StoreUnavailable
from environment.messages import Instant, Modality, NewPerception, Perception, PerceptionBatch, Receipt, Receipts
from environment.ports import PreparedBatch
from environment.stores.sqlite.lane import Lane
from environment.stores.sqlite.perceptions import SqlitePerceptions

Method: TypeAlias = Literal["append_batches", "lead", "resume", "forget"]
"""What the process is asked to do: all that writes while a mind runs."""

_ENDS_WITHIN = 10.0
_ANSWERS_WITHIN = 120.0
"""Seconds after which a writer that does not answer is replaced; a commit takes milliseconds."""


class PerceptionsApart:
    """``PerceptionLog``: reads in this process, writes in one below it.

    Guarantees: those of ``SqlitePerceptions``. When the process below dies, what it was at may or may not have been
    written and is answered with ``StoreUnavailable``; another takes over with the next request, under the same epoch.
    It ends with this one.
    """

    def __init__(self, log: SqlitePerceptions, lane: Lane, mind: str) -> None:
        self._log = log
        self._lane = lane
        self._mind = mind
        self._epoch: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process that writes; None before it is needed."""
        return self._process.pid if self._process is not None else None

    def prepare(self, batch: PerceptionBatch) -> PreparedBatch:
        return self._log.prepare(batch)

    async def append(self, batch: Sequence[NewPerception]) -> list[Receipt]:
        (receipts,) = await self.append_batches([self.prepare(PerceptionBatch.of(batch))])
        return list(receipts)

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        written: list[Receipts] = await self._ask("append_batches", batches)
        return written

    async def lead(self, token: int | None = None) -> int:
        epoch: int = await self._ask("lead", token)
        self._epoch = epoch
        return epoch

    async def forget(self, received_before: Instant, up_to: int, limit: int = 10_000) -> int:
        gone: int = await self._ask("forget", received_before, up_to, limit)
        return gone

    async def read(self, after: int, limit: int, modality: Modality | None = None) -> list[Perception]:
        return await self._log.read(after, limit, modality)

    async def get(self, ids: Sequence[str]) -> dict[str, Perception]:
        return await self._log.get(ids)

    async def head(self) -> int:
        return await self._log.head()

    async def rows(self) -> int:
        """How many perceptions are kept."""
        return await self._log.rows()

    async def skip(self, to: int) -> None:
        """As ``Moving.skip``."""
        await self._log.skip(to)

    async def close(self) -> None:
        """Let the process finish what it was given and end. May be called twice."""
        if not self._closed:
            self._closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._end)
            self._thread.shutdown(wait=False)

    async def _ask(self, method: Method, *arguments: object) -> Any:
        if self._closed:
            raise StoreUnavailable(f"{self._lane.path.name} has been closed")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._exchange, method, arguments)

    def _exchange(self, method: Method, arguments: tuple[object, ...]) -> Any:
        try:
            pipe = self._pipe or self._start()
            pipe.send((method, arguments))
            answer = _answer(pipe)
        except (OSError, EOFError) as error:
            self._end()
            raise StoreUnavailable("the process that writes perceptions.db ended; another begins", 0.2) from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _start(self) -> Connection:
        ours, theirs = Pipe()
        with theirs:
            lane = self._lane
            said = (theirs.fileno(), lane.path, self._mind, lane.synchronous, lane.busy_timeout)
            self._process = subprocess.Popen(  # noqa: S603 - this program
                [sys.executable, "-m", "environment.stores.sqlite.writer", *map(str, said)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # a Ctrl-C is for who is asked to stop, which ends this one in its turn
            )
        self._pipe = ours
        if self._epoch is not None:
            ours.send(("resume", (self._epoch,)))
            _answer(ours)
        return ours

    def _end(self) -> None:
        if self._pipe is not None:
            self._pipe.close()  # the process reads its end
            self._pipe = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDS_WITHIN)
            self._process.kill()
            self._process.wait()
            self._process = None


def _answer(pipe: Connection) -> Any:
    """The next answer. Raises ``EOFError`` where there will be none."""
    if not pipe.poll(_ANSWERS_WITHIN):
        raise EOFError  # it stands still: whoever waits had better know
    return pipe.recv()


def serve(pipe: Connection, log: SqlitePerceptions) -> None:
    """Do what is asked on the pipe, one thing after the other, until its other end is closed. ``log`` is inline."""
    while True:
        try:
            method, arguments = pipe.recv()
        except EOFError:
            return
        try:
            answer = getattr(log, method)(*arguments)
            if isinstance(answer, Coroutine):
                answer = _finished(answer)
        except Exception as error:  # noqa: BLE001 - whoever asked is to handle it
            answer = error
        try:
            pipe.send(answer)
        except BrokenPipeError:
            return


def _finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("an inline log has suspended")
