"""The process that writes a perception log, started by ``out_of_process.py`` alone."""

import sys
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from environment.errors import AppendSkipped
from environment.messages import Receipts
from environment.ports import PreparedBatch
from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.perceptions import SqlitePerceptions

_APPEND = "append_batches"


class Writer:
    """Does what is asked on a pipe, in its order, until its other end is closed. ``log`` is inline.

    Appends that were sent before the failure of an earlier one could be known are not tried: they would be written
    behind a gap. None are joined: the intake gathers them, and sends so few ahead that none ever lay beside another.
    """

    def __init__(self, pipe: Connection, log: SqlitePerceptions) -> None:
        self._pipe = pipe
        self._log = log
        self._failures = 0

    def serve(self) -> None:
        """Return when there is nobody to ask any more."""
        with suppress(EOFError, BrokenPipeError):
            while True:
                method, arguments = self._pipe.recv()
                self._pipe.send(self._append(*arguments) if method == _APPEND else self._do(method, *arguments))

    def _append(self, batches: Sequence[PreparedBatch], failures: int) -> list[Receipts] | Exception:
        """``failures``: how many of this process whoever asks knew of."""
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
