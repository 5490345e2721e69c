"""The client: one connection to one mind."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import replace
from itertools import count
from random import Random, SystemRandom
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
from google.protobuf.message import Message

from actors.answering.answer import Reply
from actors.knowledge.fact import Contradiction, SleepReport
from actors.knowledge.page import Belief, EntityPage, KnownEntity, Neighbourhood
from actors.matters.matter import Matter, OpenLoop
from environment.episodes.recall import RecallFilters, Recollection
from environment.goals import GoalAct, StandingGoal
from environment.lineage import Explanation
from environment.marks import FeedbackMark, MarkKind, MuteScope
from environment.messages import Connection, ConnectionChange, NewPerception, Receipt, StreamEntry, SubmindReport, Trace
from environment.search import Hit, SearchFilters
from orchestration.client.credentials import Credentials
from orchestration.client.erasing import ErasureClient
from orchestration.client.errors import Closed, Unavailable, translate
from orchestration.client.growth import GrowthClient
from orchestration.client.nodes import NodeClient
from orchestration.client.retry_policy import RetryPolicy
from orchestration.client.upload import Upload, message_of
from orchestration.clock import wall
from orchestration.gateway.decode import receipts
from orchestration.gateway.error_answers import BEGAN
from orchestration.pb.submind.v1 import environment_pb2, matters_pb2, perception_pb2
from orchestration.schema.convert import decode, encode
from orchestration.schema.methods import method
from orchestration.schema.trace_messages import decode_hit, decode_trace
from orchestration.view.changes import ANY_CHANGE, ChangeFilter, ChangePage
from orchestration.view.matters import MatterChange
from orchestration.view.status import MindStatus
from orchestration.view.tail import EVERYTHING, EntryFilter

D = TypeVar("D")
_MIB = 1024 * 1024
_OPTIONS = (
    ("grpc.max_receive_message_length", 64 * _MIB),
    ("grpc.max_send_message_length", 64 * _MIB),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


class MindClient:
    """Talks to one mind: ``async with MindClient("127.0.0.1:50051") as mind: ...``.

    Every method may raise a ``ClientError``: ``Denied`` where the token does not allow it, ``Rejected`` where what was
    asked is wrong, ``NotFound``, ``Busy`` and ``Unavailable`` where it may be asked again, ``Closed`` after ``close``.
    Calls that meet a mind that is away or busy are repeated for ``retry_for`` seconds; ``watch`` and ``perceive_many``,
    once they have been connected, for ever. A repeated perception is never taken in twice: each is sent with an
    idempotency key, its own or one made here.
    """

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        credentials: Credentials | None = None,
        timeout: float = 30.0,
        retry_for: float = 10.0,
        chance: Random | None = None,
    ) -> None:
        """``target`` is ``HOST:PORT``, ``timeout`` and ``retry_for`` are seconds; ``chance`` gives keys and pauses.

        ``credentials``: certificates and a token in a file; without, plain text and ``token``.
        """
        self._target = target
        self._credentials = credentials or Credentials(token=token)
        self._timeout = timeout
        self._retry_for = retry_for
        self._chance = chance or SystemRandom()
        self._keys = (f"{self._chance.getrandbits(64):016x}-{number:08x}" for number in count())
        self._open: grpc.aio.Channel | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up for good: what is under way ends with ``Closed``. May be called twice."""
        self._closed = True
        if self._open is not None:
            channel, self._open = self._open, None
            await channel.close(None)

    async def perceive(self, batch: Sequence[NewPerception]) -> list[Receipt]:
        """Tell the mind; the receipts, in order, once all is durable. ``received`` and ``trust`` do not travel."""
        request = perception_pb2.PerceiveRequest(perceptions=[message_of(one) for one in self.keyed(batch)])
        return receipts((await self.ask("PerceptionService/Perceive", request)).receipts)

    def perceive_many(
        self,
        source: AsyncIterable[NewPerception] | Iterable[NewPerception],
        *,
        batch: int = 64,
        window: int = 8,
        linger: float = 0.05,
        refused: Callable[[NewPerception, str], None] | None = None,
    ) -> AsyncIterator[Receipt]:
        """Tell the mind all of ``source``; receipts in its order, as perceptions become durable.

        Reads on only while fewer than ``window`` batches are unanswered. A perception waits at most ``linger`` seconds
        for others to share its batch. One that the mind refuses is handed to ``refused`` with the reason, and the rest
        goes on; without ``refused`` it raises ``Rejected``.
        """
        upload = Upload(self, source, batch=batch, window=window, linger=linger, refused=refused)
        return upload.receipts()

    def watch(self, from_seq: int = 0, wants: EntryFilter = EVERYTHING) -> AsyncIterator[StreamEntry]:
        """The stream of consciousness from ``from_seq`` on (0: only what is new), without end, gap or repeat."""
        return self.each("ConsciousnessService/Watch", StreamEntry, wants, from_seq=from_seq)

    async def explain(self, id_or_seq: str | int) -> Explanation:
        """The lineage of an entry (by number or id), a trace or a perception. Raises ``NotFound``."""
        return await self.one("ConsciousnessService/Explain", Explanation, id=str(id_or_seq))

    async def search(self, text: str, k: int = 10, filters: SearchFilters | None = None) -> list[Hit]:
        """The traces nearest in meaning, nearest first."""
        request = encode(environment_pb2.SearchRequest, filters or SearchFilters(), text=text, k=k)
        return [decode_hit(hit) for hit in (await self.ask("EnvironmentService/Search", request)).hits]

    async def recall(self, text: str, k: int = 10, filters: RecallFilters | None = None) -> list[Recollection]:
        """What was perceived that fits a question or a few words, best first, with reasons."""
        return await self.every("EnvironmentService/Recall", Recollection, filters or RecallFilters(), text=text, k=k)

    async def remember(self, text: str, *, source: str) -> Receipt:
        """Have the mind keep something: a perception of ``source``, labelled ``remember``."""
        now = wall()
        return (await self.perceive([NewPerception(source, now, now, text, labels={"remember": "yes"})]))[0]

    async def question(self, question: str, earlier: Sequence[str] = ()) -> AsyncGenerator[tuple[Reply, str], None]:
        """What is known of a question, and the state of the mind; ``earlier``: the questions that led to it.

        At once by rule, and then in a model's words where it has one: each takes the place of the one before.
        """
        request = environment_pb2.AskRequest(question=question, earlier=earlier)
        async with aclosing(self.follow("EnvironmentService/Ask", request)) as answers:
            async for told in answers:
                yield decode(Reply, told), told.state

    async def matters(
        self, since: float | None = None, *, only_open: bool = False, limit: int = 100
    ) -> tuple[list[Matter], list[OpenLoop]]:
        """Matters that changed since (mind time), open ones first; what is owed, by when it is due."""
        request = encode(matters_pb2.ListMattersRequest, since=since, open=only_open, limit=limit)
        told = await self.ask("MattersService/ListMatters", request)
        return [decode(Matter, one) for one in told.matters], [decode(OpenLoop, one) for one in told.loops]

    async def watch_matters(self, after: int | None = None, *, only_open: bool = False) -> AsyncIterator[MatterChange]:
        """What changes in matters and open loops behind a mark (None: from now on), without end."""
        request = encode(matters_pb2.WatchMattersRequest, after=after, open=only_open)
        async with aclosing(self.follow("MattersService/WatchMatters", request)) as answers:
            async for answer in answers:
                if answer.HasField("change"):
                    yield decode(MatterChange, answer.change, mark=answer.mark)

    async def matter(self, key: str) -> Matter:
        """A matter by its id, or how that begins. Raises ``NotFound``."""
        return await self.one("MattersService/GetMatter", Matter, id=key)

    async def know(self, entity: str, at: float | None = None, known: float | None = None) -> EntityPage:
        """Everything of an entity at a world time (now), by what was learnt until ``known``. Raises ``NotFound``."""
        return await self.one("KnowledgeService/Know", EntityPage, entity=entity, at=at, known=known)

    async def entities(self, text: str = "", limit: int = 20) -> list[KnownEntity]:
        """Those named in some words, or whose names begin so; without words those that were met first latest."""
        return await self.every("KnowledgeService/ListEntities", KnownEntity, text=text, limit=limit)

    async def neighbourhood(self, entity: str, limit: int = 40) -> Neighbourhood:
        """An entity and the nearest to it, at most ``limit``, with the edges among them. Raises ``NotFound``."""
        return await self.one("KnowledgeService/GetNeighbourhood", Neighbourhood, entity=entity, limit=limit)

    async def believe(self, entity: str, relation: str = "") -> list[Belief]:
        """Why something is believed of an entity, down to what was perceived. Raises ``NotFound``."""
        return await self.every("KnowledgeService/Believe", Belief, entity=entity, relation=relation)

    async def correct(self, entity: str, relation: str, value: str = "", by: str = "") -> FeedbackMark:
        """Say what is right; with no value, that nothing said of it is. Raises ``NotFound``."""
        said = {"entity": entity, "relation": relation, "value": value, "by": by}
        return await self.one("KnowledgeService/Correct", FeedbackMark, **said)

    async def contradictions(self, *, settled: bool = False, limit: int = 100) -> list[Contradiction]:
        """What sources deny each other, the latest first; ``settled`` ones as well."""
        return await self.every("KnowledgeService/ListContradictions", Contradiction, all=settled, limit=limit)

    async def goals(self, limit: int = 100) -> list[StandingGoal]:
        """Values, goals, and what is proposed for either."""
        return await self.every("KnowledgeService/ListGoals", StandingGoal, limit=limit)

    async def set_goal(self, goal: str, act: GoalAct, **more: Any) -> StandingGoal:
        """Grant, refuse, hold or drop a goal by its id or words; ``more``: ``layer``, ``weight``, ``by``.

        Raises ``NotFound`` and ``Rejected``.
        """
        return await self.one("KnowledgeService/SetGoal", StandingGoal, goal=goal, act=act, **more)

    async def sleeps(self, limit: int = 1) -> list[SleepReport]:
        """What the mind made of its memory in its sleeps, the latest first."""
        return await self.every("KnowledgeService/ListSleeps", SleepReport, limit=limit)

    async def mark(
        self, target: str, kind: MarkKind, *, of: MuteScope | None = None, until: str = "", line: str = "", by: str = ""
    ) -> FeedbackMark:
        """Say something of an entry or a matter. Raises ``NotFound`` and ``Rejected``."""
        said = {"target": target, "kind": kind, "of": of, "until": until, "line": line, "by": by}
        return await self.one("MattersService/Mark", FeedbackMark, **said)

    async def undo_mark(self, mark: str, by: str = "") -> FeedbackMark:
        """Take back a mark, or the latest of an entry or matter. Raises ``NotFound``."""
        return await self.one("MattersService/UndoMark", FeedbackMark, mark=mark, by=by)

    async def marks(self) -> list[FeedbackMark]:
        """The marks that stand, the latest first."""
        return await self.every("MattersService/ListMarks", FeedbackMark)

    async def trace(self, trace_id: str) -> list[Trace]:
        """All revisions of a trace, oldest first. Raises ``NotFound``."""
        request = environment_pb2.GetTraceRequest(id=trace_id)
        return [decode_trace(trace) for trace in (await self.ask("EnvironmentService/GetTrace", request)).revisions]

    async def status(self) -> MindStatus:
        """How the mind is."""
        return await self.one("MindService/GetStatus", MindStatus)

    async def subminds(self) -> list[SubmindReport]:
        """What each actor last said of itself."""
        return await self.every("MindService/ListSubminds", SubmindReport)

    async def connections(self, owner: str | None = None) -> list[Connection]:
        """All connections, or one submind's; strongest first."""
        found = await self.every("MindService/ListConnections", Connection, owner=owner)
        return sorted(found, key=lambda c: (-c.weight, c.owner, c.topic, c.peer))

    def nodes(self) -> NodeClient:
        """The nodes that the mind lives on, and orders there."""
        return NodeClient(self)

    def erasure(self, by: str = "") -> ErasureClient:
        """Forgetting on request, and legal holds; ``by`` says so."""
        return ErasureClient(self, by)

    def growth(self, by: str | None = None) -> GrowthClient:
        """Who was born, who may be, and orders; ``by`` stands in the audit log, this user where it is None."""
        return GrowthClient(self, by)

    async def changes(self, wants: ChangeFilter = ANY_CHANGE, limit: int = 100, before: str = "") -> ChangePage:
        """What happened to connections, newest first: a page of at most ``limit``, behind ``before``.

        A page may be short and yet have an ``older``.
        """
        return await self.one("MindService/ListConnectionChanges", ChangePage, wants, limit=limit, before=before)

    def watch_changes(self, wants: ChangeFilter = ANY_CHANGE, after: str = "") -> AsyncIterator[ConnectionChange]:
        """What happens to connections behind the mark ``after`` (empty: what is new), without end."""
        return self.each("MindService/WatchConnectionChanges", ConnectionChange, wants, after=after)

    async def one(self, name: str, kind: type[D], /, *made: object, **own: Any) -> D:
        """What a method (``Service/Method``) answers, as one of the mind's own messages.

        Asked with each field from ``own``, or from what was ``made``, as ``encode`` takes them.
        """
        asked = method(name)
        answer = await self.ask(name, encode(asked.request, *made, **own))
        return decode(kind, getattr(answer, asked.answered) if asked.answered else answer)

    async def every(self, name: str, kind: type[D], /, *made: object, **own: Any) -> list[D]:
        """The same of a method that answers with one list, page after page where it has pages."""
        asked = method(name)
        request: Any = encode(asked.request, *made, **own)
        (listed,) = (field.name for field in asked.answer.DESCRIPTOR.fields if field.is_repeated)
        found: list[D] = []
        while True:
            answer = await self.ask(name, request)
            found += [decode(kind, one) for one in getattr(answer, listed)]
            if not getattr(answer, "next_page_token", ""):
                return found
            request.page_token = answer.next_page_token

    async def each(self, name: str, kind: type[D], /, *made: object, **own: Any) -> AsyncGenerator[D, None]:
        """The same of one that answers without end, as it happens."""
        asked = method(name)
        async with aclosing(self.follow(name, encode(asked.request, *made, **own))) as answers:
            async for answer in answers:
                if answer.HasField(asked.answered):
                    yield decode(kind, getattr(answer, asked.answered))

    async def follow(self, name: str, request: Any) -> AsyncGenerator[Any, None]:
        """What a method (``Service/Method``) that streams answers, without end where it has none.

        Asked anew when it breaks off, ``after`` the ``mark`` of the last answer where it has one.
        """
        policy, asked = self.retry_policy(), method(name)
        while True:
            call = asked.on(self.channel)(request, metadata=self.metadata)
            try:
                with self.under_way():
                    if await self.began(call) and not asked.ends:
                        policy.succeeded(for_good=True)
                    async for told in call:
                        yield told
                        if not asked.ends:
                            policy.succeeded(for_good=True)
                            request.after = told.mark
                if asked.ends:
                    return
                await policy.after(Unavailable("UNAVAILABLE", "the server ended the stream"))
            except grpc.aio.AioRpcError as error:
                meaning = translate(error)
                if not isinstance(meaning, Unavailable):
                    raise meaning from error
                await policy.after(meaning)
            finally:
                call.cancel()

    @property
    def channel(self) -> grpc.aio.Channel:
        """The connection, opened at its first use. Raises ``Closed``."""
        if self._closed:
            raise Closed
        if self._open is None:
            self._open = self._credentials.channel(self._target, _OPTIONS)
        return self._open

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with every call."""
        return self._credentials.metadata()

    def retry_policy(self) -> RetryPolicy:
        """For one undertaking."""
        return RetryPolicy(self._chance, self._retry_for)

    def keyed(self, batch: Iterable[NewPerception]) -> list[NewPerception]:
        """The perceptions, each with an idempotency key: its own, or one that nobody else has."""
        return [one if one.key else replace(one, key=next(self._keys)) for one in batch]

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """While a call waits. Raises ``Closed`` where it ended because this client was closed."""
        try:
            yield
        except (asyncio.CancelledError, grpc.aio.UsageError) as error:  # so grpc tells of a channel that was closed
            task = asyncio.current_task()
            if not self._closed or (task is not None and task.cancelling()):
                raise
            raise Closed from error

    @staticmethod
    async def began(call: Any) -> bool:
        """Whether the mind has let a stream begin: it says so first, however long there is nothing else to say."""
        return any(key == BEGAN[0][0] for key, _ in await call.initial_metadata() or ())

    async def ask(self, name: str, request: Message, *, within: float | None = None) -> Any:
        """One question to a method (``Service/Method``) that may be asked again; its answer.

        ``within``: seconds, for one that takes longer than others.
        """
        call = method(name).on(self.channel)
        policy = self.retry_policy()
        while True:
            try:
                with self.under_way():
                    return await call(request, metadata=self.metadata, timeout=within or self._timeout)
            except grpc.aio.AioRpcError as error:
                meaning = translate(error)
                if not isinstance(meaning, Unavailable):
                    raise meaning from error
                await policy.after(meaning)
