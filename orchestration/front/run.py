"""``run_front``: a front from start to stop in this process, with its signals."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import structlog

from orchestration.access.descriptors import more_files
from orchestration.access.tokens import read_token
from orchestration.front.front import Addresses, Front
from orchestration.settings import Settings
from orchestration.telemetry.logs import configure_logs

_log = structlog.get_logger(__name__)


def run_front(settings: Settings, greet: Callable[[Addresses], None]) -> int:
    """Serve until Ctrl-C or SIGTERM; the exit code. ``greet`` is told where, once it listens.

    The first signal stops it in good order: what is under way is acknowledged, readers are told. A second one ends it
    at once (exit code 1). Logs go to standard error alone: a front keeps nothing. Raises what ``Front.start`` raises.
    """
    files = {settings.gateway.token_file, settings.front.upstream.token_file} - {None}
    configure_logs(
        settings.telemetry,
        secrets=[read_token(file) for file in files if file is not None],
        fields={"mind": settings.mind.name},
    )
    _log.info("open_files", limit=more_files())
    return asyncio.run(_run(Front(settings), greet))


async def _run(front: Front, greet: Callable[[Addresses], None]) -> int:
    stopping = asyncio.Event()

    def asked(number: int) -> None:
        if stopping.is_set():
            os._exit(1)
        _log.info("stopping", signal=signal.Signals(number).name)
        stopping.set()

    greet(await front.start())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, asked, number)
    try:
        await stopping.wait()
    finally:
        await front.stop()
    return 0
