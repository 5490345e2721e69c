"""Two faculties of another package: one counts whom conscious thoughts are about, one is told of round numbers.

They have a section of settings, an event, durable state and metrics of their own, and nothing of the mind's own code
knows them: see docs/writing-a-faculty.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from pydantic import Field

from actors.core import Core, Description, Inward
from actors.effects import Commit, Count, Effect, Note, Send
from actors.events import Broadcast, Configured, Event, FacultyEvent
from actors.faculty import BuildContext, Faculty
from environment.collections import Document, WriteDocument
from environment.config import Section
from environment.messages import Instant

COLLECTION = "tally"


class TallySettings(Section):
    """Counting whom thoughts are about."""

    every: int = Field(default=10, ge=1)
    """So many conscious thoughts about one source are a round number."""


@dataclass(frozen=True, slots=True)
class Milestone(FacultyEvent):
    """There were so many conscious thoughts about a source."""

    source: str
    count: int


class TallyCore(Inward):
    """Counts, durably: a count is kept together with the word of it, and a thought that is told twice counts once."""

    def __init__(self, name: str, counts: dict[str, int], settings: TallySettings) -> None:
        self.name = name
        self._counts = counts
        self._settings = settings
        self._last = 0

    def handle(self, event: Event, now: Instant) -> list[Effect]:
        match event:
            case Configured(section=TallySettings() as settings):
                self._settings = settings
            case Broadcast(entry) if entry.seq > self._last:
                self._last = entry.seq
                effects = []
                for source in sorted({perception.source for perception in entry.perceptions}):
                    effects += self._count(source, now)
                return effects
        return []

    def _count(self, source: str, now: Instant) -> list[Effect]:
        count = self._counts[source] = self._counts.get(source, 0) + 1
        body = msgspec.msgpack.encode(count)
        effects: list[Effect] = [Commit(WriteDocument(Document(COLLECTION, source, body, now))), Count("tallied_total")]
        if count % self._settings.every == 0:
            effects.append(Send("herald", Milestone(source, count)))
        return effects

    def describe(self) -> Description:
        return Description("tally", "count whom thoughts are about", (), {"tallied_sources": float(len(self._counts))})

    def snapshot(self) -> bytes:
        return msgspec.msgpack.encode(self._last)

    def restore(self, state: bytes) -> None:
        self._last = msgspec.msgpack.decode(state, type=int)


class HeraldCore(Inward):
    """Says round numbers in the log, each once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._heard: dict[str, int] = {}

    def handle(self, event: Event, now: Instant) -> list[Effect]:  # noqa: ARG002 - a Core's signature
        if not isinstance(event, Milestone) or event.count <= self._heard.get(event.source, 0):
            return []
        self._heard[event.source] = event.count
        return [Note("milestone", "info", {"source": event.source, "count": event.count}), Count("milestones_total")]

    def describe(self) -> Description:
        return Description("herald", "say round numbers", tuple(sorted(self._heard)))

    def snapshot(self) -> bytes:
        return msgspec.msgpack.encode(self._heard)

    def restore(self, state: bytes) -> None:
        self._heard = msgspec.msgpack.decode(state, type=dict[str, int])


async def _tally(context: BuildContext) -> Core:
    kept = await context.stores.collections.scan(COLLECTION, limit=100_000)
    counts = {document.key: msgspec.msgpack.decode(document.body, type=int) for document in kept}
    return TallyCore(context.name, counts, context.section(TallySettings))


async def _herald(context: BuildContext) -> Core:
    return HeraldCore(context.name)


TALLY = Faculty(
    role="tally",
    about="whom conscious thoughts are about",
    build=_tally,
    sections={"tally": TallySettings},
    accepts=frozenset({Broadcast}),
    names=("tally",),
    always=True,
    collections=frozenset({COLLECTION}),
    events=(Milestone,),
    metrics={
        "tallied_total": "Sources of conscious thoughts counted.",
        "tallied_sources": "Sources that conscious thoughts were about.",
    },
    from_zero=("tallied_total",),
    tunable={("faculties.tally.every",): "compared with each count as it is reached; those reached stay said"},
)
HERALD = Faculty(
    role="herald",
    about="round numbers",
    build=_herald,
    accepts=frozenset({Milestone}),
    names=("herald",),
    always=True,
    metrics={"milestones_total": "Round numbers said."},
)
