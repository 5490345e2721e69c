"""Knowing who leads, and learning at once when somebody else does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import structlog

from orchestration.membership.ports import Leader

_log = structlog.get_logger(__name__)


class Leaders:
    """The address of whoever leads: as elected, or as configured.

    Guarantee: while nobody can be asked the last one known stays: it may lead on, and its store knows whether it does.
    """

    def __init__(self, fixed: str = "") -> None:
        """``fixed``: an address that does not change."""
        self._address = fixed
        self._changed = asyncio.Event()
        self.changes = 0
        """How often somebody else was heard of, or nobody."""

    @property
    def address(self) -> str:
        """``HOST:PORT``; empty while nobody is known to lead."""
        return self._address

    async def follow(self, leaders: AsyncIterator[Leader | None]) -> None:
        """Take in who leads, for as long as that is told."""
        async for leader in leaders:
            address = "" if leader is None else leader.candidate
            if address != self._address:
                _log.info("leader", address=address or "nobody", before=self._address or "nobody")
                self._address = address
                self.changes += 1
                changed, self._changed = self._changed, asyncio.Event()
                changed.set()

    async def known(self) -> str:
        """The address, as soon as there is one."""
        while not self._address:
            await self._changed.wait()
        return self._address

    async def other_than(self, address: str) -> None:
        """Return when ``address`` does not lead any more."""
        while self._address == address:
            await self._changed.wait()
