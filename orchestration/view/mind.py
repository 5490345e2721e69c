"""A mind as seen from outside: everything a reader may ask, answered from its stores alone."""

import asyncio
import math
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from actors.answering.answer import NOTHING_YET, Reply
from actors.answering.episodes import EpisodeFollower
from actors.knowledge.settings import KnowledgeSettings
from actors.matters.matter import LATEST, LOOPS, MATTERS, Matter, MatterState, OpenLoop, as_of
from actors.substrate.ports import Embedder
from environment.ancestry import read_ancestors
from environment.episodes.recall import RecallFilters, Recollection
from environment.following import CollectionFollower
from environment.index.ports import VectorIndex
from environment.lineage import Explanation, NodeKind, explain
from environment.marks import MARKS, FeedbackMark, MarkKind
from environment.messages import Connection, Instant, StreamEntry, SubmindReport, Trace
from environment.ports import Stores
from environment.reembedding import fitted, reembedded
from environment.salience import at as level_at
from environment.search import Hit, SearchFilters
from environment.severity import salience_of
from orchestration.pages import Page, place_of, size_of, token_of
from orchestration.telemetry.tracing.ids import TraceIds, hex_trace
from orchestration.view import status as judged
from orchestration.view.changes import ANY_CHANGE, ChangeFilter, ChangePage, ChangeTail, read_page
from orchestration.view.follower import TraceFollower
from orchestration.view.matters import MatterTail
from orchestration.view.settings import ViewSettings
from orchestration.view.status import MindStatus, PerceptionFigures, ProcessState, StreamFigures, TraceFigures

T = TypeVar("T")
_MINUTE, _HOUR = 60.0, 3600.0
_RATE_ENTRIES, _SAMPLES = 200, 256
_CATCH_UP = 60.0
"""Seconds between two looks at the log for what questions are answered from; who asks has it read up to the end."""
_SILENCE = 3.0
"""Seconds after which who asked is told what is waited for."""
_READING, _WORDING = "still reading what has been perceived", "a model is asked for its words"
_SLOW = "the model is slow"
_OWNERS = 16
"""Subminds whose connections are read at a time."""


def _key(connection: Connection) -> tuple[str, ...]:
    return connection.owner, connection.topic, connection.peer


@dataclass(frozen=True)
class ViewContext:
    """What a view is told by the process it lives in; everything may be left out."""

    version: str = ""
    """Of the software."""
    process: Callable[[], ProcessState | None] | None = None
    """The supervisor's word on the mind process; None when the mind is run elsewhere, or not at all."""
    acknowledged: Callable[[], int] | None = None
    """Perceptions acknowledged since this process started; counted from the log's head when None."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Configured limits by name."""
    limit_hits: Callable[[], Mapping[str, float]] = dict
    """How often this process itself met its limits, by name."""
    substrate: Mapping[str, float | str] = field(default_factory=dict)
    """What the configuration says of the substrate: model names and the like."""
    words: Callable[[str, Reply], Coroutine[Any, Any, Reply]] | None = None
    """Given a question and what was found: the same in the words of a model, where one is configured."""
    interlocutors: Sequence[str] = ()
    """Sources that speak to the mind: what they ask answers nothing."""
    query_prefix: str = ""
    """Put before what somebody looks for, where the embedder tells that from what is found."""
    index: Path | None = None
    """Where what questions are answered from is kept from one process to the next; None: nowhere."""
    knowledge: KnowledgeSettings = field(default_factory=KnowledgeSettings)
    """What the configuration says of packs."""
    goals: Sequence[str] = ()
    """Those of the configuration."""


async def _waited(work: Coroutine[Any, Any, T]) -> AsyncGenerator[T | None, None]:
    """None every few seconds until it is done; then what came of it."""
    task = asyncio.create_task(work)
    try:
        while not (await asyncio.wait([task], timeout=_SILENCE))[0]:
            yield None
        yield task.result()
    finally:
        task.cancel()


