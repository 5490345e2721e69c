"""What every server does in its process: it begins its logs, and waits for the signal to stop."""

import asyncio
import os
import resource
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

import structlog

from orchestration.access.tokens import read_token
from orchestration.settings import Settings
from orchestration.telemetry.logs import configure_logs

_log = structlog.get_logger(__name__)


def begin_serving(settings: Settings, tokens: Iterable[Path | None], file: Path | None = None) -> None:
    """Logs, without what these files keep secret, to standard error and ``file``; as many files as may be open."""
    configure_logs(
        settings.telemetry,
        file=file,
        secrets=[read_token(token) for token in set(tokens) if token is not None],
        fields={"mind": settings.mind.name},
    )
    _log.info("open_files", limit=more_files())


async def asked_to_stop(kill: Callable[[], None] = lambda: None) -> None:
    """Wait for Ctrl-C, SIGTERM or SIGHUP. A second one calls ``kill`` and ends the process at once (exit code 1)."""
    stopping, loop = asyncio.Event(), asyncio.get_running_loop()

    def asked(number: int) -> None:
        if stopping.is_set():
            kill()
            os._exit(1)
        _log.info("stopping", signal=signal.Signals(number).name)
        stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, asked, number)
    await stopping.wait()


def more_files() -> int:
    """Raise the soft limit of open files to the hard one; what it is then. Each connection takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):  # an unlimited hard limit that the kernel does not grant
            return soft
    return hard
