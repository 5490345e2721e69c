"""The process that writes a perception log, started by ``out_of_process.py`` alone."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Iterator, Sequence
from itertools import chain, islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from environment.errors import AppendSkipped, StoreUnavailable
from environment.messages import Receipts
from environment.ports import PreparedBatch
from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.perceptions import SqlitePerceptions

_Request: TypeAlias = tuple[str, tuple[Any, ...]]
_TOGETHER = 4096
"""Perceptions beyond which no more appends join a commit."""
_APPEND = "append_batches"


class Writer:
    """Does what is asked on a pipe until its other end is closed. ``log`` is inline.

    Appends that lie there together are one commit. Those that were sent before the failure of an earlier one could be
    known are not tried: they would be written behind a gap.
    """

    def __init__(self, pipe: Connection, log: SqlitePerceptions) -> None:
        self._pipe = pipe
        self._log = log
        self._failures = 0

    def serve(self) -> None:
        """Return when there is nobody to ask any more."""
        for request in self._requests():
            method, arguments = request[0]
            if method == _APPEND:
                answers = self._append([asked for _, asked in request])
            else:
                answers = [self._do(method, *arguments)]
            try:
                for answer in answers:
                    self._pipe.send(answer)
            except BrokenPipeError:
                return

    def _requests(self) -> Iterator[list[_Request]]:
        """One request after the other, appends by as many as are there."""
        first = self._next()
        while first is not None:
            together, following = [first], None
            count = _count(first)
            while count and count < _TOGETHER and self._pipe.poll():
                following = self._next()
                if following is None or not _count(following):
                    break
                together.append(following)
                count += _count(following)
                following = None
            yield together
            first = following or self._next()

    def _next(self) -> _Request | None:
        try:
            request: _Request = self._pipe.recv()
        except EOFError:
            return None
        return request

    def _append(self, asked: Sequence[tuple[Sequence[PreparedBatch], int]]) -> list[list[Receipts] | Exception]:
        if all(failures == self._failures for _, failures in asked):
            batches = [batches for batches, _ in asked]
            answer = self._do(_APPEND, list(chain.from_iterable(batches)))
            if not isinstance(answer, Exception):
                each = iter(answer)
                return [list(islice(each, len(some))) for some in batches]
            if len(asked) == 1 or isinstance(answer, StoreUnavailable):
                self._failures += 1
                return [answer, *(AppendSkipped() for _ in asked[1:])]
        return [self._alone(batches, failures) for batches, failures in asked]

    def _alone(self, batches: Sequence[PreparedBatch], failures: int) -> list[Receipts] | Exception:
        if failures != self._failures:
            return AppendSkipped()
        answer: list[Receipts] | Exception = self._do(_APPEND, batches)
        if isinstance(answer, Exception):
            self._failures += 1
        return answer

    def _do(self, method: str, *arguments: object) -> Any:
        try:
            answer = getattr(self._log, method)(*arguments)
            return _finished(answer) if isinstance(answer, Coroutine) else answer
        except Exception as error:  # noqa: BLE001 - whoever asked is to handle it
            return error


def _count(request: _Request) -> int:
    """Perceptions to append; 0 for everything else."""
    method, arguments = request
    return max(1, sum(map(len, arguments[0]))) if method == _APPEND else 0


def _finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("an inline log has suspended")


def main(fd: str, path: str, mind: str, synchronous: str, busy_timeout: str) -> None:
    """Serve on the pipe ``fd``."""
    executor = ConnectionExecutor(
        Path(path),
        inline=True,
        synchronous="OFF" if synchronous == "OFF" else "FULL",
        busy_timeout=float(busy_timeout),
    )
    with Connection(int(fd)) as pipe:
        Writer(pipe, SqlitePerceptions(executor, mind)).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
