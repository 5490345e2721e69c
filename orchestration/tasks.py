"""Tasks that run beside others: the first of several, and those nobody waits for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

_log = structlog.get_logger(__name__)


async def first_of(*waits: Awaitable[Any]) -> None:
    """Return when one of them is done; the others are cancelled."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def log_failure(task: asyncio.Task[Any]) -> None:
    """Log what a task failed with, by the task's name, once it is done; to be its callback."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("task_failed", task=task.get_name(), exc_info=error)


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Run it beside, until the block ends. What it fails with is logged."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(log_failure)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
