"""``submind diff``: what one mind knows and another does not."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from actors.knowledge.fact import ENTITIES, FACTS, Entity, Fact
from actors.matters.matter import LOOPS, MATTERS, Matter, OpenLoop
from environment.collections import Collection
from environment.configuration import CONFIGURATIONS
from environment.messages import Connection, Perception, StreamEntry
from environment.stores.backup.restored import Archived
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.moving.arriving import read_at, shown
from orchestration.cli.options import Json, MindFile
from orchestration.cli.output import clock, console, emit
from orchestration.cli.safety import safe
from orchestration.loading import load_settings

if TYPE_CHECKING:
    from environment.stores.movable import Leaving

app = typer.Typer(add_completion=False)

MindPlace = Annotated[
    str,
    typer.Argument(metavar="MIND", help="A snapshot; or a mind, which may be running: DIR[#NAME], ADDRESS[#NAME]."),
]


@app.command()
def diff(
    one: MindPlace,
    other: MindPlace,
    mind: MindFile = None,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Of each kind and side show so many at most.")] = 20,
    json: Json = False,
) -> None:
    """Say what one mind knows and the other does not: A is the first, B the second.

    Perceptions and entries are compared number by number; facts, entities, matters, subminds, connections and the
    settings that were at work last by what they say. Neither is written to. Exit code 1 when they differ.
    """
    kinds = asyncio.run(_compared(one, other, mind, limit, json=json))
    for kind, found in kinds.items():
        found.show(kind, json=json)
    raise typer.Exit(any(any(found.count) for found in kinds.values()))


@dataclass
class Difference:
    """What only one of two has, of one kind: how much, and the first of it."""

    limit: int
    both: int = 0
    count: list[int] = field(default_factory=lambda: [0, 0])
    first: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))

    def add(self, side: int, text: str) -> None:
        """Only this side has it."""
        self.count[side] += 1
        if len(self.first[side]) < self.limit:
            self.first[side].append(text)

    def show(self, kind: str, *, json: bool) -> None:
        """Tell it."""
        only = dict(zip("ab", self.count, strict=True))
        if json:
            emit({"kind": kind, "both": self.both, "only": only})
        elif self.both or any(self.count):
            console().print(f"{kind}: {self.both:,} in both, {only['a']:,} only in A, {only['b']:,} only in B")
        for side, texts, count in zip("ab", self.first, self.count, strict=True):
            for text in texts:
                emit({"kind": kind, "in": side, "text": text}) if json else console().print(
                    f"  {side.upper()}  {safe(text)}"
                )
            if not json and count > len(texts):
                console().print(f"  {side.upper()}  … and {count - len(texts):,} more", style="dim")


@asynccontextmanager
async def mind_at(place: str, file: Path | None) -> AsyncIterator[tuple[str, str, Leaving]]:
    """The name of a mind, where it is, and all of it to be read. ``file``: settings. Raises ``Failure``."""
    if await asyncio.to_thread((path := Path(place)).is_file):
        source = Archived(path)
        try:
            await asyncio.to_thread(source.verify)
            yield source.manifest.mind, f"as of {clock(source.manifest.cut)}, {place}", source
        finally:
            source.close()
        return
    address, _, name = place.partition("#")
    if not address:
        raise Failure("name a mind: a snapshot, DIR[#NAME] or ADDRESS[#NAME]", MISUSED)
    settings = load_settings(file, flags={place: ("mind.name", name or None)})
    async with read_at(address, settings) as stores:
        yield settings.mind.name, f"at {shown(address)}", stores.moving


async def _compared(one: str, other: str, file: Path | None, limit: int, *, json: bool) -> dict[str, Difference]:
    async with AsyncExitStack() as opened:
        found: defaultdict[str, Difference] = defaultdict(lambda: Difference(limit))
        minds = []
        for side, place in zip("ab", (one, other), strict=True):
            name, where, source = await opened.enter_async_context(mind_at(place, file))
            minds.append(source)
            emit({"mind": side, "name": name, "where": where}) if json else console().print(
                f"{side.upper()}: {name} {safe(where)}"
            )
        for kind, said in _NUMBERED.items():
            await _by_number(minds[0], minds[1], kind, said, found[kind])
        here, there = [await _said(each) for each in minds]
        for kind in _KINDS:
            difference = found[kind]
            difference.both = len(here[kind] & there[kind])
            for number, only in enumerate((here[kind] - there[kind], there[kind] - here[kind])):
                for text in sorted(only):
                    difference.add(number, text)
        return dict(found)


async def _by_number(one: Leaving, other: Leaving, kind: str, said: Callable[[Any], str], found: Difference) -> None:
    """Side by side, so that memory does not grow with them."""
    async with aclosing(each_of(one, kind)) as these, aclosing(each_of(other, kind)) as those:
        a, b = await anext(these, None), await anext(those, None)
        while a is not None or b is not None:
            order = 0 if a is None or b is None else a.seq - b.seq
            if a is not None and b is not None and order == 0 and said(a) == said(b):
                found.both += 1
            else:
                for side, each in enumerate((a if order <= 0 else None, b if order >= 0 else None)):
                    if each is not None:
                        found.add(side, f"{each.seq} {said(each)}")
            a, b = await anext(these, None) if order <= 0 else a, await anext(those, None) if order >= 0 else b


async def each_of(mind: Leaving, kind: str) -> AsyncGenerator[Any, None]:
    """All there is of a kind."""
    async with aclosing(mind.pages(kind)) as pages:
        async for _, page in pages:
            for each in page:
                yield each


async def _said(mind: Leaving) -> defaultdict[str, set[str]]:
    """All else that a mind knows, by kind, as it is told."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    async for report in each_of(mind, "reports"):
        found["subminds"].add(f"{report.name}, {report.role}")
    async for connection in each_of(mind, "connections"):
        found["connections"].add(_connection(connection))
    last = "{}"
    async for document in each_of(mind, "documents"):
        if document.collection == CONFIGURATIONS.name:
            last = CONFIGURATIONS.value(document).body
        for kind, collection, say in _SAYINGS:
            if document.collection == collection.name and (value := collection.read(document)) is not None:
                found[kind].add(say(value))
    found["settings"] = {f"{path}: {value!r}" for path, value in _leaves(msgspec.json.decode(last))}
    return found


