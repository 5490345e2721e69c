"""``submind pack``: innate knowledge of a mind that lives, added, listed and taken away, apart from all experience."""

from pathlib import Path
from typing import Annotated

import typer

from actors.knowledge.pack_files import pack_text
from environment.packs import KnownPack
from orchestration.cli.growing import By
from orchestration.cli.options import Group, Json
from orchestration.cli.output import tell
from orchestration.cli.remote import Server, ask
from orchestration.cli.safety import safe
from orchestration.client.growth import caller
from orchestration.pb.submind.v1 import packs_pb2 as pb


def add(
    at: Server,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Markdown, CSV or JSON-LD; its name names the pack.")],
    by: By = None,
    json: Json = False,
) -> None:
    """Give a mind a pack, or another version of one that was added; it learns it at once."""
    text = pack_text(file)
    done = ask(
        at,
        lambda mind: mind.ask("PackService/AddPack", pb.AddPackRequest(name=file.name, text=text, by=by or caller())),
    )
    tell([done], None, lambda one: f"{_shown(one.pack)}: {one.came} sections came, {one.gone} went", json=json)


def remove(
    at: Server,
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `submind pack list` names it.")],
    by: By = None,
    json: Json = False,
) -> None:
    """Take a pack away, with every fact, entity and answer that rests on nothing else; experience stays."""
    gone = ask(at, lambda mind: mind.one("PackService/RemovePack", KnownPack, name=name, by=by or caller()))
    tell([gone], pb.Pack, lambda one: f"{safe(one.name)}: {one.sections} sections went", json=json)


def listing(at: Server, json: Json = False) -> None:
    """List the packs of a mind: version, sections, facts that rest on them, and whether they were added."""
    found = ask(at, lambda mind: mind.every("PackService/ListPacks", KnownPack))
    tell(found, pb.Pack, _listed, json=json, nothing="there are no packs")


def _shown(one: KnownPack | pb.Pack) -> str:
    return safe(f"{one.name}  version {one.version}, {one.sections} sections")


def _listed(one: KnownPack) -> str:
    return f"{_shown(one)}, {one.facts} facts, {'added' if one.added else 'of knowledge.packs'}"


pack = Group("Innate knowledge of a mind that lives.", {"add": add, "list": listing, "remove": remove})
