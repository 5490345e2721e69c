"""What answers the calls of the schema, but for perceptions that come in: one handler each, for gRPC and HTTP."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar

from google.protobuf.message import Message

from actors.submind.budget import Allowance
from environment.episodes.question import asks
from environment.episodes.recall import RecallFilters
from environment.marks import FeedbackMark
from environment.search import SearchFilters
from orchestration.access.caller import CALLER
from orchestration.access.errors import OverAllowance
from orchestration.gateway.erasure import ForgettingService
from orchestration.gateway.errors import Unknown
from orchestration.gateway.knowing import KnowledgeService
from orchestration.gateway.marking import MarkDesk
from orchestration.gateway.packs import PackService
from orchestration.gateway.recalled import RecallDesk
from orchestration.growth.admin import GrowthAdmin
from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, growth_pb2, matters_pb2, mind_pb2, nodes_pb2
from orchestration.schema.convert import decode, encode
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.methods import METHODS
from orchestration.schema.times import seconds_of
from orchestration.schema.trace_messages import encode_hit, encode_trace
from orchestration.view.changes import ChangeFilter
from orchestration.view.matters import MatterFilter
from orchestration.view.mind import MindView
from orchestration.view.tail import EntryFilter, M, StreamTail, Tail

QUESTIONS = "view.questions_per_second"
_AT_ONCE = 10.0
"""Seconds' worth of questions that may come at once."""

Handler: TypeAlias = Callable[[Any], Awaitable[Message | AsyncIterator[Message]]]
"""Answers a request that keeps the schema's rules; a stream is refused before it begins. ``CALLER`` says who asks."""
Handlers: TypeAlias = Mapping[str, Handler]
"""By the name of their method in gRPC. What has none is not offered."""

_K, _LIMIT = 10, 100
_FIRST = 3
"""Of what is recalled, that counts as told."""


A = TypeVar("A", bound=Message)


class NodeOperations(Protocol):
    """Who knows the nodes of the mind: ``orchestration.host.host.NodeAdmin``. Raises ``PlacementError``."""

    async def listed(self) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]: ...

    async def drain(self, node: str, *, undo: bool) -> None: ...

    async def restart(self, name: str) -> Sequence[str]: ...


def handlers(service: str, offered: object) -> dict[str, Handler]:
    """What ``offered`` has for each method of a service: ``get_status`` for ``GetStatus``."""
    return {name: getattr(offered, one.attribute) for name, one in METHODS.items() if one.service == service}


def all_handlers(
    view: MindView,
    tail: StreamTail,
    desk: GrowthAdmin | None = None,
    nodes: NodeOperations | None = None,
    marks: MarkDesk | None = None,
    forgetting: ForgettingService | None = None,
) -> Handlers:
    """Of every service; of growth, nodes and forgetting only where somebody is given to order there."""
    desk_of_marks, recalls = marks or MarkDesk(view), RecallDesk(view)
    found = {
        **handlers("submind.v1.ConsciousnessService", ConsciousnessService(view, tail)),
        **handlers("submind.v1.EnvironmentService", EnvironmentService(view, recalls)),
        **handlers("submind.v1.KnowledgeService", KnowledgeService(view, desk_of_marks, recalls)),
        **handlers("submind.v1.MattersService", MattersService(view, desk_of_marks)),
        **handlers("submind.v1.MindService", MindService(view)),
        **handlers("submind.v1.PackService", PackService(view, desk_of_marks.told)),
    }
    if desk is not None:
        found |= handlers("submind.v1.GrowthService", GrowthService(desk))
    if forgetting is not None:
        found |= handlers("submind.v1.ForgettingService", forgetting)
    if nodes is not None:
        found |= handlers("submind.v1.NodeService", NodeService(nodes))
    return found


@contextmanager
def _naming(field: str) -> Iterator[None]:
    """A ``ValueError`` is about this field of the request."""
    try:
        yield
    except ValueError as error:
        raise InvalidRequest(field, str(error)) from None


async def _followed(
    tail: Tail[Any, M],
    seen: M | None,
    wants: EntryFilter | ChangeFilter | MatterFilter,
    answer: type[A],
    told: str,
) -> AsyncGenerator[A, None]:
    """What a reader wants of a log behind the mark ``seen`` (None: what is new), as fast as it takes that.

    Each is the field ``told`` of an ``answer``.

    First, and where it wants nothing of what came last, the mark alone: where to go on.
    """
    seen = await tail.position() if seen is None else seen
    yield encode(answer, mark=seen)
    async with aclosing(tail.behind(seen)) as batches:
        async for batch in batches:
            for one in batch:
                if wants.matches(one):
                    seen = tail.mark(one)
                    yield encode(answer, **{told: one}, mark=seen)
            if seen != tail.mark(batch[-1]):
                seen = tail.mark(batch[-1])
                yield encode(answer, mark=seen)


