"""What the actors of one process commit at the same time is committed together."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from environment.errors import FencedOut, StoreUnavailable
from environment.ports import Stores, Write
from environment.stores.forwarding import ForwardingStores

_MOST = 2048
"""Writes in one commit: what a cluster takes in one go, and what one failure has tried again."""


@dataclass(slots=True)
class _Commit:
    writes: Sequence[Write]
    fence: int
    done: asyncio.Future[None]


class JointStores(ForwardingStores):
    """``Stores`` of many actors in one event loop, which need not wait for each other's commits.

    Guarantees as the stores': a commit is all or nothing and durable once it returns. Those that wait while another
    is under way share the next one; where that fails for a reason of one of them, each is tried by itself, so that
    none fails for another.
    """

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self._waiting: deque[_Commit] = deque()
        self._working: asyncio.Task[None] | None = None
        self.commits = 0
        """Made so far."""

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:
        if not writes:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Commit(writes, fence, done))
        if self._working is None:
            self._working = asyncio.create_task(self._work(), name="joint-commits")
        await done

    async def close(self) -> None:
        if self._working is not None:
            await asyncio.wait([self._working])
        await super().close()

    async def _work(self) -> None:
        try:
            await asyncio.sleep(0)  # whoever else has something to say in this turn
            while self._waiting:
                await self._write(self._take())
        finally:
            self._working = None

    def _take(self) -> list[_Commit]:
        """The first that wait, as far as they are of one epoch and no more than one commit should hold."""
        taken = [self._waiting.popleft()]
        room = _MOST - len(taken[0].writes)
        while self._waiting and self._waiting[0].fence == taken[0].fence and len(self._waiting[0].writes) <= room:
            taken.append(self._waiting.popleft())
            room -= len(taken[-1].writes)
        return taken

    async def _write(self, together: Sequence[_Commit]) -> None:
        self.commits += 1
        error: Exception | None = None
        try:
            await self._stores.commit([write for one in together for write in one.writes], together[0].fence)
        except (StoreUnavailable, FencedOut) as refused:  # it would be refused to each
            error = refused
        except Exception as failed:  # noqa: BLE001 - somebody's write is at fault
            if len(together) > 1:
                for one in together:
                    await self._write([one])
                return
            error = failed
        for one in together:
            if one.done.done():  # whoever asked is gone
                continue
            if error is None:
                one.done.set_result(None)
            else:
                one.done.set_exception(error)
