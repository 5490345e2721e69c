"""``run_host``: a mind from start to stop in this process, with its signals."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from orchestration.access.descriptors import more_files
from orchestration.access.tokens import read_token
from orchestration.host.host import Host
from orchestration.settings import Settings
from orchestration.telemetry.logs import configure_logs

_log = structlog.get_logger(__name__)

Beside = Callable[[Host], Awaitable[None]]
"""Something that runs beside a host once it listens, for example showing its stream."""


def run_host(
    settings: Settings, data_dir: Path, *, beside: Beside | None = None, wiring: str = "orchestration.wiring"
) -> int:
    """Run a mind until Ctrl-C or SIGTERM; the exit code.

    The first signal stops it in good order: readers are told, everybody saves. A second one ends it at once (exit
    code 1), with all its processes. ``beside`` runs while it runs. Raises what ``Host.start`` raises.
    """
    token = settings.gateway.token_file
    configure_logs(
        settings.telemetry,
        file=data_dir / "submind.log",
        secrets=[read_token(token)] if token is not None else [],
        fields={"mind": settings.mind.name},
    )
    _log.info("open_files", limit=more_files())
    return asyncio.run(_run(Host(settings, data_dir, wiring=wiring), beside))


async def _run(host: Host, beside: Beside | None) -> int:
    stopping = asyncio.Event()

    def asked(number: int) -> None:
        if stopping.is_set():
            host.kill()
            os._exit(1)
        _log.info("stopping", signal=signal.Signals(number).name)
        stopping.set()

    await host.start()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, asked, number)
    company = asyncio.create_task(_keep_company(host, beside), name="beside") if beside else None
    try:
        await stopping.wait()
    finally:
        if company is not None:
            company.cancel()
            await asyncio.gather(company, return_exceptions=True)
        await host.stop()
    return 0


async def _keep_company(host: Host, beside: Beside) -> None:
    try:
        await beside(host)
    except Exception:  # noqa: BLE001 - the mind goes on without company
        _log.exception("beside_failed")