class ConsciousnessService:
    """``submind.v1.ConsciousnessService``."""

    def __init__(self, view: MindView, tail: StreamTail) -> None:
        self._view = view
        self._tail = tail

    async def watch(
        self, request: consciousness_pb2.WatchRequest
    ) -> AsyncGenerator[consciousness_pb2.WatchResponse, None]:
        """The stream, in order, as fast as the reader takes it; nothing is kept for slow ones."""
        seen = request.after if request.HasField("after") else request.from_seq - 1
        return _followed(
            self._tail,
            None if seen < 0 else seen,
            decode(EntryFilter, request),
            consciousness_pb2.WatchResponse,
            "entry",
        )

    async def list_entries(
        self, request: consciousness_pb2.ListEntriesRequest
    ) -> consciousness_pb2.ListEntriesResponse:
        """From a number on, or the newest."""
        limit = request.limit or _LIMIT
        entries, head = await self._view.entries(request.from_seq if request.HasField("from_seq") else None, limit)
        return encode(consciousness_pb2.ListEntriesResponse, entries=entries, head=head)

    async def explain(self, request: consciousness_pb2.ExplainRequest) -> consciousness_pb2.ExplainResponse:
        """The lineage of an id. Raises ``UnknownId``."""
        return encode(consciousness_pb2.ExplainResponse, explanation=await self._view.explain(request.id))


class EnvironmentService:
    """``submind.v1.EnvironmentService``; salience is told as of the mind time of the answer."""

    def __init__(self, view: MindView, recalls: RecallDesk) -> None:
        self._view, self._recalls = view, recalls
        self._rate = view.settings.questions_per_second
        self._questions = Allowance(3600 * self._rate, _AT_ONCE * self._rate)

    async def search(self, request: environment_pb2.SearchRequest) -> environment_pb2.SearchResponse:
        """Traces near a text, nearest first."""
        hits = await self._view.search(request.text, request.k or _K, decode(SearchFilters, request))
        return environment_pb2.SearchResponse(hits=[encode_hit(hit) for hit in hits])

    async def recall(self, request: environment_pb2.RecallRequest) -> environment_pb2.RecallResponse:
        """What was perceived that fits some words. Raises ``OverAllowance``."""
        self._allowed()
        found = await self._view.recall(request.text, request.k or _K, decode(RecallFilters, request))
        self._recalls.note(one.perception.id for one in found[:_FIRST])
        return encode(environment_pb2.RecallResponse, episodes=found)

    async def list_traces(self, request: environment_pb2.ListTracesRequest) -> environment_pb2.ListTracesResponse:
        """The live traces that are most salient now."""
        live = await self._view.live(request.limit or _LIMIT)
        return environment_pb2.ListTracesResponse(traces=[encode_trace(*one) for one in live])

    async def get_trace(self, request: environment_pb2.GetTraceRequest) -> environment_pb2.GetTraceResponse:
        """All revisions of a trace. Raises ``Unknown``."""
        revisions = await self._view.trace(request.id)
        if not revisions:
            raise Unknown("trace", request.id)
        told = [encode_trace(one, self._view.salience(one)) for one in revisions]
        return environment_pb2.GetTraceResponse(revisions=told)

    async def ask(self, request: environment_pb2.AskRequest) -> AsyncGenerator[environment_pb2.AskResponse, None]:
        """What is known of a question, and then in a model's words. Raises ``OverAllowance``."""
        self._allowed()
        return self._answers(request)

    async def _answers(self, request: environment_pb2.AskRequest) -> AsyncGenerator[environment_pb2.AskResponse, None]:
        beside = {"state": (await self._view.status()).state.value, "asks": asks(request.question)}
        async with aclosing(self._view.ask(request.question, request.earlier)) as replies:
            async for reply in replies:
                yield encode(environment_pb2.AskResponse, reply, **beside)
                if not reply.progress:
                    self._recalls.note(part.perception.id for part in reply.parts)

    def _allowed(self) -> None:
        if self._rate and not self._questions.take(asyncio.get_running_loop().time()):
            self._view.hits[QUESTIONS] += 1
            raise OverAllowance(CALLER.get().name, QUESTIONS, self._rate, 1 / self._rate)


