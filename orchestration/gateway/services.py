"""Reads of the mind: its stream, its environment, its state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol

import grpc

from environment.messages import Connection, Instant, StreamEntry, SubmindReport, Trace
from orchestration.gateway import decode, encode
from orchestration.gateway.binding import Guard, both_streams, server_stream, service, unary
from orchestration.gateway.errors import InvalidRequest, Unknown
from orchestration.gateway.forwarding import ForwardService
from orchestration.gateway.intake import Intake
from orchestration.gateway.uploads import PerceptionService
from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, forwarding_pb2, mind_pb2, perception_pb2
from orchestration.view.changes import ChangeFilter, ChangePage, ChangeTail
from orchestration.view.pages import Page
from orchestration.view.tail import EntryFilter

if TYPE_CHECKING:
    from environment.lineage import Explanation
    from environment.search import Hit, SearchFilters
    from orchestration.view.status import MindStatus

_K = 10
_PAGE = 100


class Tail(Protocol):
    """What ``Watch`` follows: ``orchestration.view.tail.StreamTail``."""

    def follow(self, from_seq: int = 0, wants: EntryFilter = ...) -> AsyncIterator[StreamEntry]: ...


class View(Protocol):
    """What the other reads ask: ``orchestration.view.mind.MindView``."""

    def now(self) -> Instant: ...

    async def status(self) -> MindStatus: ...

    async def subminds_page(self, size: int = 0, token: str = "") -> Page[SubmindReport]: ...

    async def connections_page(self, owner: str = "", size: int = 0, token: str = "") -> Page[Connection]: ...

    async def changes(self, wants: ChangeFilter, limit: int, before: str) -> ChangePage: ...

    @property
    def change_tail(self) -> ChangeTail: ...

    async def trace(self, trace_id: str) -> Sequence[Trace]: ...

    async def explain(self, id_or_seq: str) -> Explanation: ...

    async def search(self, text: str, k: int, filters: SearchFilters) -> Sequence[Hit]: ...


class ConsciousnessService:
    """``submind.v1.ConsciousnessService``."""

    def __init__(self, tail: Tail, view: View) -> None:
        self._tail = tail
        self._view = view

    async def watch(self, request: consciousness_pb2.WatchRequest) -> AsyncIterator[consciousness_pb2.WatchResponse]:
        """The stream from ``from_seq`` on, in order, as fast as the reader takes it; nothing is kept for slow ones."""
        async for entry in self._tail.follow(request.from_seq, decode.entry_filter(request.filter)):
            yield consciousness_pb2.WatchResponse(entry=encode.entry(entry))

    async def explain(self, request: consciousness_pb2.ExplainRequest) -> consciousness_pb2.ExplainResponse:
        """The lineage of an id. Raises ``UnknownId``."""
        return consciousness_pb2.ExplainResponse(explanation=encode.explanation(await self._view.explain(request.id)))


class EnvironmentService:
    """``submind.v1.EnvironmentService``; salience is told as of the mind time of the answer."""

    def __init__(self, view: View) -> None:
        self._view = view

    async def search(self, request: environment_pb2.SearchRequest) -> environment_pb2.SearchResponse:
        """Traces near a text, nearest first."""
        hits = await self._view.search(request.text, request.k or _K, decode.search_filters(request.filter))
        now = self._view.now()
        return environment_pb2.SearchResponse(hits=[encode.hit(hit, now) for hit in hits])

    async def get_trace(self, request: environment_pb2.GetTraceRequest) -> environment_pb2.GetTraceResponse:
        """All revisions of a trace. Raises ``Unknown``."""
        revisions = await self._view.trace(request.id)
        if not revisions:
            raise Unknown("trace", request.id)
        now = self._view.now()
        return environment_pb2.GetTraceResponse(revisions=[encode.trace(trace, now) for trace in revisions])


class MindService:
    """``submind.v1.MindService``."""

    def __init__(self, view: View) -> None:
        self._view = view

    async def get_status(self, _: mind_pb2.GetStatusRequest) -> mind_pb2.GetStatusResponse:
        """How the mind is."""
        return mind_pb2.GetStatusResponse(status=encode.status(await self._view.status()))

    async def list_subminds(self, request: mind_pb2.ListSubmindsRequest) -> mind_pb2.ListSubmindsResponse:
        """What each actor last said of itself, a page of it. Raises ``InvalidRequest`` for a token that is none."""
        try:
            page = await self._view.subminds_page(request.page_size, request.page_token)
        except ValueError as error:
            raise InvalidRequest("page_token", str(error)) from None
        reports = [encode.report(one) for one in page.items]
        return mind_pb2.ListSubmindsResponse(subminds=reports, next_page_token=page.next)

    async def list_connections(self, request: mind_pb2.ListConnectionsRequest) -> mind_pb2.ListConnectionsResponse:
        """The registries, a page of them. Raises ``InvalidRequest`` for a token that is none."""
        try:
            page = await self._view.connections_page(request.owner, request.page_size, request.page_token)
        except ValueError as error:
            raise InvalidRequest("page_token", str(error)) from None
        connections = [encode.connection(one) for one in page.items]
        return mind_pb2.ListConnectionsResponse(connections=connections, next_page_token=page.next)

    async def list_connection_changes(
        self, request: mind_pb2.ListConnectionChangesRequest
    ) -> mind_pb2.ListConnectionChangesResponse:
        """A page of the history of connections. Raises ``InvalidRequest`` for a ``before`` that is no mark."""
        wants = decode.change_filter(request.filter)
        try:
            page = await self._view.changes(wants, request.limit or _PAGE, request.before)
        except ValueError as error:
            raise InvalidRequest("before", str(error)) from None
        return mind_pb2.ListConnectionChangesResponse(
            changes=[encode.change(change) for change in page.changes], older=page.older
        )

    async def watch_connection_changes(
        self, request: mind_pb2.WatchConnectionChangesRequest
    ) -> AsyncIterator[mind_pb2.WatchConnectionChangesResponse]:
        """The history as it is written. Raises ``InvalidRequest`` for an ``after`` that is no mark."""
        following = self._view.change_tail.follow(decode.change_filter(request.filter), request.after)
        try:
            async with aclosing(following) as batches:
                async for batch in batches:
                    for change in batch:
                        yield mind_pb2.WatchConnectionChangesResponse(change=encode.change(change))
        except ValueError as error:
            raise InvalidRequest("after", str(error)) from None


PERCEPTION = "submind.v1.PerceptionService"
CONSCIOUSNESS = "submind.v1.ConsciousnessService"
ENVIRONMENT = "submind.v1.EnvironmentService"
MIND = "submind.v1.MindService"
FORWARD = "submind.v1.ForwardService"
NAMES = (PERCEPTION, CONSCIOUSNESS, ENVIRONMENT, MIND, FORWARD)


def services(guard: Guard, intake: Intake, tail: Tail, view: View) -> list[grpc.GenericRpcHandler[Any, Any]]:
    """Every method of every service, by its name in the schema."""
    perception, forward = PerceptionService(intake, guard), ForwardService(intake, guard)
    consciousness = ConsciousnessService(tail, view)
    environment = EnvironmentService(view)
    mind = MindService(view)
    return [
        service(
            PERCEPTION,
            {
                "Perceive": unary(guard, perception_pb2.PerceiveRequest, perception.perceive, checked=False),
                "PerceiveStream": both_streams(guard, perception.perceive_stream),
            },
        ),
        service(
            FORWARD,
            {
                "Forward": both_streams(guard, forward.forward),
                "Allow": unary(guard, forwarding_pb2.AllowRequest, forward.allow),
            },
        ),
        service(
            CONSCIOUSNESS,
            {
                "Watch": server_stream(guard, consciousness_pb2.WatchRequest, consciousness.watch),
                "Explain": unary(guard, consciousness_pb2.ExplainRequest, consciousness.explain),
            },
        ),
        service(
            ENVIRONMENT,
            {
                "Search": unary(guard, environment_pb2.SearchRequest, environment.search),
                "GetTrace": unary(guard, environment_pb2.GetTraceRequest, environment.get_trace),
            },
        ),
        service(
            MIND,
            {
                "GetStatus": unary(guard, mind_pb2.GetStatusRequest, mind.get_status),
                "ListSubminds": unary(guard, mind_pb2.ListSubmindsRequest, mind.list_subminds),
                "ListConnections": unary(guard, mind_pb2.ListConnectionsRequest, mind.list_connections),
                "ListConnectionChanges": unary(
                    guard, mind_pb2.ListConnectionChangesRequest, mind.list_connection_changes
                ),
                "WatchConnectionChanges": server_stream(
                    guard, mind_pb2.WatchConnectionChangesRequest, mind.watch_connection_changes
                ),
            },
        ),
    ]
