"""What is kept of a matter and of an open loop, and how a line joins one. Pure values: time is given."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from actors.submind.composing import clock_time
from environment.collections import Collection
from environment.messages import Instant, PerceptionRef, Trace
from environment.severity import Severity, salience_of, severity

QUIET = 3600.0
"""Seconds without a line after which a matter is steady."""
LATEST = 2
"""Lines of a matter that a list of matters shows."""
REMINDERS = 2
"""Of one loop: before it is due, and when it was missed."""
ENTRIES = 32
"""Numbers of entries kept of a matter."""
_TITLE = 90
_CLAUSE = re.compile(r"(?<=[.!?;])\s+|,\s+|\s+[-–—]\s+|:\s+")
_TERMS = 24


class MatterState(StrEnum):
    """Where a matter stands."""

    NEW = "new"
    """One line, so far."""
    GROWING = "growing"
    """More came lately."""
    STEADY = "steady"
    """Nothing came for a while, and nothing said that it is over."""
    SETTLED = "settled"
    """A line said that it is over, or was nothing."""
    REOPENED = "reopened"
    """Something came of it after that."""


@dataclass(frozen=True, slots=True)
class MatterLine:
    """One line of a matter's course."""

    trace: str
    text: str
    perception: PerceptionRef
    salience: float
    """0..1, when it was perceived."""
    trust: float = 0.5
    """0..1."""
    link: str = ""
    """Why it belongs there; empty for the one that the matter began with."""
    to: str = ""
    """The trace of the line that it was linked to, if any."""


@dataclass(slots=True)
class Matter:
    """What a person would give a title."""

    id: str
    title: str
    state: MatterState
    began: Instant
    """Event time of its earliest line."""
    changed: Instant
    """Mind time of its last change."""
    salience: float
    """0..1: the highest among its lines."""
    lines: list[MatterLine]
    """In order of event time; bounded, the first is kept."""
    count: int
    """All lines, those included that are not kept."""
    sources: list[str]
    terms: list[str]
    """What two or more of its lines name, or the first one; latest first."""
    entries: list[int] = field(default_factory=list)
    """Numbers of the entries of the stream that are about it; bounded."""
    settled_by: MatterLine | None = None
    severity: Severity = Severity.INFO
    """The worst that a line was which did not settle it."""
    taken_back: int = 0
    """Number of its latest entry when it was last said that it is settled."""
    summary: str = ""
    """What a model said of it last; empty without one."""

    @property
    def open(self) -> bool:
        """Whether it is not settled."""
        return self.state is not MatterState.SETTLED

    def take_back(self, least: float) -> bool:
        """Whether there is something of it to take back: said since that was last done, and of that salience."""
        if not self.entries or self.entries[-1] <= self.taken_back or self.salience < least:
            return False
        self.taken_back = self.entries[-1]
        return True


@dataclass(slots=True)
class OpenLoop:
    """Something that is owed: a promise, a request, a deadline, an answer."""

    id: str
    text: str
    """The line that says so, or its sentence."""
    perception: PerceptionRef
    due: Instant
    asked: bool
    """Whether somebody asked for it; else it was promised, or is due by itself."""
    trust: float = 0.5
    terms: list[str] = field(default_factory=list)
    told: int = 0
    """How often one was reminded: once before it was due, once when it was missed."""
    closed_by: PerceptionRef | None = None
    exact: bool = False
    """Whether somebody wants to be reminded just then, once."""
    dated: bool = True
    """Whether a time was said; else it is due when patience ends."""
    salience: float = 0.0
    """0..1, of the line where no time was said."""
    vague: bool = False
    """Whether no hour was said: it is due about then."""
    known: bool = False
    """Whether it is asked after where no time was said, in any case: it became conscious, or was a makeshift."""

    @property
    def open(self) -> bool:
        """Whether nothing closed it, and nobody was told that it was missed."""
        return self.closed_by is None and self.told < REMINDERS


MATTERS = Collection("matters", Matter)
LOOPS = Collection("loops", OpenLoop)


def title_of(text: str) -> str:
    """The clauses that a line begins with, as many as fit a title."""
    if len(text) <= _TITLE:
        return text.rstrip(" .;,")
    ends = [found.start() for found in _CLAUSE.finditer(text) if found.start() <= _TITLE]
    cut = ends[-1] if ends and ends[-1] > _TITLE // 3 else text.rfind(" ", 0, _TITLE)
    return text[: cut if cut > 0 else _TITLE].rstrip(" .;,:") + " …"


def line_of(trace: Trace, link: str = "", to: str = "") -> MatterLine:
    """A trace as a line; it cites what the trace focuses on."""
    thought = trace.thought
    salience = round(salience_of(thought.salience), 3)
    return MatterLine(trace.id, thought.text, thought.perceptions[0], salience, thought.trust, link, to)


def begun(trace: Trace, key: str, now: Instant) -> Matter:
    """The matter that a trace begins."""
    line = line_of(trace)
    return Matter(
        id=key,
        title=title_of(line.text),
        state=MatterState.NEW,
        began=line.perception.time,
        changed=now,
        salience=line.salience,
        severity=severity(line.salience, trace.thought.evidence),
        lines=[line],
        count=1,
        sources=[line.perception.source],
        terms=list(trace.thought.associations),
    )


