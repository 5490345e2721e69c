"""From the driver's futures to asyncio: the one place that knows both."""

import asyncio
import contextlib
import threading
from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, cast

from cassandra.cluster import ResponseFuture, ResultSet

T = TypeVar("T")


class AnswerPage(NamedTuple):
    """One page of an answer."""

    rows: list[Any]
    """Named tuples."""
    state: bytes | None
    """Where the next page begins; None after the last."""
    agreed: bool = True
    """After a change of the schema: whether all nodes know it."""


def carry(
    loop: asyncio.AbstractEventLoop, send: Callable[[], ResponseFuture], ended: Callable[[], None]
) -> asyncio.Future[AnswerPage]:
    """A future for the first page of what the request that ``send`` sends is answered, or the driver's error.

    Guarantees: ``ended`` is called once for every request, when the driver is done with it, also where nobody waits for
    its answer any more; a future that was cancelled stays so; after the loop has ended answers are dropped.
    """
    try:
        request = send()
    except BaseException:
        ended()
        raise
    future: asyncio.Future[AnswerPage] = loop.create_future()

    def settle(rows: list[Any] | None, error: BaseException | None) -> None:
        ended()
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            state = ResultSet(request, rows).paging_state
            future.set_result(AnswerPage(rows or [], state, bool(request.is_schema_agreed)))

    def told(rows: list[Any] | None, error: BaseException | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody waits
            loop.call_soon_threadsafe(settle, rows, error)

    request.add_callbacks(lambda rows: told(rows, None), lambda error: told(None, error))
    return future


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
