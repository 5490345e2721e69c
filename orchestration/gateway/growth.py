"""``submind.v1.GrowthService``: the audit log of growth, and what operators order; and both ways over the wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc

from environment.population import GrowthEvent, GrowthKind, Member
from orchestration.access.caller import CALLER
from orchestration.gateway.binding import Guard, server_stream, service, unary
from orchestration.gateway.decode import instant
from orchestration.gateway.encode import timestamp
from orchestration.gateway.errors import InvalidRequest
from orchestration.growth.desk import GrowthDesk, Outcome, Population
from orchestration.pb.submind.v1 import growth_pb2 as pb

NAME = "submind.v1.GrowthService"
_PAGE = 100
_KINDS = {
    GrowthKind.PROPOSED: pb.GROWTH_KIND_PROPOSED,
    GrowthKind.APPROVED: pb.GROWTH_KIND_APPROVED,
    GrowthKind.REJECTED: pb.GROWTH_KIND_REJECTED,
    GrowthKind.DIVIDED: pb.GROWTH_KIND_DIVIDED,
    GrowthKind.RETIRED: pb.GROWTH_KIND_RETIRED,
    GrowthKind.REFUSED: pb.GROWTH_KIND_REFUSED,
    GrowthKind.FROZEN: pb.GROWTH_KIND_FROZEN,
    GrowthKind.THAWED: pb.GROWTH_KIND_THAWED,
}
_KINDS_SENT = {number: kind for kind, number in _KINDS.items()}


def encode_event(made: GrowthEvent) -> pb.GrowthEvent:
    """An entry of the audit log."""
    return pb.GrowthEvent(
        seq=made.seq,
        at=timestamp(made.at),
        kind=_KINDS[made.kind],
        by=made.by,
        submind=made.submind,
        act=made.act,
        other=made.other,
        topics=made.topics,
        proposal=made.proposal,
        limit=made.limit,
        reason=made.reason,
        growth=made.growth,
    )


def decode_event(sent: pb.GrowthEvent) -> GrowthEvent:
    """An entry of the audit log, as it was sent."""
    return GrowthEvent(
        seq=sent.seq,
        at=instant(sent.at),
        kind=_KINDS_SENT.get(sent.kind, GrowthKind.REFUSED),
        by=sent.by,
        submind=sent.submind,
        act=sent.act,
        other=sent.other,
        topics=tuple(sent.topics),
        proposal=sent.proposal,
        limit=sent.limit,
        reason=sent.reason,
        growth=sent.growth,
    )


def encode_member(made: Member) -> pb.Member:
    """Who was born."""
    return pb.Member(
        name=made.name,
        role=made.role,
        goals=made.goals,
        parent=made.parent,
        generation=made.generation,
        number=made.number,
        born=timestamp(made.born),
        share=made.share,
        topics=made.topics,
        retired=None if made.retired is None else timestamp(made.retired),
        heir=made.heir,
    )


def decode_member(sent: pb.Member) -> Member:
    """Who was born, as it was sent: what is the mind's own did not travel."""
    return Member(
        name=sent.name,
        role=sent.role,
        goals=tuple(sent.goals),
        parent=sent.parent,
        generation=sent.generation,
        number=sent.number,
        born=instant(sent.born),
        share=sent.share,
        topics=tuple(sent.topics),
        retired=instant(sent.retired) if sent.HasField("retired") else None,
        heir=sent.heir,
    )


def encode_population(made: Population) -> pb.Population:
    """The population and its bounds."""
    return pb.Population(
        living=made.living,
        ceiling=made.ceiling,
        births=made.births,
        births_per_hour=made.births_per_hour,
        approval=made.approval,
        frozen=None if made.frozen is None else encode_event(made.frozen),
        waiting=[encode_event(event) for event in made.waiting],
        members=[encode_member(member) for member in made.members],
        head=made.head,
        mind_runs=made.mind_runs,
        born=made.born,
    )


