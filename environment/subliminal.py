"""The subliminal environment: the live traces, their salience, and what subminds may do to them.

Pure: no clock, no chance, no I/O. What must become durable is returned as writes, for the caller to commit before
it answers anybody.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Generic, TypeVar

import msgspec

from environment import crawling, salience
from environment.errors import StaleRevision
from environment.expiry import Expiry
from environment.index.ports import VectorIndex
from environment.index.terms import Terms
from environment.messages import Instant, Level, Thought, Trace, Vector
from environment.ports import Write, WriteLevel, WriteTrace
from environment.reembedding import fitted, keeping, with_vector
from environment.revising import built_on
from environment.settings import EnvironmentSettings

T_co = TypeVar("T_co", covariant=True)

_OTHERS = ""
"""Under this name the subminds beyond ``reinforcers`` are counted together."""

_FIGURES = tuple(
    """traces_posted_total traces_known_total traces_retired_total traces_reinforced_total echoes_total
    diminishings_total traces_revised_total revisions_refused_total limit_hits:capacity""".split()
)


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T_co]):
    """What came of an act."""

    result: T_co
    writes: list[Write] = field(default_factory=list)
    """To be committed, in this order, before anybody is told."""
    rose: list[Trace] = field(default_factory=list)
    """Traces that were posted, raised or revised and are live: what attention wants to hear of."""


class SubliminalEnvironment:
    """The live set of one mind in memory.

    Guarantees: never more than ``capacity`` live traces after any act but ``load``; posting an id again changes
    nothing, while it is live or among the latest ``capacity`` that were retired; a trace's trust never rises;
    every change of a trace's standing is among the writes. Each act costs O(log n) at most, apart from what the
    index by meaning costs.

    How often each submind reinforced a trace is kept in memory while the trace is live, bounded by
    ``reinforcers`` per trace, and goes into ``snapshot``; what a crash loses of it can at most let a submind
    count in full once more, below the same ceiling.
    """

    def __init__(self, settings: EnvironmentSettings, index: VectorIndex, dim: int | None = None) -> None:
        """``dim``: the length of vectors; those of others are of another embedder. None: all are of one."""
        self._settings = settings
        self._dim = dim
        self._strange: dict[str, None] = {}  # live, and near to nothing until they are embedded anew
        self._index = index
        self._terms = Terms(settings.terms, settings.postings, settings.fan_out)
        self._live: dict[str, Trace] = {}
        self._expiry = Expiry()
        self._order: list[str] = []  # for drawing at random
        self._places: dict[str, int] = {}
        self._times: dict[str, dict[str, int]] = {}  # trace, submind, reinforcements
        self._retired: dict[str, WriteLevel] = {}  # how the latest to go stood, oldest first
        self._figures = dict.fromkeys(_FIGURES, 0)

    def configure(self, settings: EnvironmentSettings) -> None:
        """Traces are left, raised, retired and told of by other settings; each keeps the half-life it has."""
        self._settings = settings

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, trace_id: object) -> bool:
        return trace_id in self._live

    def get(self, trace_id: str) -> Trace | None:
        """A live trace as it stands; read its salience with ``salience.at(trace.level, now)``."""
        return self._live.get(trace_id)

    def live(self) -> Iterable[Trace]:
        """All live traces, in no promised order."""
        return self._live.values()

    def figures(self) -> dict[str, float]:
        """Counters, and the number of live traces, by metric name."""
        return {"traces_live": len(self._live), "traces_strange": len(self._strange), **self._figures}

    def strange(self, k: int) -> dict[str, str]:
        """At most ``k`` live traces, by id, whose vectors are of another embedder, with their texts."""
        return {name: self._live[name].thought.text for name, _ in zip(self._strange, range(k), strict=False)}

    def embedded(self, vectors: Mapping[str, Vector]) -> list[Write]:
        """Take up the new vectors of strange traces, by id."""
        writes: list[Write] = []
        for name, vector in vectors.items():
            if name in self._strange:
                del self._strange[name]
                trace = self._live[name] = with_vector(self._live[name], vector)
                self._index_content(trace)
                # What follows the traces learns of it with the level.
                writes += [keeping(trace, vector, self._settings.floor), _standing(trace)]
        return writes

    def next_expiry(self) -> Instant | None:
        """When the next trace will sink below the floor: when to call ``sweep``."""
        return self._expiry.next(self._settings.floor)

    def post(self, thoughts: Sequence[Thought], now: Instant) -> Outcome[tuple[str, ...]]:
        """Leave thoughts as traces; the result names them all. A known id changes nothing.

        A thought evaporates from the moment it was thought. One that is below the floor already goes to the log
        only.
        """
        writes: list[Write] = []
        new: list[str] = []
        for thought in thoughts:
            if thought.id in self._live or thought.id in self._retired:
                self._figures["traces_known_total"] += 1
                continue
            at = min(thought.at, now)
            level = Level(min(max(thought.salience, 0.0), 1.0), at, self._settings.half_life.of(thought.kind))
            live = salience.at(level, now) >= self._settings.floor
            trace = Trace(thought, 1, level, live, None, (thought.author,))
            writes.append(WriteTrace(trace))
            self._figures["traces_posted_total"] += 1
            if live:
                self._hold(trace)
                new.append(thought.id)
            else:
                self._figures["traces_retired_total"] += 1
                self._remember(_standing(trace))
        writes += self._make_room(now)
        return Outcome(
            tuple(thought.id for thought in thoughts), writes, [self._live[n] for n in new if n in self._live]
        )

    def reinforce(self, trace_id: str, by: str, gain: float, lineage: Sequence[str], now: Instant) -> Outcome[bool]:
        """Raise a trace, by the law of ``salience.reinforced``; whether it rose.

        It does not where it is no longer live, and where the act is an echo: where ``lineage``, what the act rests
        on, holds the trace itself or a descendant.
        """
        trace = self._live.get(trace_id)
        if trace is None:
            return Outcome(result=False)
        if trace_id in lineage or self._descend(lineage, trace_id):
            self._figures["echoes_total"] += 1
            return Outcome(result=False)
        before = salience.at(trace.level, now)
        level = self._raised(trace, by, gain, now)
        if level.value <= before:
            return Outcome(result=False)
        self._figures["traces_reinforced_total"] += 1
        raised = self._stand(trace, level)
        return Outcome(True, [_standing(raised)], [raised])

    def diminish(self, trace_id: str, loss: float, now: Instant) -> Outcome[bool]:
        """Lower a trace; whether it sank. Below the floor it is retired at once."""
        trace = self._live.get(trace_id)
        if trace is None:
            return Outcome(result=False)
        level = salience.diminished(trace.level, now, min(loss, self._settings.loss))
        if level.value >= salience.at(trace.level, now):
            return Outcome(result=False)
        self._figures["diminishings_total"] += 1
        lowered = self._stand(trace, level)
        if level.value < self._settings.floor:
            return Outcome(True, [self._retire(lowered)])
        return Outcome(True, [_standing(lowered)])

    def revise(self, trace_id: str, base: int, by: str, thought: Thought, now: Instant) -> Outcome[Trace | None]:
        """Build on a trace; the new version, or none where it is no longer live.

        Raises ``StaleRevision`` where the trace has moved on from ``base``. The same revision once more (a doubled
        message) answers what it made the first time. Building counts as reinforcement by ``gain``, unless ``by`` is
        an author already or has nothing else to rest on than the trace and what came of it.
        """
        trace = self._live.get(trace_id)
        if trace is None:
            return Outcome(None)
        if trace.version != base:
            if trace.version == base + 1 and self._is_doubled(trace, by, thought):
                return Outcome(trace)
            self._figures["revisions_refused_total"] += 1
            raise StaleRevision(trace_id, base, trace.version)
        others = [name for name in thought.parents if name != trace_id]
        evidence = by not in trace.authors and bool(others) and not self._descend(others, trace_id)
        level = self._raised(trace, by, self._settings.gain, now) if evidence else salience.settled(trace.level, now)
        level = replace(level, half_life=self._settings.half_life.of(thought.kind))
        content = replace(built_on(trace, by, thought, self._settings), salience=level.value)
        authors = tuple(dict.fromkeys((*trace.authors, by)))
        revised = Trace(content, base + 1, level, live=True, conscious=trace.conscious, authors=authors)
        self._figures["traces_revised_total"] += 1
        self._strange.pop(trace_id, None)
        self._live[trace_id] = revised = self._fitted(revised)
        self._index_content(revised)
        self._expiry.set(trace_id, level)
        return Outcome(revised, [WriteTrace(revised)], [revised])

    def conscious(self, trace_id: str, seq: int) -> Outcome[bool]:
        """Note that the stream holds a trace under ``seq``; whether that was news. A later number stays."""
        trace, retired = self._live.get(trace_id), self._retired.get(trace_id)
        known = trace or retired
        if known is None or (known.conscious or 0) >= seq:
            return Outcome(result=False)
        if trace is not None:
            self._live[trace_id] = noted = replace(trace, conscious=seq)
            return Outcome(True, [_standing(noted)])
        standing = replace(self._retired[trace_id], conscious=seq)
        self._retired[trace_id] = standing
        return Outcome(True, [standing])

    def crawl(
        self,
        kind: str,
        k: int,
        now: Instant,
        rng: Random,
        *,
        vector: Vector | None = None,
        terms: tuple[str, ...] = (),
        exclude_author: str = "",
        exclude_lineage: Iterable[str] = (),
        before: Instant | None = None,
    ) -> list[tuple[Trace, float]]:
        """Meet at most ``k`` live traces, with their cosine to ``vector`` where there is one.

        ``kind`` is ``directed`` (by meaning), ``associative`` (along ``terms``) or ``random``; see ``crawling``.
        """
        query = crawling.CrawlQuery(
            k=min(k, len(self._live)),
            now=now,
            floor=self._settings.floor,
            vector=vector,
            terms=terms,
            exclude_author=exclude_author,
            exclude_lineage=frozenset(exclude_lineage),
            before=before,
        )
        match str(kind):
            case "directed":
                return crawling.directed(query, self._live, self._index)
            case "associative":
                return crawling.associative(query, self._live, self._index, self._terms)
            case "random":
                return crawling.random(query, self._live, self._order, rng)
        raise ValueError(f"a crawl is directed, associative or random, not {kind!r}")

    def sweep(self, now: Instant) -> Outcome[int]:
        """Retire what has sunk below the floor, and what is beyond capacity; how many. Costs what it retires."""
        sunk = self._expiry.pop_below(self._settings.floor, now)
        writes: list[Write] = [self._retire(self._live[name]) for name in sunk]
        writes += self._make_room(now)
        return Outcome(len(writes), writes)

    def settle(self, now: Instant) -> Outcome[int]:
        """Have those evaporate from ``now`` on that would only begin later; how many.

        Looks at every live trace.
        """
        ahead = [trace for trace in self._live.values() if trace.level.at > now]
        settled = [self._stand(trace, replace(trace.level, at=now)) for trace in ahead]
        return Outcome(len(settled), [_standing(trace) for trace in settled])

    def load(self, traces: Iterable[Trace]) -> None:
        """Hold live traces as the store has them: after a restart, in batches, before anything else is done.

        Nothing is written; what sank meanwhile goes with the next ``sweep``.
        """
        for trace in traces:
            if trace.live and trace.id not in self._live:
                self._hold(trace)

    def snapshot(self) -> bytes:
        """What the store does not know: how often each submind reinforced each live trace."""
        return msgspec.msgpack.encode({name: times for name, times in self._times.items() if name in self._live})

    def restore(self, state: bytes) -> None:
        """Take up a ``snapshot``, before or after ``load``. Raises ``msgspec.DecodeError`` for anything else."""
        self._times = msgspec.msgpack.decode(state, type=dict[str, dict[str, int]])

    def _hold(self, trace: Trace) -> None:
        name = trace.thought.id
        self._live[name] = trace = self._fitted(trace)
        self._places[name] = len(self._order)
        self._order.append(name)
        self._expiry.set(name, trace.level)
        self._index_content(trace)

    def _fitted(self, trace: Trace) -> Trace:
        if self._dim is None or trace.thought.vector.size == self._dim:
            return trace
        self._strange[trace.id] = None
        return fitted(trace, self._dim)

    def _index_content(self, trace: Trace) -> None:
        self._index.add(trace.thought.id, trace.thought.vector)
        self._terms.add(trace.thought.id, trace.thought.associations)

    def _stand(self, trace: Trace, level: Level) -> Trace:
        standing = trace.with_level(level)
        self._live[trace.id] = standing
        self._expiry.set(trace.id, level)
        return standing

    def _retire(self, trace: Trace) -> Write:
        name = trace.id
        del self._live[name]
        place = self._places.pop(name)
        last = self._order.pop()
        if last != name:
            self._order[place] = last
            self._places[last] = place
        self._expiry.remove(name)
        self._index.remove(name)
        self._terms.remove(name)
        self._times.pop(name, None)
        self._strange.pop(name, None)
        self._figures["traces_retired_total"] += 1
        standing = WriteLevel(name, trace.level, live=False, conscious=trace.conscious)
        self._remember(standing)
        return standing

    def _remember(self, standing: WriteLevel) -> None:
        self._retired[standing.trace_id] = standing
        if len(self._retired) > self._settings.capacity:
            del self._retired[next(iter(self._retired))]

    def _make_room(self, now: Instant) -> list[Write]:
        writes = []
        while len(self._live) > self._settings.capacity:
            name = self._expiry.least(now)
            if name is None:
                break
            self._figures["limit_hits:capacity"] += 1
            writes.append(self._retire(self._live[name]))
        return writes

    def _raised(self, trace: Trace, by: str, gain: float, now: Instant) -> Level:
        times = self._times.setdefault(trace.id, {})
        who = by if by in times or len(times) < self._settings.reinforcers else _OTHERS
        times[who] = times.get(who, 0) + 1
        return salience.reinforced(trace.level, now, min(gain, self._settings.gain), times[who], self._settings.ceiling)

    def _descend(self, lineage: Iterable[str], ancestor: str) -> bool:
        """Whether any of ``lineage`` comes of ``ancestor``, as far as live traces tell.

        Where the query up is longer than ``ancestry`` the answer is yes: doubt counts as an echo.
        """
        waiting = [name for name in lineage if name in self._live]
        seen = set(waiting)
        looked = 0
        while waiting:
            parents = self._live[waiting.pop()].thought.parents
            looked += 1
            if ancestor in parents or looked > self._settings.ancestry:
                return True
            fresh = [name for name in parents if name in self._live and name not in seen]
            seen.update(fresh)
            waiting += fresh
        return False

    @staticmethod
    def _is_doubled(trace: Trace, by: str, thought: Thought) -> bool:
        now = trace.thought
        return (now.author, now.text, now.at) == (by, thought.text, thought.at)


def _standing(trace: Trace) -> WriteLevel:
    return WriteLevel(trace.id, trace.level, trace.live, trace.conscious)
