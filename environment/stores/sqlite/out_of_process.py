"""Writing the perception log in a process of its own, so that who takes perceptions in keeps the interpreter for that.

A commit is short of Python but long of SQLite, which hands the interpreter over at every step and, beside a busy event
loop, gets it back only milliseconds later. The two processes talk on a pair of sockets that nobody else can open: a
request is what a method of ``SqlitePerceptions`` is called with, an answer what it returns or raises, both pickled.
Requests do not wait for the answers before them, so the writer need not wait for the event loop to come round: what
lies there when a commit ends makes the next.
"""

from __future__ import annotations

import asyncio
import math
import pickle
import socket
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, TypeAlias

from environment.errors import AppendSkipped, StoreUnavailable
from environment.messages import Instant, Receipts
from environment.ports import PreparedBatch
from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.perceptions import SqlitePerceptions

Method: TypeAlias = Literal["append_batches", "lead", "resume", "forget", "erase"]
"""What the process is asked to do: all that writes while a mind runs."""

AHEAD = 2
"""Appends on their way to the writer: with one it idles while the event loop turns."""
_ENDS_WITHIN = 10.0
_ANSWERS_WITHIN = 120.0
"""Seconds after which a writer that does not answer is replaced; a commit takes milliseconds."""
_LENGTH = struct.Struct("!i")
_LONGEST = 0x7FFFFFFF
"""Of a message, in bytes: as ``multiprocessing.Connection``, the other end, frames it."""


class OutOfProcessPerceptions(SqlitePerceptions):
    """A ``SqlitePerceptions`` that reads in this process, and takes in, leads and forgets in one below it.

    Guarantees: those of ``SqlitePerceptions``. When the process below dies, what it was at may or may not have been
    written and is answered with ``StoreUnavailable``; another takes over with the next request, under the same epoch.
    It ends with this one.
    """

    ahead = AHEAD

    def __init__(self, executor: ConnectionExecutor, mind: str) -> None:
        super().__init__(executor, mind)
        self._term: int | None = None
        """The epoch that the process below writes under, once it was led."""
        self._process: subprocess.Popen[bytes] | None = None
        self._line: _Line | None = None
        self._starting = asyncio.Lock()
        self._another: asyncio.Task[_Line] | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process that writes; None before it is needed."""
        return self._process.pid if self._process is not None else None

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        line = self._line
        if self._closed:
            raise self._over()
        if line is None or line.broken:
            if self._another is None or self._another.done():
                self._another = asyncio.create_task(self._ready(), name="writer")
                self._another.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
            if line is not None:  # what was called before may not know that it failed: nothing is written behind it
                raise _ended()
            line = await asyncio.shield(self._another)
        written: list[Receipts] = await line.ask("append_batches", (batches, line.failures))
        return written

    async def lead(self, token: int | None = None) -> int:
        epoch: int = await self._ask("lead", token)
        self._term = epoch
        return epoch

    async def forget(
        self, received_before: Instant, up_to: int, limit: int = 10_000, believed: Instant = math.inf
    ) -> int:
        gone: int = await self._ask("forget", received_before, up_to, limit, believed)
        return gone

    async def erase(self, seqs: Sequence[int]) -> int:
        gone: int = await self._ask("erase", list(seqs))
        self._last = None
        return gone

    async def close(self) -> None:
        """Let the process finish what it was given and end. May be called twice."""
        if not self._closed:
            async with self._starting:
                self._closed = True
                await self._end()

    async def _ask(self, method: Method, *arguments: object) -> Any:
        return await (await self._ready()).ask(method, arguments)

    async def _ready(self) -> _Line:
        """The line to a writer that lives; a new one where there is none."""
        async with self._starting:
            if self._closed:
                raise self._over()
            if self._line is not None and not self._line.broken:
                return self._line
            await self._end()  # a broken line stays, so that nobody waits for the next
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = await asyncio.to_thread(self._spawn, theirs)
            _, line = await asyncio.get_running_loop().create_connection(_Line, sock=ours)
            if self._term is not None:
                await line.ask("resume", (self._term,))
            self._line = line
            return line

    def _over(self) -> StoreUnavailable:
        return StoreUnavailable(f"{self._executor.path.name} has been closed")

    def _spawn(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        executor = self._executor
        said = (theirs.fileno(), executor.path, self._mind, executor.synchronous, executor.busy_timeout)
        return subprocess.Popen(  # noqa: S603 - this program
            [sys.executable, "-m", "environment.stores.sqlite.writer", *map(str, said)],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,  # a Ctrl-C is for who is asked to stop, which ends this one in its turn
        )

    async def _end(self) -> None:
        if self._line is not None:
            self._line.close()  # the process does what it was given, then reads the end
        process, self._process = self._process, None
        if process is not None:
            await asyncio.to_thread(_reap, process)


def _reap(process: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDS_WITHIN)
    process.kill()
    process.wait()


class _Line(asyncio.Protocol):
    """Requests to a writer and its answers, which come in the order of the requests."""

    def __init__(self) -> None:
        self.broken = False
        """Whether nothing more is answered here."""
        self.failures = 0
        """Appends that the writer said it failed at."""
        self._transport: asyncio.Transport | None = None
        self._asked: deque[tuple[asyncio.Future[Any], bool]] = deque()
        """Who waits, and whether for an append."""
        self._received = bytearray()

    async def ask(self, method: Method, arguments: tuple[object, ...]) -> Any:
        """What the method returns. Raises what it raises, or ``StoreUnavailable`` where the writer is gone."""
        if self.broken or self._transport is None:
            raise _ended()
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        body = pickle.dumps((method, arguments), pickle.HIGHEST_PROTOCOL)
        if len(body) > _LONGEST:
            raise ValueError(f"{len(body)} bytes are more than a commit can have")
        self._asked.append((answer, method == "append_batches"))
        self._transport.write(_LENGTH.pack(len(body)) + body)
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN):
                return await answer
        except TimeoutError:
            self.close()  # it stands still: whoever waits had better know
            raise _ended() from None

    def close(self) -> None:
        """Ask no more."""
        self.broken = True
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - as asyncio says
        transport.set_write_buffer_limits(high=_LONGEST)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        start = 0
        while len(received) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(received, start)
            end = start + _LENGTH.size + length
            if len(received) < end:
                break
            with memoryview(received) as view:
                answer = pickle.loads(view[start + _LENGTH.size : end])  # noqa: S301 - this program's
            self._answered(answer)
            start = end
        del received[:start]

    def _answered(self, answer: Any) -> None:
        asked, appends = self._asked.popleft()
        if isinstance(answer, Exception) and appends and not isinstance(answer, AppendSkipped):
            self.failures += 1
        if asked.done():
            return  # nobody waits for it any more
        if isinstance(answer, Exception):
            asked.set_exception(answer)
        else:
            asked.set_result(answer)

    def connection_lost(self, _: Exception | None) -> None:
        self.broken = True
        for asked, _appends in self._asked:
            if not asked.done():
                asked.set_exception(_ended())
        self._asked.clear()


def _ended() -> StoreUnavailable:
    return StoreUnavailable("the process that writes perceptions.db ended; another begins", 0.2)
