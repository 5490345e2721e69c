"""Telling others who lives in this mind, what about, and where."""

from __future__ import annotations

import asyncio
import socket

import structlog

from environment.errors import SubliminalError
from environment.messages import SubmindState
from environment.ports import RegistryStore
from orchestration.membership.errors import CoordinationError
from orchestration.membership.ports import Directory, Listing

_log = structlog.get_logger(__name__)


async def keep_listed(directory: Directory, registry: RegistryStore, address: str, every: float) -> None:
    """List every submind of a mind that this host leads, at ``address``, until cancelled; then take them off.

    What it says is what they last reported, at most ``every`` seconds ago.
    """
    listed: dict[str, Listing] = {}
    try:
        while True:
            try:
                wanted = await _listings(registry, address)
                for name in listed.keys() - wanted.keys():
                    await directory.withdraw(name)
                    del listed[name]
                for name, listing in wanted.items():
                    if listed.get(name) != listing:
                        await directory.announce(listing)
                        listed[name] = listing
            except (SubliminalError, CoordinationError) as error:
                _log.warning("not_listed", reason=str(error))
            await asyncio.sleep(every)
    finally:
        for name in listed:
            await _withdraw(directory, name)


async def _listings(registry: RegistryStore, address: str) -> dict[str, Listing]:
    gone = {SubmindState.STOPPED, SubmindState.QUARANTINED}
    return {
        report.name: Listing(report.name, report.topics, address, socket.gethostname())
        for report in await registry.reports()
        if report.state not in gone
    }


async def _withdraw(directory: Directory, name: str) -> None:
    try:
        await directory.withdraw(name)
    except CoordinationError:  # its lease will end
        return
