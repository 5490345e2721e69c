"""The population of a mind, for a client: who was born, who may be, and orders."""

from __future__ import annotations

import getpass
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING

from environment.population import GrowthEvent, Member
from orchestration.growth.admin import OrderOutcome, PopulationPage
from orchestration.pb.submind.v1 import growth_pb2 as pb
from orchestration.schema.convert import decode

if TYPE_CHECKING:
    from orchestration.client.mind import MindClient

_PAGE = 1000


class GrowthClient:
    """What ``MindClient.growth`` offers. Orders are repeated while the mind is away: each comes about once.

    Raises ``ClientError`` where a proposal waits no more, or growth is frozen.
    """

    def __init__(self, mind: MindClient, by: str | None = None) -> None:
        """``by``: who orders, as it stands in the audit log; this user on this machine when None."""
        self._mind = mind
        self._by = by or caller()

    async def population(self, *, living: bool = False) -> PopulationPage:
        """As it is, with all members, page by page; ``living``: with those that live."""
        asked, members, token = "GrowthService/GetPopulation", list[Member](), ""
        while True:
            found = await self._mind.one(asked, PopulationPage, living_only=living, page_token=token)
            members += found.members
            token = found.next_page_token
            if not token:
                return replace(found, members=tuple(members))

    async def events(self, after: int = 0) -> list[GrowthEvent]:
        """The audit log after a number, all of it."""
        found: list[GrowthEvent] = []
        while True:
            answer = await self._mind.ask("GrowthService/ListGrowth", pb.ListGrowthRequest(after=after, limit=_PAGE))
            found += [decode(GrowthEvent, event) for event in answer.events]
            if not answer.events or found[-1].seq >= answer.head:
                return found
            after = found[-1].seq

    def watch(self, after: int = 0) -> AsyncIterator[GrowthEvent]:
        """The audit log after a number and as it grows, without end, gap or repeat."""
        return self._mind.each("GrowthService/WatchGrowth", GrowthEvent, after=after)

    async def freeze(self, reason: str = "") -> OrderOutcome:
        """Stop all growth at once."""
        return await self._give("Freeze", reason)

    async def thaw(self, reason: str = "") -> OrderOutcome:
        """Let growth go on."""
        return await self._give("Thaw", reason)

    async def approve(self, proposal: int, reason: str = "") -> OrderOutcome:
        """Permit what a waiting proposal asks for, once."""
        return await self._give("Approve", reason, proposal=str(proposal))

    async def reject(self, proposal: int, reason: str = "") -> OrderOutcome:
        """Refuse a waiting proposal."""
        return await self._give("Reject", reason, proposal=str(proposal))

    async def _give(self, name: str, reason: str, **about: str) -> OrderOutcome:
        order = pb.Order(by=self._by, reason=reason)
        return await self._mind.one(f"GrowthService/{name}", OrderOutcome, order=order, **about)


def caller() -> str:
    """Who orders something from here: this user on this machine."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in many containers
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
