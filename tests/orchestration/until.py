"""Waiting for something to become true, or to come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Return as soon as it is true. Raises ``TimeoutError`` when it does not become so."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for does not know that it is
            await asyncio.sleep(0.002)


async def so_many(stream: AsyncIterator[T], count: int) -> AsyncIterator[T]:
    """So many of what comes, and no look at the next."""
    async for each in stream:
        yield each
        count -= 1
        if not count:
            return
