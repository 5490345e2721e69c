"""``run_front``: a front from start to stop in this process, with its signals."""

import asyncio
from collections.abc import Callable

from orchestration.front.front import Addresses, Front
from orchestration.serving import asked_to_stop, begin_serving
from orchestration.settings import Settings


def run_front(settings: Settings, greet: Callable[[Addresses], None]) -> int:
    """Serve until Ctrl-C or SIGTERM; the exit code. ``greet`` is told where, once it listens.

    The first signal stops it in good order: what is under way is acknowledged, readers are told. A second one ends it
    at once (exit code 1). Logs go to standard error alone: a front keeps nothing. Raises what ``Front.start`` raises.
    """
    begin_serving(settings, (settings.gateway.token_file, settings.front.upstream.token_file))
    return asyncio.run(_run(Front(settings), greet))


async def _run(front: Front, greet: Callable[[Addresses], None]) -> int:
    await front.start()
    greet(front.addresses)
    try:
        await asked_to_stop()
    finally:
        await front.stop()
    return 0
