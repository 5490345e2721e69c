"""Waiting for something to become true."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Return as soon as it is true. Raises ``TimeoutError`` when it does not become so."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for does not know that it is
            await asyncio.sleep(0.002)
