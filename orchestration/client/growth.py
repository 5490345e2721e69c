"""The population of a mind, for a client: who was born, who may be, and orders."""

from __future__ import annotations

import getpass
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from environment.population import GrowthEvent, Member
from orchestration.gateway.growth import decode_event, decode_outcome, decode_population
from orchestration.growth.desk import Outcome, Population
from orchestration.pb.submind.v1 import growth_pb2 as pb

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

    async def population(self, *, living: bool = False) -> Population:
        """As it is, with all members, page by page; ``living``: with those that live."""
        members: list[Member] = []
        token = ""
        while True:
            request = pb.GetPopulationRequest(page_token=token, living_only=living)
            answer = await self._mind.ask("GrowthService/GetPopulation", request, pb.GetPopulationResponse)
            found = decode_population(answer.population)
            members += found.members
            token = answer.next_page_token
            if not token:
                return replace(found, members=tuple(members))

    async def events(self, after: int = 0) -> list[GrowthEvent]:
        """The audit log after a number, all of it."""
        found: list[GrowthEvent] = []
        while True:
            request = pb.ListGrowthRequest(after=after, limit=_PAGE)
            answer = await self._mind.ask("GrowthService/ListGrowth", request, pb.ListGrowthResponse)
            found += [decode_event(event) for event in answer.events]
            if not answer.events or found[-1].seq >= answer.head:
                return found
            after = found[-1].seq

    async def watch(self, after: int = 0) -> AsyncIterator[GrowthEvent]:
        """The audit log after a number and as it grows, without end, gap or repeat."""

        def request() -> pb.WatchGrowthRequest:
            return pb.WatchGrowthRequest(after=after)

        told = self._mind.follow("GrowthService/WatchGrowth", request, pb.WatchGrowthResponse)
        async with aclosing(told) as answers:
            async for answer in answers:
                event = decode_event(answer.event)
                yield event
                after = event.seq

    async def freeze(self, reason: str = "") -> Outcome:
        """Stop all growth at once."""
        request = pb.FreezeRequest(order=self._order(reason))
        return decode_outcome((await self._mind.ask("GrowthService/Freeze", request, pb.FreezeResponse)).outcome)

    async def thaw(self, reason: str = "") -> Outcome:
        """Let growth go on."""
        request = pb.ThawRequest(order=self._order(reason))
        return decode_outcome((await self._mind.ask("GrowthService/Thaw", request, pb.ThawResponse)).outcome)

    async def approve(self, proposal: int, reason: str = "") -> Outcome:
        """Permit what a waiting proposal asks for, once."""
        request = pb.ApproveRequest(proposal=proposal, order=self._order(reason))
        return decode_outcome((await self._mind.ask("GrowthService/Approve", request, pb.ApproveResponse)).outcome)

    async def reject(self, proposal: int, reason: str = "") -> Outcome:
        """Refuse a waiting proposal."""
        request = pb.RejectRequest(proposal=proposal, order=self._order(reason))
        return decode_outcome((await self._mind.ask("GrowthService/Reject", request, pb.RejectResponse)).outcome)

    def _order(self, reason: str) -> pb.Order:
        return pb.Order(by=self._by, reason=reason)


def caller() -> str:
    """Who orders something from here: this user on this machine."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name, as in many containers
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
