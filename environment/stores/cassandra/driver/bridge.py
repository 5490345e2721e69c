"""From the driver's futures to asyncio: the one place that knows both."""

from __future__ import annotations

import asyncio
import threading
from collections import deque, namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from cassandra.cluster import ResponseFuture, ResultSet

T = TypeVar("T")


class Answer(NamedTuple):
    """One page of an answer."""

    rows: list[Any]
    """Named tuples."""
    state: bytes | None
    """Where the next page begins; None after the last."""
    agreed: bool = True
    """After a change of the schema: whether all nodes know it."""


class Bridge:
    """Carries what the driver's thread is told to the loop, many answers to one wake-up.

    Guarantees: ``ended`` is called once for every request that was sent, when the driver is done with it, also where
    nobody waits for its answer any more; a future that was cancelled stays so; after the loop has ended answers are
    dropped.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ready: deque[Callable[[], None]] = deque()
        self._waking = False

    def carry(self, send: Callable[[], ResponseFuture], ended: Callable[[], None]) -> asyncio.Future[Answer]:
        """A future for the first page of what the request that ``send`` sends is answered, or the driver's error."""
        try:
            request = send()
        except BaseException:
            ended()
            raise
        future: asyncio.Future[Answer] = self._loop.create_future()

        def answered(rows: list[Any] | None) -> None:
            def settle() -> None:
                ended()
                if not future.done():
                    agreed = bool(request.is_schema_agreed)
                    future.set_result(Answer(rows or [], ResultSet(request, rows).paging_state, agreed))

            self._tell(settle)

        def failed(error: BaseException) -> None:
            def settle() -> None:
                ended()
                if not future.done():
                    future.set_exception(error)

            self._tell(settle)

        request.add_callbacks(answered, failed)
        return future

    def _tell(self, settle: Callable[[], None]) -> None:
        """From the driver's thread. Whoever finds the flag down wakes the loop; the loop lowers it before it looks."""
        self._ready.append(settle)
        if not self._waking:
            self._waking = True
            try:
                self._loop.call_soon_threadsafe(self._settle)
            except RuntimeError:  # the loop has ended: nobody waits
                self._ready.clear()

    def _settle(self) -> None:
        self._waking = False
        while self._ready:
            self._ready.popleft()()


async def in_thread(call: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
    """What a blocking call of the driver returns, from a thread that does not keep the process from ending.

    Where nobody waits for the result any more, ``undo`` is called with it, in a thread of its own.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(cast(T, result)) if error is None else future.set_exception(error)
        elif error is None and undo is not None:
            threading.Thread(target=undo, args=(result,), name="cassandra-undo", daemon=True).start()

    def work() -> None:
        result, error = None, None
        try:
            result = call()
        except BaseException as raised:  # noqa: BLE001 - it is raised where the result is awaited
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop has ended: nobody waits
            if error is None and undo is not None:
                undo(cast(T, result))

    threading.Thread(target=work, name="cassandra-call", daemon=True).start()
    return await future


@lru_cache(maxsize=512)
def _row_maker(columns: tuple[str, ...]) -> Callable[[Any], Any]:
    make: Any = namedtuple  # noqa: PYI024 - the columns are known only now
    maker: Callable[[Any], Any] = make("Row", columns, rename=True)._make  # conditional writes answer an "[applied]"
    return maker


def named_rows(columns: list[str], rows: list[tuple[Any, ...]]) -> list[Any]:
    """The driver's row factory: named tuples, whose class is made once for each set of columns."""
    return list(map(_row_maker(tuple(columns)), rows))