def join(
    matter: Matter,
    trace: Trace,
    link: tuple[str, str],
    now: Instant,
    keep: int,
    *,
    settles: bool = False,
    over: bool = False,
) -> MatterLine:
    """Put a line into a matter's course, linked why and to which trace, and say where it stands then.

    ``settles``: the line ends it; ``over``: it says at least nothing else.
    """
    line, terms = line_of(trace, *link), trace.thought.associations
    matter.lines.append(line)
    matter.lines.sort(key=lambda each: (each.perception.time, each.trace))
    if len(matter.lines) > keep:
        del matter.lines[1 : 1 + len(matter.lines) - keep]
    matter.count += 1
    matter.began = min(matter.began, line.perception.time)
    matter.changed = now
    if not settles:
        worse = severity(line.salience, trace.thought.evidence)
        matter.severity = max(matter.severity, worse, key=lambda each: each.rank)
    if line.salience > matter.salience and not settles:
        matter.salience, matter.title = line.salience, title_of(line.text)
    if line.perception.source not in matter.sources:
        matter.sources.append(line.perception.source)
    matter.terms = list(dict.fromkeys([*(t for t in terms if t in matter.terms), *matter.terms, *terms]))[:_TERMS]
    if settles and matter.state is not MatterState.SETTLED:
        matter.state, matter.settled_by = MatterState.SETTLED, line
    elif matter.state is MatterState.SETTLED:
        if not over:
            matter.state = MatterState.REOPENED
    elif matter.state is not MatterState.REOPENED:
        matter.state = MatterState.GROWING
    return line


def linked_to(matter: Matter, line: MatterLine) -> list[MatterLine]:
    """A line of a matter with those that were linked to it, directly or not; in order."""
    gone = {line.trace}
    for each in matter.lines[1:]:  # what a line is linked to was said before it
        if each.to in gone:
            gone.add(each.trace)
    return [each for each in matter.lines if each.trace in gone]


def most_salient(lines: Iterable[MatterLine]) -> MatterLine:
    """The most salient of some lines; of equals always the same."""
    return max(lines, key=lambda each: (each.salience, each.trace))


def part(matter: Matter, gone: list[MatterLine]) -> None:
    """Take lines out of a matter, not the first one, with the end and the title that they gave it."""
    matter.lines = [line for line in matter.lines if line not in gone]
    matter.count -= len(gone)
    if matter.settled_by in gone:
        matter.state, matter.settled_by = MatterState.GROWING, None
    if matter.summary or max(line.salience for line in gone) >= matter.salience:
        worst = max((line for line in matter.lines if line != matter.settled_by), key=lambda each: each.salience)
        matter.salience, matter.title, matter.summary = worst.salience, title_of(worst.text), ""


def split(lines: list[MatterLine], key: str, why: str, now: Instant) -> Matter:
    """The matter that lines of another make, the first of which says why."""
    worst = most_salient(lines)
    return Matter(
        id=key,
        title=title_of(worst.text),
        state=MatterState.GROWING,
        began=lines[0].perception.time,
        changed=now,
        salience=worst.salience,
        severity=severity(worst.salience, {}),
        lines=[replace(lines[0], link=why, to=""), *lines[1:]],
        count=len(lines),
        sources=list(dict.fromkeys(line.perception.source for line in lines)),
        terms=[],
    )


def merge(matter: Matter, other: Matter, why: str, now: Instant, keep: int) -> None:
    """Put another matter that turned out to be this one into its course, which says why."""
    first = replace(other.lines[0], link=f"was a matter of its own: {why}")
    lines = {line.trace: line for line in (*matter.lines, *other.lines, first)}
    matter.lines = sorted(lines.values(), key=lambda each: (each.perception.time, each.trace))
    if len(matter.lines) > keep:
        del matter.lines[1 : 1 + len(matter.lines) - keep]
    matter.count += other.count
    matter.began, matter.changed = min(matter.began, other.began), now
    matter.severity = max(matter.severity, other.severity, key=lambda each: each.rank)
    if other.salience > matter.salience:
        matter.salience, matter.title = other.salience, other.title
    matter.sources = list(dict.fromkeys([*matter.sources, *other.sources]))
    matter.terms = list(dict.fromkeys([*matter.terms, *other.terms]))[:_TERMS]
    matter.entries = sorted({*matter.entries, *other.entries})[-ENTRIES:]
    if other.open and not matter.open:
        matter.state = MatterState.REOPENED
    elif matter.open:
        matter.state = MatterState.GROWING


def as_of(matter: Matter, now: Instant) -> Matter:
    """Where it stands by now: one of which nothing came for a while is steady."""
    still = matter.open and now - matter.changed >= QUIET
    return replace(matter, state=MatterState.STEADY) if still else matter


def settled_text(matter: Matter, line: MatterLine) -> str:
    """What is said of a matter that a line settles: its title, and that line with who said it and when."""
    source, stop = line.perception.source, "" if matter.title.endswith("…") else "."
    quoted = line.text.removeprefix(f"{source}: ")
    return f"Settled: {matter.title}{stop} {source} {clock_time(line.perception.time)}: “{quoted}”"
