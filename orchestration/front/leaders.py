"""Knowing who leads, and learning at once when somebody else does."""

import asyncio
from collections.abc import AsyncIterator

import structlog

from orchestration.gateway.auth import is_loopback, split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.membership.ports import Leader

_log = structlog.get_logger(__name__)


class Leaders:
    """The address of whoever leads: as elected, or as configured.

    Guarantees: while nobody can be asked the last one known stays: it may lead on, and its store knows whether it does.
    A front is never told that it leads itself, as it is where a host gives out an address of the loopback.
    """

    def __init__(self, fixed: str = "") -> None:
        """``fixed``: an address that does not change."""
        self._address = fixed
        self._changed = asyncio.Event()
        self.own = ""
        """Where this front listens for gRPC itself, once it does."""
        self.changes = 0
        """How often somebody else was heard of, or nobody."""

    @property
    def address(self) -> str:
        """``HOST:PORT``; empty while nobody is known to lead."""
        return "" if is_same(self._address, self.own) else self._address

    @property
    def why_not(self) -> str:
        """Why nobody is known to lead."""
        if self._address and not self.address:
            return (
                f"{self._address}, which leads, is where this front listens itself: give the mind's host an address"
                " that others reach it at (host.advertise)"
            )
        return "nobody is known to lead"

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
        while not self.address:
            await self._changed.wait()
        return self._address

    async def other_than(self, address: str) -> None:
        """Return when ``address`` does not lead any more."""
        while self._address == address:
            await self._changed.wait()


def is_same(address: str, own: str) -> bool:
    """Whether a connection to ``address`` from here ends at whoever listens on ``own``, as far as addresses tell."""
    if not address or not own:
        return False
    try:
        (host, port), (listens, at) = split_listen(address), split_listen(own)
    except UnsafeListen:  # a name that somebody else gave it
        return False
    everywhere = listens in {"0.0.0.0", "::"}  # noqa: S104 - recognised, not bound
    return (
        port == at and port != 0 and (host == listens or (is_loopback(host) and (everywhere or is_loopback(listens))))
    )
