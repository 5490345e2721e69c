"""A value that several readers follow: each sees the newest, and may miss those between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Holds one value at a time, so that a slow reader costs nothing and never lags behind by more than one."""

    def __init__(self) -> None:
        self._value: tuple[T] | None = None
        self._count = 0
        self._moved = asyncio.Event()
        self._closed = False

    def set(self, value: T) -> None:
        """Replace the value; nobody is told of one that equals the last."""
        if self._value is not None and self._value[0] == value:
            return
        self._value = (value,)
        self._count += 1
        self._wake()

    def close(self) -> None:
        """End every reader."""
        self._closed = True
        self._wake()

    async def follow(self) -> AsyncIterator[T]:
        """The value as soon as there is one, and again whenever it is another; ends on ``close``."""
        seen = 0
        while not self._closed:
            if self._value is not None and self._count > seen:
                seen = self._count
                yield self._value[0]
            else:
                await self._moved.wait()

    def _wake(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
