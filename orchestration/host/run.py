"""``run_host``: a mind from start to stop in this process, with its signals."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from orchestration.host.host import Host
from orchestration.serving import asked_to_stop, begin_serving
from orchestration.settings import Settings

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
    begin_serving(settings, [settings.gateway.token_file], data_dir / "submind.log")
    return asyncio.run(_run(Host(settings, data_dir, wiring=wiring), beside))


async def _run(host: Host, beside: Beside | None) -> int:
    await host.start()
    company = asyncio.create_task(_keep_company(host, beside), name="beside") if beside else None
    try:
        await asked_to_stop(host.kill)
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
