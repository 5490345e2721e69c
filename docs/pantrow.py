"""The example day in the stores of a mind, without running one: what the screenshots are taken of.

Perceptions are the lines of ``examples/day.jsonl``; thoughts are composed of them by the extractive substrate. Which
of them were noticed, with what salience, and who talks to whom is laid down here, from the stories in
``examples/stories.json``. The day is moved so that its ``until`` is now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from pantrow_mind import CHILD, connections_of, divide, life_of, report

from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.extractive import compose
from actors.substrate.ports import Act, Material, Request, Role
from environment.identity import entry_id, segue_id, thought_id
from environment.messages import (
    EntryKind,
    Instant,
    Level,
    NewPerception,
    PerceptionRef,
    StreamEntry,
    Thought,
    ThoughtKind,
    Trace,
    Vector,
)
from environment.ports import (
    Stores,
    Write,
    WriteConnections,
    WriteEntries,
    WriteTrace,
)
from environment.severity import salience_of, severity
from orchestration.settings import MindSettings

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
UNTIL = "2026-03-03T17:20:00Z"
UNTIL_INSTANT: Instant = datetime.fromisoformat(UNTIL).timestamp()
"""How far the day has come."""
_HALF_LIFE = {ThoughtKind.PERCEPT: 2 * 3600.0, ThoughtKind.INSIGHT: 6 * 3600.0}
_TRUST = {"oncall": 0.7, "coldstore": 0.9, "chat": 0.7, "radio": 0.7, "feeds": 0.5, "support": 0.4}
_WINDOW = 3


@dataclass(frozen=True)
class Seen:
    """A perception of the day as the mind has it."""

    ref: PerceptionRef
    text: str
    trust: float


def _epoch(text: str) -> Instant:
    return datetime.fromisoformat(text).timestamp()


def _text(line: dict[str, Any]) -> str:
    if "text" in line:
        return str(line["text"])
    return ", ".join(f"{name} {value}" for name, value in line["telemetry"].items())


def _lines(now: Instant) -> Iterator[tuple[dict[str, Any], Instant]]:
    for row in (EXAMPLES / "day.jsonl").read_text().splitlines():
        line = json.loads(row)
        if _epoch(line["time"]) <= UNTIL_INSTANT:
            yield line, _epoch(line["time"]) - UNTIL_INSTANT + now


async def _perceive(stores: Stores, now: Instant) -> dict[str, Seen]:
    lines = list(_lines(now))
    batch = [
        NewPerception(
            source=line["source"],
            time=time,
            received=time + 1,
            text=line.get("text"),
            telemetry=line.get("telemetry"),
            key=line["key"],
            labels=line.get("labels", {}),
            trust=_TRUST.get(line["source"], 0.6),
        )
        for line, time in lines
    ]
    receipts = await stores.perceptions.append(batch)
    return {
        line["key"]: Seen(PerceptionRef(receipt.id, time, line["source"]), _text(line), new.trust)
        for (line, time), receipt, new in zip(lines, receipts, batch, strict=True)
    }


class Day:
    """Makes traces and entries of what was seen. The same seed gives the same day."""

    def __init__(self, seen: dict[str, Seen], now: Instant, seed: int = 7) -> None:
        self.seen, self.now = seen, now
        self.chance = Random(seed)
        self.embedder = WordLlamaEmbedder()
        self.traces: dict[str, Trace] = {}
        self.entries: list[StreamEntry] = []

    def _vector(self, text: str) -> Vector:
        return np.asarray(self.embedder.embed_now([text])[0], dtype=np.float32)

    def percept(self, key: str, salience: float) -> Trace:
        """What a perceptual submind made of one line."""
        seen = self.seen[key]
        author = "telemetry" if seen.ref.source == "coldstore" else "text"
        name = thought_id(author, [seen.ref.id])
        if name not in self.traces:
            self._keep(author, ThoughtKind.PERCEPT, seen.text, (seen.ref,), (seen.ref.id,), salience, seen.trust, 0)
        return self.traces[name]

    def insight(self, author: str, parents: Sequence[Trace], salience: float) -> Trace:
        """What a cognitive submind bound together; the first parent is the focus."""
        focus, *others = parents
        materials = [Material(Role.EVENT, focus.thought.text, focus.thought.perceptions[0].source)]
        for other in others:
            ref = other.thought.perceptions[0]
            when = datetime.fromtimestamp(ref.time - self.now + UNTIL_INSTANT, UTC).strftime("%H:%M")
            materials.append(Material(Role.MEMORY, other.thought.text, ref.source, when))
        text = compose(Request(Act.BIND, author, tuple(materials)))
        refs = tuple(dict.fromkeys(ref for parent in parents for ref in parent.thought.perceptions))
        trust = min(parent.thought.trust for parent in parents)
        depth = 1 + max(parent.thought.depth for parent in parents)
        ids = tuple(parent.id for parent in parents)
        return self._keep(author, ThoughtKind.INSIGHT, text, refs, ids, salience, trust, depth)

    def _keep(
        self,
        author: str,
        kind: ThoughtKind,
        text: str,
        refs: tuple[PerceptionRef, ...],
        parents: tuple[str, ...],
        salience: float,
        trust: float,
        depth: int,
    ) -> Trace:
        at = max(ref.time for ref in refs) + 20
        half_life = _HALF_LIFE[kind] * self.chance.uniform(0.5, 1.6)
        thought = Thought(
            id=thought_id(author, parents),
            author=author,
            kind=kind,
            text=text,
            time=refs[0].time,
            at=at,
            vector=self._vector(text),
            salience=salience,
            confidence=round(self.chance.uniform(0.45, 0.9), 2),
            trust=trust,
            perceptions=refs,
            parents=parents,
            depth=depth,
        )
        level = Level(salience, at, half_life)
        live = salience * 0.5 ** ((self.now - at) / half_life) > 0.05  # noqa: PLR2004 - the floor
        trace = Trace(thought, 1, level, live=live, authors=(author,))
        self.traces[trace.id] = trace
        return trace

    def conscious(self, focus: Trace, bound: Sequence[Trace] = ()) -> None:
        """Lift a trace into the stream, with a segue where it leads elsewhere."""
        thought = focus.thought
        self._segue(focus)
        refs = tuple(dict.fromkeys(ref for trace in (focus, *bound) for ref in trace.thought.perceptions))
        entry = StreamEntry(
            seq=len(self.entries) + 1,
            id=entry_id(focus.id, 1),
            kind=EntryKind.THOUGHT,
            text=thought.text,
            time=thought.time,
            at=thought.at,
            salience=salience_of(thought.salience),
            severity=severity(salience_of(thought.salience), thought.evidence),
            confidence=thought.confidence,
            trust=thought.trust,
            perceptions=refs,
            lineage=(focus.id, *(trace.id for trace in bound)),
            focus=focus.id,
            author=thought.author,
            vector=thought.vector,
        )
        self.entries.append(entry)
        self.traces[focus.id] = Trace(thought, 1, focus.level, focus.live, entry.seq, focus.authors)

    def _segue(self, focus: Trace) -> None:
        before = self.entries[-1] if self.entries else None
        if before is None or before.vector is None or float(before.vector @ focus.thought.vector) > 0.12:  # noqa: PLR2004 - unlike
            return
        ends = (Material(Role.EVENT, before.text), Material(Role.EVENT, focus.thought.text))
        self.entries.append(
            StreamEntry(
                seq=len(self.entries) + 1,
                id=segue_id(before.id, entry_id(focus.id, 1)),
                kind=EntryKind.SEGUE,
                text=compose(Request(Act.BRIDGE, "stream", ends)),
                time=focus.thought.time,
                at=focus.thought.at,
                salience=min(before.salience, salience_of(focus.thought.salience)) / 2,
                confidence=0.5,
                trust=min(before.trust, focus.thought.trust),
                perceptions=(before.perceptions[0], focus.thought.perceptions[0]),
                lineage=(before.id, entry_id(focus.id, 1)),
                author="stream",
                vector=focus.thought.vector,
            )
        )

    def live_through(self, stories: dict[str, Any], authors: Sequence[str]) -> None:
        """Bind each story as its pieces come, notice the false alarm and some of what is only ordinary."""
        told: dict[str, list[Trace]] = {}
        chapters = {key: story["name"] for story in stories["stories"] for key in story["keys"]}
        chapters |= dict.fromkeys(stories["false_alarm"]["keys"], "false-alarm")
        flood = set(stories["flood"]["keys"])
        for key, seen in self.seen.items():
            chapter = chapters.get(key)
            if chapter is not None:
                self._continue(told.setdefault(chapter, []), key, authors)
            elif key not in flood and seen.ref.source != "coldstore":
                trace = self.percept(key, 0.15 + 0.3 * self.chance.random())
                if self.chance.random() < 0.04:  # noqa: PLR2004 - now and then something ordinary
                    self.conscious(trace)

    def _continue(self, told: list[Trace], key: str, authors: Sequence[str]) -> None:
        step = len(told)
        percept = self.percept(key, 0.35 + 0.25 * self.chance.random())
        if not told:
            told.append(percept)
            return
        salience = min(0.92, 0.42 + 0.055 * step + 0.08 * self.chance.random())
        trace = self.insight(self.chance.choice(authors), (percept, *reversed(told[-_WINDOW + 1 :])), salience)
        told.append(trace)
        if step % 2 == 0 or salience > 0.72:  # noqa: PLR2004 - what is strong comes through each time
            self.conscious(trace, told[-2:-1])


async def seed(stores: Stores, now: Instant, mind: MindSettings | None = None) -> Day:
    """Fill empty stores with the day up to ``UNTIL``, which becomes ``now``."""
    mind = mind or MindSettings()
    chance = Random(11)
    day = Day(await _perceive(stores, now), now)
    cognitive = [submind.name for submind in mind.subminds if submind.role == "cognitive"]
    day.live_through(json.loads((EXAMPLES / "stories.json").read_text()), cognitive)
    names = [*(submind.name for submind in mind.subminds), CHILD]
    connections = list(connections_of(names, now, chance))
    writes: list[Write] = [
        *(WriteTrace(trace) for trace in day.traces.values()),
        WriteEntries(tuple(day.entries)),
        *(
            WriteConnections(
                owner,
                tuple(connection for connection in connections if connection.owner == owner),
                (),
                tuple(change for c in connections if c.owner == owner for change in life_of(c, now, chance)),
            )
            for owner in names
        ),
    ]
    await stores.commit(writes)
    await divide(stores, now)
    await report(stores, now, mind)
    return day
