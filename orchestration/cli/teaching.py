"""``submind pack``: innate knowledge of a mind that lives, added, listed and taken away, apart from all experience."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actors.knowledge.fact import FACTS
from actors.knowledge.pack_files import read_packs
from environment.identity import derived
from environment.packs import PACKS, PackSection, keep_packs, source_of
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import HERE, DataDir, Group, Json, MindFile, StoreAddress
from orchestration.cli.output import console, emit
from orchestration.cli.safety import safe
from orchestration.loading import load_settings
from orchestration.store_factory import open_mind

if TYPE_CHECKING:
    from environment.stores.movable import Movable
    from orchestration.settings import Settings


def add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Markdown, CSV or JSON-LD; its name names the pack.")],
    mind: MindFile = None,
    data_dir: DataDir = HERE,
    store: StoreAddress = None,
) -> None:
    """Give a mind a pack, or another version of one that was added. One that runs learns it within a minute."""

    async def run() -> str:
        async with _opened(mind, data_dir, store) as (settings, stores):
            known = settings.knowledge
            kept = (await PACKS.all_of(stores.collections)).values()
            if any(one.pack == file.name and not one.added for one in kept) or file.name in _names(settings):
                raise Failure(f"{file.name} is a pack of knowledge.packs: change that file", MISUSED)
            room = known.pack_sections - sum(one.pack != file.name for one in kept)
            read = await asyncio.to_thread(read_packs, [file], known.pack_trust, room)
            change = await keep_packs(stores, [replace(one, added=True) for one in read], added=file.name)
            return f"{file.name}, version {_version(read)}: {len(change.came)} sections came, {len(change.gone)} went"

    console().print(safe(asyncio.run(run())))


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `submind pack list` names it.")],
    mind: MindFile = None,
    data_dir: DataDir = HERE,
    store: StoreAddress = None,
) -> None:
    """Take a pack away, with every fact, entity and answer that rests on nothing else; experience stays."""

    async def run() -> int:
        async with _opened(mind, data_dir, store) as (settings, stores):
            if name in _names(settings):
                raise Failure(f"{name} is a pack of knowledge.packs: take it out there", MISUSED)
            return len((await keep_packs(stores, (), added=name)).gone)

    gone = asyncio.run(run())
    if not gone:
        raise Failure(f"no pack {name!r} was added: `submind pack list` names those that were")
    console().print(f"{safe(name)}: {gone} sections went; a mind that runs forgets them within a minute")


def listing(mind: MindFile = None, data_dir: DataDir = HERE, store: StoreAddress = None, json: Json = False) -> None:
    """List the packs of a mind: version, sections, facts that rest on them, and whether they were added."""

    async def run() -> list[dict[str, object]]:
        async with _opened(mind, data_dir, store) as (_, stores):
            packs: dict[str, list[PackSection]] = {}
            for one in (await PACKS.all_of(stores.collections)).values():
                packs.setdefault(one.pack, []).append(one)
            facts = (await FACTS.all_of(stores.collections)).values()
            return [
                {
                    "pack": name,
                    "version": _version(sections),
                    "sections": len(sections),
                    "facts": sum(any(ref.source.startswith(source_of(name)) for ref in f.evidence) for f in facts),
                    "added": sections[0].added,
                }
                for name, sections in sorted(packs.items())
            ]

    for one in (found := asyncio.run(run())):
        told = "{pack}  version {version}, {sections} sections, {facts} facts".format(**one)
        emit(one) if json else console().print(safe(f"{told}, {'added' if one['added'] else 'of knowledge.packs'}"))
    if not found:
        console(error=True).print("there are no packs")


@asynccontextmanager
async def _opened(mind: Path | None, data_dir: Path, store: str | None) -> AsyncIterator[tuple[Settings, Movable]]:
    settings = load_settings(mind, flags={"--store": ("store.address", store)})
    stores = await open_mind(settings, data_dir, "pack")
    try:
        yield settings, stores
    finally:
        await stores.close()


def _names(settings: Settings) -> set[str]:
    return {file.name for file in settings.knowledge.packs}


def _version(sections: list[PackSection]) -> str:
    """The same for packs that say the same."""
    return derived("v", *sorted(one.id for one in sections))[2:10]


pack = Group("Innate knowledge of a mind that lives.", {"add": add, "list": listing, "remove": remove})
