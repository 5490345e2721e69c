"""No coordination: one process is the leader."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from environment.messages import Instant
from orchestration.clock import wall
from orchestration.membership.errors import BadCoordination, NotLeading
from orchestration.membership.ports import (
    ConfigurationVersion,
    Leader,
    LeaderTerm,
)


class AloneTerm:
    """A term that only its own end ends."""

    token: int | None = None
    """None: the store counts its epochs by itself."""

    def __init__(self, candidate: str) -> None:
        self.candidate = candidate
        self.lost = asyncio.Event()
        self.reason = ""

    def leads(self) -> bool:
        return not self.lost.is_set()

    async def advance(self, above: int) -> int:
        if self.lost.is_set():
            raise NotLeading(self.candidate, self.reason)
        return above + 1

    def end(self, reason: str) -> None:
        """End the term for ``reason``: ``lost`` is set. A second end changes nothing."""
        if not self.lost.is_set():
            self.reason = reason
            self.lost.set()


class AloneConfiguration:
    """What file and environment say; it changes with a restart."""

    async def current(self) -> ConfigurationVersion:
        return ConfigurationVersion()

    async def change(
        self,
        values: Mapping[str, Any],  # noqa: ARG002 - nothing of it can be done
        *,
        by: str,  # noqa: ARG002 - as above
        at: Instant,  # noqa: ARG002 - as above
        reset: Collection[str] = (),  # noqa: ARG002 - as above
        base: int | None = None,  # noqa: ARG002 - as above
    ) -> ConfigurationVersion:
        raise BadCoordination(
            "settings change without a restart only where the mind is coordinated (--coordination etcd://HOST:PORT):"
            " change its file, and start it again"
        )

    async def history(self, limit: int = 50) -> list[ConfigurationVersion]:  # noqa: ARG002 - there is none
        return []

    async def watch(self) -> AsyncIterator[ConfigurationVersion]:
        yield ConfigurationVersion()
        await asyncio.Event().wait()


class Alone:
    """``Coordination`` of a process that has nobody to agree with."""

    address = "alone"

    def __init__(self) -> None:
        self.configuration = AloneConfiguration()
        self._terms: list[AloneTerm] = []
        self._since: Instant = 0.0

    @asynccontextmanager
    async def leadership(self, candidate: str) -> AsyncIterator[LeaderTerm]:
        term = AloneTerm(candidate)
        self._terms.append(term)
        self._since = wall()
        try:
            yield term
        finally:
            term.end("it resigned")
            with suppress(ValueError):
                self._terms.remove(term)

    async def leader(self) -> Leader | None:
        return Leader(self._terms[-1].candidate, 0, self._since) if self._terms else None

    async def leaders(self) -> AsyncIterator[Leader | None]:
        yield await self.leader()
        await asyncio.Event().wait()

    async def figures(self) -> Mapping[str, float]:
        return {}

    async def close(self) -> None:
        for term in self._terms:
            term.end("the coordination was closed")