class MindView:
    """Reads one mind, running or not, here or in another process.

    Every method may raise ``StoreUnavailable``; nothing is ever written. ``clock`` gives mind time, by which salience
    evaporates; ``wall`` gives wall time, by which reports are dated.
    """

    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        settings: ViewSettings | None = None,
        *,
        mind: str,
        clock: Callable[[], Instant],
        wall: Callable[[], Instant],
        surroundings: ViewContext | None = None,
        shard: Callable[[], VectorIndex] | None = None,
    ) -> None:
        self.stores = stores
        """What is read."""
        self._embedder = embedder
        self.settings = settings or ViewSettings()
        """How much of it may be read at a time."""
        self.mind = mind
        """The mind's name."""
        self._clock, self._wall = clock, wall
        self.around = told = surroundings or ViewContext()
        """What it was told by its process."""
        self._began = wall()
        self._arrivals: deque[tuple[Instant, int]] = deque(maxlen=_SAMPLES)
        self._first_head: int | None = None
        self._known: tuple[Instant, list[SubmindReport]] = (-math.inf, [])
        self._reading = asyncio.Lock()
        self.change_tail = ChangeTail(stores.registry, self.settings.changes)
        """What happens to connections, to be followed."""
        self._follower = TraceFollower(stores.traces, shard or self._new_shard, self.settings, self._placed)
        self.hits: Counter[str] = Counter()
        """How often its own limits were met, by the setting's name."""
        kept, batch = stores.collections, self.settings.follow_batch
        self._matters = CollectionFollower(MATTERS, kept, batch)
        self._loops = CollectionFollower(LOOPS, kept, batch)
        self.matter_tail = MatterTail(kept, self.settings.changes)
        """What changes in matters and open loops, to be followed."""
        self._episodes = EpisodeFollower(
            stores, self.settings.episodes, told.interlocutors, embedder, told.query_prefix, told.index
        )

    def now(self) -> Instant:
        """Mind time."""
        return self._clock()

    async def status(self) -> MindStatus:
        """How the mind is, and why."""
        reports = await self._reports()
        rows = await self.stores.statistics()
        wall = self._wall()
        arrivals = await self._arrived(wall)
        process = self.around.process() if self.around.process else None
        state = judged.condition(
            reports, wall, self.settings.stale_after, process, unheard=self._unheard(reports, arrivals.head)
        )
        told, more = state.reasons[: self.settings.reasons], len(state.reasons) - self.settings.reasons
        return MindStatus(
            mind=self.mind,
            state=state.state,
            version=self.around.version,
            uptime=max(0.0, wall - self._began),
            perceptions=arrivals,
            stream=await self._stream_figures(),
            traces=TraceFigures(live=int(rows.get("traces_live_rows", 0)), total=int(rows.get("traces_rows", 0))),
            tokens=judged.tokens(reports),
            substrate=judged.substrate(reports, self.around.substrate),
            limits=tuple(judged.limit_hits(reports, self.around.limits, {**self.around.limit_hits(), **self.hits})),
            subminds=state.counts,
            reasons=(*told, f"and {more} more, which `submind subminds` lists") if more > 0 else told,
            now=self._clock(),
            lineage=tuple(await read_ancestors(self.stores.collections)),
        )

    async def _reports(self) -> list[SubmindReport]:
        """All reports; where they are many, as they were a moment ago, read once for all who ask."""
        async with self._reading:
            at, known = self._known
            if len(known) <= self.settings.summary_above or self._wall() - at >= self.settings.summary_every:
                known = await self.stores.registry.reports()
                self._known = self._wall(), known
            return known

    async def subminds(self) -> list[SubmindReport]:
        """What each actor last said of itself, by name."""
        return await self.stores.registry.reports()

    async def subminds_page(self, size: int = 0, token: str = "") -> Page[SubmindReport]:
        """The same page by page. Raises ``ValueError`` for a token of another list."""
        (after,) = place_of(token, 1)
        size = size_of(size, self.settings.page)
        found = await self.stores.registry.reports(after, size + 1)
        return Page(found[:size], token_of(found[size - 1].name) if len(found) > size else "")

    async def connections(self, owner: str | None = None) -> list[Connection]:
        """All connections, or one submind's; strongest first."""
        return await self.stores.registry.connections(owner)

    async def connections_page(self, owner: str = "", size: int = 0, token: str = "") -> Page[Connection]:
        """The same page by page: by owner, topic and peer, each page with its strongest first.

        What is there all the time is on one page, whatever comes, goes and changes meanwhile. Raises ``ValueError``.
        """
        place = place_of(token, 3)
        size = size_of(size, self.settings.page)
        found: list[Connection] = []
        async with aclosing(self._registries(owner, place[0])) as registries:
            async for held in registries:
                found += [one for one in held if _key(one) > place]
                if len(found) > size:
                    break
        found.sort(key=_key)
        following = token_of(*_key(found[size - 1])) if len(found) > size else ""
        strongest = sorted(found[:size], key=lambda one: (-one.weight, *_key(one)))
        return Page(strongest, following)

    async def _registries(self, owner: str, first: str) -> AsyncGenerator[list[Connection], None]:
        """The connections of one submind, or of each from ``first`` on, some subminds at a time."""
        registry = self.stores.registry
        if owner:
            yield await registry.connections(owner)
            return
        names = [first] if first else []
        after = first
        while more := await registry.owners(after, _OWNERS):
            names, after = [*names, *more], more[-1]
            for held in await asyncio.gather(*(registry.connections(name) for name in names)):
                yield held
            names = []
        for name in names:
            yield await registry.connections(name)

    async def changes(self, wants: ChangeFilter = ANY_CHANGE, limit: int = 100, before: str = "") -> ChangePage:
        """What happened to connections, newest first: at most ``limit`` that are wanted, behind the mark ``before``.

        Raises ``ValueError`` for a ``before`` that is no mark.
        """
        most = min(limit, self.settings.history_limit)
        return await read_page(self.stores.registry, wants, most, before, self.settings.changes)

    async def entries(self, first: int | None, limit: int) -> tuple[list[StreamEntry], int]:
        """Entries of the stream from a number on, or the newest, at most ``limit``; and the last number there is."""
        log = self.stores.stream
        head, most = await log.head(), min(limit, self.settings.page)
        found = await log.read(max(1, head - most + 1) if first is None else first, most)
        return found, max([head, *(entry.seq for entry in found[-1:])])

    def salience(self, trace: Trace) -> float:
        """0..1: what is left of a trace now."""
        return salience_of(level_at(trace.level, self._clock()))

    async def trace(self, trace_id: str) -> list[Trace]:
        """All revisions of a trace, oldest first; empty when there is none of that id."""
        return await self.stores.traces.revisions(trace_id)

    async def explain(self, id_or_seq: str) -> Explanation:
        """The lineage of an entry (by number or id), a trace or a perception. Raises ``UnknownId``."""
        return _with_traces(await explain(self.stores, id_or_seq), TraceIds(self.mind, 0.0))

    async def search(self, text: str, k: int, filters: SearchFilters | None = None) -> list[Hit]:
        """The live traces nearest in meaning to ``text`` that pass the filters, nearest first, at most ``k``.

        Empty where the embedder knows none of the words.
        """
        (vector,) = await self._embedder.embed([self.around.query_prefix + text])
        most = min(k, self.settings.search_k)
        return await self._follower.search(vector, most, filters or SearchFilters(), self._clock())

    async def ask(self, question: str, earlier: Sequence[str] = ()) -> AsyncGenerator[Reply, None]:
        """What the kept perceptions tell of a question, whatever the mind does; then in words, where somebody has any.

        Each reply takes the place of the one before, until one without ``progress``; one comes at least every few
        seconds. ``earlier``: the questions before it in the same conversation, oldest first.
        """
        found, words = NOTHING_YET, self.around.words
        async with aclosing(_waited(self._episodes.answer(question, earlier, self._clock()))) as told:
            async for reply in told:
                found = reply or found
                words = words if found.parts or reply is None else None
                yield replace(found, progress=_READING if reply is None else _WORDING if words else "")
        if words is not None:
            async with aclosing(_waited(words(question, found))) as told:
                async for reply in told:
                    yield reply or replace(found, progress=_SLOW)

    async def recall(self, text: str, k: int, filters: RecallFilters | None = None) -> list[Recollection]:
        """What was perceived that fits ``text`` by words, meaning, time and who said it, best first, at most ``k``."""
        return await self._episodes.recall(text, min(k, self.settings.search_k), self._clock(), filters)

    async def keep(self) -> None:
        """Have what questions are answered from read before somebody asks, until cancelled."""
        await self._episodes.keep(_CATCH_UP)

    async def matters(
        self, since: Instant | None = None, *, only_open: bool = False, limit: int = 100
    ) -> tuple[list[Matter], list[OpenLoop]]:
        """Matters that changed since, the open ones first, by severity, each with its latest lines; what is owed.

        By when it is due, what nobody gave a time for last.
        """
        now = self._clock()
        kept = await self._matters.current(now)
        over = await self._settled()
        wanted = [_over(as_of(m, now), over) for m in kept.values() if since is None or m.changed >= since]
        wanted = [m for m in wanted if m.open or not only_open]
        wanted.sort(key=lambda m: (not m.open, (-m.severity.rank, -m.salience) if m.open else (-m.changed,), m.id))
        loops = (await self._loops.current(now)).values()
        owed = sorted((one for one in loops if one.open), key=lambda one: (not one.dated, one.due, one.id))
        return [replace(m, lines=m.lines[-LATEST:]) for m in wanted[:limit]], owed[:limit]

    async def matter(self, key: str) -> Matter | None:
        """The one matter whose id is that, or begins so."""
        now = self._clock()
        found = [matter for name, matter in (await self._matters.current(now)).items() if name.startswith(key)]
        return _over(as_of(found[0], now), await self._settled()) if len(found) == 1 else None

    async def marks(self, target: str = "") -> list[FeedbackMark]:
        """The marks that stand, the latest first; of one entry or matter."""
        now, kept = self._clock(), await MARKS.all_of(self.stores.collections)
        found = [mark for mark in kept.values() if mark.stands(now) and target in {"", mark.target}]
        return sorted(found, key=lambda mark: (-mark.at, mark.id))

    async def _settled(self) -> dict[str, Instant]:
        """Matters that somebody marked as settled, and when: the mind may not have heard of it yet."""
        return {mark.matter: mark.at for mark in await self.marks() if mark.kind is MarkKind.SETTLED}

    async def live(self, limit: int = 100) -> list[tuple[Trace, float]]:
        """The live traces that are most salient now, with their salience, the most salient first."""
        if not self._embedder.dim:
            await self._embedder.embed(())  # now it knows
        return await self._follower.most_salient(min(limit, self.settings.live_limit), self._clock())

    async def _arrived(self, wall: Instant) -> PerceptionFigures:
        """Arrivals a minute, from the log's head as it was at the calls of the last minute."""
        head = await self.stores.perceptions.head()
        samples = self._arrivals
        samples.append((wall, head))
        while len(samples) > 2 and samples[1][0] <= wall - _MINUTE:  # noqa: PLR2004 - two make a rate
            samples.popleft()
        since, before = samples[0]
        if self._first_head is None:
            self._first_head = head
        elapsed = wall - since
        return PerceptionFigures(
            acknowledged=self.around.acknowledged() if self.around.acknowledged else head - self._first_head,
            head=head,
            per_minute=(head - before) * _MINUTE / elapsed if elapsed >= 1.0 else 0.0,
        )

    def _unheard(self, reports: list[SubmindReport], head: int) -> bool:
        """Whether perceptions arrived after the last report of any actor, as far as the calls of late can tell."""
        last = max((report.at for report in reports), default=self._began)
        after = next((seen for at, seen in self._arrivals if at > last), head)
        return head > after

    async def _stream_figures(self) -> StreamFigures:
        """Entries in the last hour of mind time, from the newest few of them."""
        head = await self.stores.stream.head()
        entries = await self.stores.stream.read(max(1, head - _RATE_ENTRIES + 1), _RATE_ENTRIES)
        now = self._clock()
        recent = [entry.at for entry in entries if entry.at > now - _HOUR]
        if len(recent) < _RATE_ENTRIES:
            return StreamFigures(head, float(len(recent)))
        return StreamFigures(head, len(recent) * _HOUR / max(now - recent[0], 1.0))

    async def _placed(self, traces: Sequence[Trace]) -> list[Trace]:
        dim = self._embedder.dim
        return [fitted(trace, dim) for trace in await reembedded(traces, self.stores.collections, dim)]

    def _new_shard(self) -> VectorIndex:
        from environment.index.shard import Shard  # noqa: PLC0415 - only who searches waits for FAISS

        return Shard(self._embedder.dim)


def _over(matter: Matter, settled: Mapping[str, Instant]) -> Matter:
    """Settled, where somebody said so and nothing came since."""
    over = matter.open and settled.get(matter.id, -math.inf) >= matter.changed
    return replace(matter, state=MatterState.SETTLED, settled_by=None) if over else matter


def _with_traces(node: Explanation, ids: TraceIds) -> Explanation:
    """The same with the trace id of each perception."""
    trace = hex_trace(ids.of(node.id)) if node.kind is NodeKind.PERCEPTION else ""
    return replace(node, trace_id=trace, children=tuple(_with_traces(child, ids) for child in node.children))