def _leaves(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict):
        for name, below in tree.items():
            yield from _leaves(below, f"{path}.{name}" if path else name)
    else:
        yield path, tree


def _fact(fact: Fact) -> str:
    until = f" until {clock(fact.until)}" if fact.until is not None else ""
    return f"{fact.subject} {fact.relation}: {fact.value} (since {clock(fact.since)}{until}, {fact.standing})"


def _entity(entity: Entity) -> str:
    return ", also ".join((entity.name, *sorted(entity.aliases)))


def _matter(matter: Matter) -> str:
    return f"{matter.title} ({matter.state}, {matter.count} lines)"


def _loop(loop: OpenLoop) -> str:
    return f"owed: {loop.text} ({'open' if loop.open else 'over'})"


def _connection(one: Connection) -> str:
    return f"{one.owner} to {one.peer}, {one.label} ({'LTP' if one.ltp else 'transient'})"


def perception_line(one: Perception) -> str:
    """A perception as a line."""
    picture = f"a picture, {sha256(one.image.data).hexdigest()[:12]}" if one.image else ""
    said = one.text if one.text is not None else one.telemetry or picture
    return f"{clock(one.time)} [{one.source}] {said}"


def _entry(entry: StreamEntry) -> str:
    return f"{clock(entry.time)} {entry.text}"


_NUMBERED: dict[str, Callable[[Any], str]] = {"perceptions": perception_line, "entries": _entry}
_SAYINGS: tuple[tuple[str, Collection[Any], Callable[[Any], str]], ...] = (
    ("facts", FACTS, _fact),
    ("entities", ENTITIES, _entity),
    ("matters", MATTERS, _matter),
    ("matters", LOOPS, _loop),
)
_KINDS = ("facts", "entities", "matters", "subminds", "connections", "settings")