class MattersService:
    """``submind.v1.MattersService``. Marks raise ``InvalidRequest`` and ``Unknown``."""

    def __init__(self, view: MindView, desk: MarkDesk) -> None:
        self._view, self._desk = view, desk

    async def list_matters(self, request: matters_pb2.ListMattersRequest) -> matters_pb2.ListMattersResponse:
        """Matters that changed since, and open loops."""
        since = seconds_of(request.since) if request.HasField("since") else None
        matters, loops = await self._view.matters(since, only_open=request.open, limit=request.limit or _LIMIT)
        return encode(matters_pb2.ListMattersResponse, matters=matters, loops=loops)

    async def get_matter(self, request: matters_pb2.GetMatterRequest) -> matters_pb2.GetMatterResponse:
        """One matter. Raises ``Unknown``, also for a beginning of several ids."""
        found = await self._view.matter(request.id)
        if found is None:
            raise Unknown("matter", request.id)
        return encode(matters_pb2.GetMatterResponse, matter=found)

    async def watch_matters(
        self, request: matters_pb2.WatchMattersRequest
    ) -> AsyncGenerator[matters_pb2.WatchMattersResponse, None]:
        """Changes of matters and open loops as they happen."""
        return _followed(
            self._view.matter_tail,
            request.after if request.HasField("after") else None,
            decode(MatterFilter, request),
            matters_pb2.WatchMattersResponse,
            "change",
        )

    async def mark(self, request: matters_pb2.MarkRequest) -> matters_pb2.MarkResponse:
        """Say something of an entry or a matter."""
        asked = decode(FeedbackMark, request, id="", at=0.0, text="", until=None, by=CALLER.get().signs(request.by))
        return encode(matters_pb2.MarkResponse, mark=await self._desk.mark(asked, request.line, request.until))

    async def undo_mark(self, request: matters_pb2.UndoMarkRequest) -> matters_pb2.UndoMarkResponse:
        """Take it back."""
        undone = await self._desk.undo(request.mark, CALLER.get().signs(request.by))
        return encode(matters_pb2.UndoMarkResponse, mark=undone)

    async def list_marks(self, request: matters_pb2.ListMarksRequest) -> matters_pb2.ListMarksResponse:
        """What stands."""
        return encode(matters_pb2.ListMarksResponse, marks=await self._desk.standing(request.target))


class MindService:
    """``submind.v1.MindService``. Lists raise ``InvalidRequest`` for a token or a mark that is none."""

    def __init__(self, view: MindView) -> None:
        self._view = view

    async def get_status(self, _: mind_pb2.GetStatusRequest) -> mind_pb2.GetStatusResponse:
        """How the mind is."""
        return encode(mind_pb2.GetStatusResponse, status=await self._view.status())

    async def list_subminds(self, request: mind_pb2.ListSubmindsRequest) -> mind_pb2.ListSubmindsResponse:
        """What each actor last said of itself, a page of it."""
        with _naming("page_token"):
            page = await self._view.subminds_page(request.page_size, request.page_token)
        return encode(mind_pb2.ListSubmindsResponse, subminds=page.items, next_page_token=page.next)

    async def list_connections(self, request: mind_pb2.ListConnectionsRequest) -> mind_pb2.ListConnectionsResponse:
        """The registries, the strongest connections or a page."""
        brief: dict[str, Any] = {"history": ()} if request.HasField("history") and not request.history else {}
        answer = mind_pb2.ListConnectionsResponse()
        if request.HasField("limit"):
            every = await self._view.connections(request.owner or None)
            answer.total, found = len(every), every[: request.limit]
        else:
            with _naming("page_token"):
                page = await self._view.connections_page(request.owner, request.page_size, request.page_token)
            answer.next_page_token, found = page.next, list(page.items)
        answer.connections.extend(encode(mind_pb2.Connection, one, **brief) for one in found)
        return answer

    async def list_connection_changes(
        self, request: mind_pb2.ListConnectionChangesRequest
    ) -> mind_pb2.ListConnectionChangesResponse:
        """A page of the history of connections."""
        with _naming("before"):
            page = await self._view.changes(decode(ChangeFilter, request), request.limit or _LIMIT, request.before)
        return encode(mind_pb2.ListConnectionChangesResponse, page)

    async def watch_connection_changes(
        self, request: mind_pb2.WatchConnectionChangesRequest
    ) -> AsyncGenerator[mind_pb2.WatchConnectionChangesResponse, None]:
        """The history as it grows; each change once, those of one submind in order."""
        if request.after:
            with _naming("after"):  # a mark is the store's: only it can tell
                await self._view.stores.registry.written(request.after, 1)
        return _followed(
            self._view.change_tail,
            request.after or None,
            decode(ChangeFilter, request),
            mind_pb2.WatchConnectionChangesResponse,
            "change",
        )


