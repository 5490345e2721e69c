"""Why the mind thought that: the lineage of an entry or a trace, as a tree down to the perceptions behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from environment.decisions import Decision
from environment.errors import FieldedError, SubliminalError
from environment.messages import Instant, Perception, PerceptionRef, StreamEntry, Trace
from environment.packs import ALWAYS, INNATE, PACKS, PackSection
from environment.ports import Stores
from environment.relations import Relation
from environment.severity import Severity, salience_of

_TEXT = 4000
_DIGITS = 19
"""A number of an entry has fewer."""


class UnknownId(FieldedError, SubliminalError):
    """Nothing in this mind has that id: check it, or it has been forgotten."""

    wanted: str

    def __str__(self) -> str:
        return (
            f"nothing here is called {self.wanted[:80]!r}: give the number of an entry, or an id that begins with "
            "c- (entry), t- (trace), p- (perception) or d- (section of a pack)"
        )


class NodeKind(StrEnum):
    """What a node of a lineage is."""

    ENTRY = "entry"
    TRACE = "trace"
    PERCEPTION = "perception"
    """... or a section of a pack."""


_KINDS = {"p-": NodeKind.PERCEPTION, INNATE: NodeKind.PERCEPTION, "c-": NodeKind.ENTRY}


class Standing(StrEnum):
    """What became of it."""

    KEPT = "kept"
    """An entry, a live trace or a perception in the log."""
    RETIRED = "retired"
    """A trace that sank below the floor: out of the index, still in the log."""
    FORGOTTEN = "forgotten"
    """No longer in the store; only what cites it is known."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A node of a lineage, with what it came from below it."""

    id: str
    kind: NodeKind
    text: str
    """What was thought, said or perceived, cut at 4000 characters; of telemetry, its figures; of an image, its kind."""
    time: Instant
    """Event time; of something forgotten without a time, that of what cites it."""
    source: str = ""
    """Of a perception."""
    author: str = ""
    """Of an entry or a trace."""
    salience: float | None = None
    """0..1: of an entry when it became conscious, of a trace when its level was last set."""
    confidence: float | None = None
    trust: float | None = None
    evidence: Mapping[str, float] = field(default_factory=dict)
    """Of a trace that was perceived: what each part added to the log odds of its level."""
    severity: Severity | None = None
    """Of an entry."""
    why: Decision | None = None
    """Of a conscious thought: why it was chosen just then."""
    children: tuple[Explanation, ...] = ()
    truncated: bool = False
    """True where there is more below than is shown here: a bound was met, or it is shown elsewhere in the tree."""
    standing: Standing = Standing.KEPT
    trace_id: str = ""
    """Of a perception: under which its way is traced, where whoever asked knows of that."""
    link: str = ""
    """Why what is above rests on it: ``answer: answers a question of ann``; empty where it is what that is about."""
    worded_by: str = ""
    """Of an entry or a trace: who found its words, as of a thought."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large an explanation may become."""

    depth: int = 12
    """Levels below the root."""
    nodes: int = 400
    """Nodes in all."""


@dataclass(slots=True)
class _Fact:
    """What is known of an id, without its place in a tree."""

    node: Explanation
    below: tuple[str, ...] = ()
    refs: tuple[PerceptionRef, ...] = ()
    """Perceptions it cites, for where what lies between has been forgotten."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Why it rests on some of them, by id."""


@dataclass(slots=True)
class _Draft:
    """A place in the tree."""

    id: str
    children: list[_Draft] = field(default_factory=list)
    truncated: bool = False


async def explain(stores: Stores, id_or_seq: str, bounds: Bounds | None = None) -> Explanation:
    """The lineage of an entry (by number or id), a trace or a perception. Raises ``UnknownId``.

    Nearest first: within the bounds, what is close to the root is shown rather than what is far. An id that occurs
    more than once is followed where it first occurs, so a circle ends. Costs a few reads per level.
    """
    return await _Telling(stores, bounds or Bounds()).tell(id_or_seq.strip())


