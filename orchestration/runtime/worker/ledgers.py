"""What a mind has spent, kept in its own stores: on whichever machine it thinks next, the budget is the same."""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from actors.substrate.budget import LedgerStore, copied
from environment.ports import Stores, WriteState

_PREFIX = "~spent/"
"""What the states of ledgers are called by; no actor can be called so."""


def ledgers_of(process: str) -> tuple[str, ...]:
    """The states that hold what a process has spent: of its substrate, and of an embedder on a server."""
    return f"{_PREFIX}{process}", f"{_PREFIX}{process}/embed"


class StoreLedgers:
    """A ``LedgerStore`` in a mind's states, written under its fence: who leads no more spends no more."""

    def __init__(self, stores: Stores, fence: int) -> None:
        self._stores = stores
        self._fence = fence

    async def load_ledger(self, name: str) -> bytes | None:
        return await self._stores.registry.state(f"{_PREFIX}{name}") or None

    async def save_ledger(self, name: str, state: bytes) -> None:
        await self._stores.commit([WriteState(f"{_PREFIX}{name}", state)], self._fence)


@asynccontextmanager
async def turn(file: Path) -> AsyncIterator[None]:
    """While it lasts no other process of this machine has its turn of the same file."""
    fd = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        await asyncio.to_thread(fcntl.flock, fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


class InheritedLedgers:
    """Ledgers of a child: where it has none yet it begins with its parent's.

    What the parent had spent of the budget that they share since counts for both, so no hour or day holds more than
    the parent alone might have spent.
    """

    def __init__(self, inner: LedgerStore, child: str, parent: str) -> None:
        self._inner = inner
        self._child = child
        self._parent = parent

    async def load_ledger(self, name: str) -> bytes | None:
        own = await self._inner.load_ledger(name)
        if own is not None or name.partition("/")[0] != self._child:
            return own
        parent = self._parent + name.removeprefix(self._child)
        state = await self._inner.load_ledger(parent)
        return copied(state, parent) if state is not None else None

    async def save_ledger(self, name: str, state: bytes) -> None:
        await self._inner.save_ledger(name, state)