class GrowthService:
    """``submind.v1.GrowthService``. Orders raise ``NotWaiting`` and ``Frozen``."""

    def __init__(self, desk: GrowthAdmin) -> None:
        self._desk = desk

    async def get_population(self, request: growth_pb2.GetPopulationRequest) -> growth_pb2.GetPopulationResponse:
        """As it is. Raises ``InvalidRequest`` for a token that is none."""
        with _naming("page_token"):
            found = await self._desk.population(request.page_size, request.page_token, living=request.living_only)
        return encode(growth_pb2.GetPopulationResponse, population=found)

    async def list_growth(self, request: growth_pb2.ListGrowthRequest) -> growth_pb2.ListGrowthResponse:
        """A stretch of the audit log, in order: after a number, or the newest."""
        after, limit = request.after, request.limit or _LIMIT
        if not request.HasField("after"):
            _, head = await self._desk.events(0, 0)
            after = max(0, head - limit)
        events, head = await self._desk.events(after, limit)
        return encode(growth_pb2.ListGrowthResponse, events=events, head=head)

    async def watch_growth(
        self, request: growth_pb2.WatchGrowthRequest
    ) -> AsyncGenerator[growth_pb2.WatchGrowthResponse, None]:
        """The audit log as it grows."""
        return self._events(request.after)

    async def _events(self, after: int) -> AsyncGenerator[growth_pb2.WatchGrowthResponse, None]:
        yield growth_pb2.WatchGrowthResponse(mark=after)
        async for event in self._desk.follow(after):
            yield encode(growth_pb2.WatchGrowthResponse, event=event, mark=event.seq)

    async def freeze(self, request: growth_pb2.FreezeRequest) -> growth_pb2.FreezeResponse:
        """Stop all growth."""
        return encode(growth_pb2.FreezeResponse, outcome=await self._desk.freeze(*_signed(request.order)))

    async def thaw(self, request: growth_pb2.ThawRequest) -> growth_pb2.ThawResponse:
        """Let growth go on."""
        return encode(growth_pb2.ThawResponse, outcome=await self._desk.thaw(*_signed(request.order)))

    async def approve(self, request: growth_pb2.ApproveRequest) -> growth_pb2.ApproveResponse:
        """Permit a proposal."""
        outcome = await self._desk.approve(_number(request.proposal), *_signed(request.order))
        return encode(growth_pb2.ApproveResponse, outcome=outcome)

    async def reject(self, request: growth_pb2.RejectRequest) -> growth_pb2.RejectResponse:
        """Refuse a proposal."""
        outcome = await self._desk.reject(_number(request.proposal), *_signed(request.order))
        return encode(growth_pb2.RejectResponse, outcome=outcome)


def _signed(order: growth_pb2.Order) -> tuple[str, str]:
    """Who orders, with the name of the token; and why."""
    return CALLER.get().signs(order.by), order.reason


def _number(proposal: str) -> int:
    return int(proposal.removeprefix("g-"))


class NodeService:
    """``submind.v1.NodeService``. Raises ``PlacementError``."""

    def __init__(self, nodes: NodeOperations) -> None:
        self._nodes = nodes

    async def list_nodes(self, _: nodes_pb2.ListNodesRequest) -> nodes_pb2.ListNodesResponse:
        """Who lives where."""
        nodes, unschedulable = await self._nodes.listed()
        return nodes_pb2.ListNodesResponse(
            nodes=[nodes_pb2.Node(**node) for node in nodes], unschedulable=unschedulable
        )

    async def drain_node(self, request: nodes_pb2.DrainNodeRequest) -> nodes_pb2.DrainNodeResponse:
        """Have a node give up its actors, or take them again."""
        await self._nodes.drain(request.node, undo=request.undo)
        return nodes_pb2.DrainNodeResponse()

    async def restart_submind(self, request: nodes_pb2.RestartSubmindRequest) -> nodes_pb2.RestartSubmindResponse:
        """Have a submind live on in a new process."""
        return nodes_pb2.RestartSubmindResponse(renewed=await self._nodes.restart(request.name))
