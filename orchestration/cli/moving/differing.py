"""``submind diff``: what one mind knows and another does not."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
import typer

from actors.knowledge.fact import ENTITIES, FACTS, Entity, Fact
from actors.matters.matter import LOOPS, MATTERS, Matter, OpenLoop
from environment.collections import Collection
from environment.configuration import CONFIGURATIONS
from environment.messages import Perception, StreamEntry
from environment.stores.backup.restored import Archived
from environment.stores.movable import Leaving, each_of
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.moving.arriving import read_at, shown
from orchestration.cli.options import Json, MindFile
from orchestration.cli.output import clock, console, emit
from orchestration.cli.safety import safe
from orchestration.loading import load_settings

MindPlace = Annotated[
    str, typer.Argument(metavar="MIND", help="A snapshot; or a mind, which may be running: DIR[#NAME], ADDRESS[#NAME].")
]
_Found: TypeAlias = tuple[int, list[int], list[list[str]]]
"""How much both have, how much only one of them has, and the first of that."""


def diff(
    one: MindPlace,
    other: MindPlace,
    mind: MindFile = None,
    limit: Annotated[int, typer.Option(min=0, metavar="N", help="Of each kind and side show so many at most.")] = 20,
    json: Json = False,
) -> None:
    """Say what one mind knows and the other does not: A is the first, B the second.

    Perceptions and entries are compared number by number; facts, entities and what they have to do with each other,
    matters, subminds and their connections, but for how strong these are, and the settings that were at work last by
    what they say. Neither is written to. Exit code 1 when they differ.
    """
    raise typer.Exit(asyncio.run(_compare(one, other, mind, limit, json=json)))


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


async def _compare(one: str, other: str, file: Path | None, limit: int, *, json: bool) -> bool:
    """Whether they differ; how is shown."""
    async with AsyncExitStack() as opened:
        minds = []
        for side, place in zip("AB", (one, other), strict=True):
            name, where, mind = await opened.enter_async_context(mind_at(place, file))
            minds.append(mind)
            told = {"mind": side, "name": name, "where": where}
            emit(told) if json else console().print(f"{side}: {name} {safe(where)}")
        found = {kind: await _by_number(minds[0], minds[1], kind, limit) for kind in _NUMBERED}
        a, b = [await _said(mind) for mind in minds]
    for kind in _KINDS:
        only = sorted(a[kind] - b[kind]), sorted(b[kind] - a[kind])
        found[kind] = len(a[kind] & b[kind]), [len(each) for each in only], [each[:limit] for each in only]
    for kind, (both, counts, texts) in found.items():
        if json:
            emit({"kind": kind, "both": both, "only": counts, "first": texts})
            continue
        console().print(f"{kind}: {both:,} in both, {counts[0]:,} only in A, {counts[1]:,} only in B")
        for side, count, shown_of in zip("AB", counts, texts, strict=True):
            for text in shown_of:
                console().print(f"  {side}  {safe(text)}")
            if count > len(shown_of):
                console().print(f"  {side}  … and {count - len(shown_of):,} more", style="dim")
    return any(any(counts) for _, counts, _ in found.values())


async def _by_number(one: Leaving, other: Leaving, kind: str, limit: int) -> _Found:
    """Side by side, so that memory does not grow with them."""
    said, both = _NUMBERED[kind], 0
    counts, texts = [0, 0], [list[str](), list[str]()]
    async with aclosing(each_of(one, kind)) as these, aclosing(each_of(other, kind)) as those:
        pair = [await anext(these, None), await anext(those, None)]
        while left := [each for each in pair if each is not None]:
            number = min(each.seq for each in left)
            at = [each if each is not None and each.seq == number else None for each in pair]
            lines = [None if each is None else said(each) for each in at]
            both += (same := lines[0] == lines[1])
            for side, line in enumerate(lines):
                if line is not None and not same:
                    counts[side] += 1
                    texts[side] += [f"{number} {line}"] if counts[side] <= limit else []
            for side, more in enumerate((these, those)):
                pair[side] = pair[side] if at[side] is None else await anext(more, None)
    return both, counts, texts


async def _said(mind: Leaving) -> defaultdict[str, set[str]]:
    """All else that a mind knows, by kind, as it is told."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    async for report in each_of(mind, "reports"):
        found["subminds"].add(f"{report.name}, {report.role}")
    async for one in each_of(mind, "connections"):
        found["connections"].add(f"{one.owner} to {one.peer} about {one.label}{', for long' if one.ltp else ''}")
    entities: dict[str, Entity] = {}
    last = "{}"
    async for document in each_of(mind, "documents"):
        if document.collection == CONFIGURATIONS.name:
            last = CONFIGURATIONS.value(document).body
        for kind, collection, say in _SAYINGS:
            if document.collection == collection.name and (value := collection.read(document)) is not None:
                found[kind].add(say(value))
                if isinstance(value, Entity):
                    entities[value.key] = value
    found["edges"] = {
        f"{one.name} {edge.kind}: {entities[edge.to].name}"
        for one in entities.values()
        for edge in one.edges
        if edge.to in entities
    }
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
_KINDS = ("facts", "entities", "edges", "matters", "subminds", "connections", "settings")