class _Telling:
    def __init__(self, stores: Stores, bounds: Bounds) -> None:
        self._stores = stores
        self._bounds = bounds
        self._facts: dict[str, _Fact] = {}
        self._cited: dict[str, PerceptionRef] = {}
        self._expanded: set[str] = set()
        self._count = 1

    async def tell(self, wanted: str) -> Explanation:
        root = _Draft(await self._resolve(wanted))
        frontier = [root]
        for _ in range(self._bounds.depth):
            grown = [draft for draft in frontier if self._expand(draft)]
            await self._look(child for draft in grown for child in draft.children)
            for draft in grown:
                self._bridge(draft)
            await self._look(child for draft in grown for child in draft.children)
            frontier = [child for draft in grown for child in draft.children]
            if not frontier:
                break
        for draft in frontier:
            draft.truncated = bool(self._below(draft.id))
        return self._assemble(root, self._facts[root.id].node.time)

    async def _resolve(self, wanted: str) -> str:
        if wanted.isdecimal():
            seq = int(wanted) if len(wanted) < _DIGITS else 0
            for entry in await self._stores.stream.read(seq, 1):
                if entry.seq == seq:
                    self._facts[entry.id] = self._entry(entry)
                    return entry.id
        elif wanted[:2] in {"c-", "t-", "p-", INNATE} and len(wanted) < _TEXT:
            await self._look([_Draft(wanted)])
            if wanted in self._facts:
                return wanted
        raise UnknownId(wanted)

    def _expand(self, draft: _Draft) -> bool:
        """Give a draft its children, unless it has been followed elsewhere; whether it was followed here."""
        below = self._below(draft.id)
        if draft.id in self._expanded:
            draft.truncated = bool(below)
            return False
        self._expanded.add(draft.id)
        self._attach(draft, below)
        return True

    def _below(self, name: str) -> tuple[str, ...]:
        fact = self._facts.get(name)
        return fact.below if fact else ()

    def _attach(self, draft: _Draft, names: Sequence[str]) -> None:
        for name in names:
            if self._count >= self._bounds.nodes:
                draft.truncated = True
                return
            self._count += 1
            draft.children.append(_Draft(name))

    def _bridge(self, draft: _Draft) -> None:
        """Where a thought between has been forgotten, lead to the perceptions directly."""
        here = {child.id for child in draft.children}
        if draft.id in self._facts and any(name not in self._facts for name in here if name[:2] not in {"p-", INNATE}):
            self._attach(draft, [ref.id for ref in self._facts[draft.id].refs if ref.id not in here])

    async def _look(self, drafts: Iterable[_Draft]) -> None:
        names = list(dict.fromkeys(draft.id for draft in drafts if draft.id not in self._facts))
        if perceptions := [name for name in names if name.startswith("p-")]:
            found = await self._stores.perceptions.get(perceptions)
            self._facts |= {name: _perception_fact(perception) for name, perception in found.items()}
        if traces := [name for name in names if name.startswith("t-")]:
            kept = await self._stores.traces.get(traces)
            self._facts |= {name: self._trace(trace) for name, trace in kept.items()}
        if sections := [name for name in names if name.startswith(INNATE)]:
            held = await self._stores.collections.get(PACKS.name, sections)
            self._facts |= {name: _section_fact(name, PACKS.value(one)) for name, one in held.items()}
        for name in names:
            if name.startswith("c-") and (entry := await self._stores.stream.find(name)) is not None:
                self._facts[name] = self._entry(entry)

    def _entry(self, entry: StreamEntry) -> _Fact:
        self._cited |= {ref.id: ref for ref in entry.perceptions}
        below = tuple(dict.fromkeys((*entry.lineage, *((entry.focus,) if entry.focus else ()))))
        node = Explanation(
            id=entry.id,
            kind=NodeKind.ENTRY,
            text=_cut(entry.text),
            time=entry.time,
            author=entry.author,
            salience=entry.salience,
            confidence=entry.confidence,
            trust=entry.trust,
            worded_by=entry.worded_by,
            severity=entry.severity,
            why=entry.why,
        )
        return _Fact(node, below or tuple(ref.id for ref in entry.perceptions), entry.perceptions, _links(entry.links))

    def _trace(self, trace: Trace) -> _Fact:
        thought = trace.thought
        self._cited |= {ref.id: ref for ref in thought.perceptions}
        below = list(dict.fromkeys(thought.parents))
        if not any(name.startswith(("t-", "c-")) for name in below):
            below += [ref.id for ref in thought.perceptions if ref.id not in below]
        node = Explanation(
            id=trace.id,
            kind=NodeKind.TRACE,
            text=_cut(thought.text),
            time=thought.time,
            author=thought.author,
            salience=salience_of(trace.level.value),
            confidence=thought.confidence,
            trust=thought.trust,
            evidence=thought.evidence,
            worded_by=thought.worded_by,
            standing=Standing.KEPT if trace.live else Standing.RETIRED,
        )
        return _Fact(node, tuple(below), thought.perceptions, _links(thought.links))

    def _forgotten(self, name: str, cited_at: Instant) -> Explanation:
        ref = self._cited.get(name)
        return Explanation(
            id=name,
            kind=_KINDS.get(name[:2], NodeKind.TRACE),
            text="(no longer kept)",
            time=ref.time if ref else cited_at,
            source=ref.source if ref else "",
            standing=Standing.FORGOTTEN,
        )

    def _assemble(self, draft: _Draft, cited_at: Instant) -> Explanation:
        fact = self._facts.get(draft.id)
        if fact is None:
            return self._forgotten(draft.id, cited_at)
        children = (
            replace(self._assemble(child, fact.node.time), link=fact.links.get(child.id, ""))
            for child in draft.children
        )
        return replace(fact.node, children=tuple(children), truncated=draft.truncated)


def _links(links: Sequence[Relation]) -> dict[str, str]:
    return {link.to: str(link) for link in links}


def _perception_fact(perception: Perception) -> _Fact:
    node = Explanation(
        id=perception.id,
        kind=NodeKind.PERCEPTION,
        text=_cut(_said(perception)),
        time=perception.time,
        source=perception.source,
        trust=perception.trust,
    )
    return _Fact(node)


def _section_fact(name: str, one: PackSection) -> _Fact:
    return _Fact(Explanation(name, NodeKind.PERCEPTION, _cut(one.text), ALWAYS, source=one.source, trust=one.trust))


def _said(perception: Perception) -> str:
    if perception.text is not None:
        return perception.text
    if perception.telemetry is not None:
        return ", ".join(f"{name} {value:g}" for name, value in perception.telemetry.items())
    if perception.image is not None:
        return f"{perception.image.media_type}, {len(perception.image.data):,} bytes"
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