def decode_population(sent: pb.Population) -> Population:
    """The population as it was sent."""
    return Population(
        living=sent.living,
        ceiling=sent.ceiling,
        births=sent.births,
        births_per_hour=sent.births_per_hour,
        approval=sent.approval,
        frozen=decode_event(sent.frozen) if sent.HasField("frozen") else None,
        waiting=tuple(decode_event(event) for event in sent.waiting),
        members=tuple(decode_member(member) for member in sent.members),
        head=sent.head,
        mind_runs=sent.mind_runs,
        born=sent.born or len(sent.members),
    )


def encode_outcome(made: Outcome) -> pb.OrderOutcome:
    """What came of an order."""
    return pb.OrderOutcome(event=None if made.event is None else encode_event(made.event), mind_runs=made.mind_runs)


def decode_outcome(sent: pb.OrderOutcome) -> Outcome:
    """What came of an order, as it was sent."""
    return Outcome(decode_event(sent.event) if sent.HasField("event") else None, sent.mind_runs)


class GrowthService:
    """The methods. Orders raise ``NotWaiting`` and ``Frozen``."""

    def __init__(self, desk: GrowthDesk) -> None:
        self._desk = desk

    async def get_population(self, request: pb.GetPopulationRequest) -> pb.GetPopulationResponse:
        """As it is. Raises ``InvalidRequest`` for a token that is none."""
        try:
            found = await self._desk.population(request.page_size, request.page_token, living=request.living_only)
        except ValueError as error:
            raise InvalidRequest("page_token", str(error)) from None
        return pb.GetPopulationResponse(population=encode_population(found), next_page_token=found.next)

    async def list_growth(self, request: pb.ListGrowthRequest) -> pb.ListGrowthResponse:
        """A stretch of the audit log."""
        events, head = await self._desk.events(request.after, request.limit or _PAGE)
        return pb.ListGrowthResponse(events=[encode_event(event) for event in events], head=head)

    async def watch_growth(self, request: pb.WatchGrowthRequest) -> AsyncIterator[pb.WatchGrowthResponse]:
        """The audit log as it grows."""
        async for event in self._desk.follow(request.after):
            yield pb.WatchGrowthResponse(event=encode_event(event))

    async def freeze(self, request: pb.FreezeRequest) -> pb.FreezeResponse:
        """Stop all growth."""
        outcome = await self._desk.freeze(CALLER.get().signs(request.order.by), request.order.reason)
        return pb.FreezeResponse(outcome=encode_outcome(outcome))

    async def thaw(self, request: pb.ThawRequest) -> pb.ThawResponse:
        """Let growth go on."""
        outcome = await self._desk.thaw(CALLER.get().signs(request.order.by), request.order.reason)
        return pb.ThawResponse(outcome=encode_outcome(outcome))

    async def approve(self, request: pb.ApproveRequest) -> pb.ApproveResponse:
        """Permit a proposal."""
        outcome = await self._desk.approve(request.proposal, CALLER.get().signs(request.order.by), request.order.reason)
        return pb.ApproveResponse(outcome=encode_outcome(outcome))

    async def reject(self, request: pb.RejectRequest) -> pb.RejectResponse:
        """Refuse a proposal."""
        outcome = await self._desk.reject(request.proposal, CALLER.get().signs(request.order.by), request.order.reason)
        return pb.RejectResponse(outcome=encode_outcome(outcome))


def growth_service(guard: Guard, desk: GrowthDesk) -> grpc.GenericRpcHandler[Any, Any]:
    """Every method by its name in the schema."""
    growth = GrowthService(desk)
    return service(
        NAME,
        {
            "GetPopulation": unary(guard, pb.GetPopulationRequest, growth.get_population),
            "ListGrowth": unary(guard, pb.ListGrowthRequest, growth.list_growth),
            "WatchGrowth": server_stream(guard, pb.WatchGrowthRequest, growth.watch_growth),
            "Freeze": unary(guard, pb.FreezeRequest, growth.freeze),
            "Thaw": unary(guard, pb.ThawRequest, growth.thaw),
            "Approve": unary(guard, pb.ApproveRequest, growth.approve),
            "Reject": unary(guard, pb.RejectRequest, growth.reject),
        },
    )
