"""``submind configure``: settings that change while a mind runs, for all its hosts at once."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import CoordinationAddress, Json, MindFile
from orchestration.cli.output import clock, console, emit
from orchestration.cli.safety import safe
from orchestration.cli.tree import as_yaml
from orchestration.client.growth import caller
from orchestration.clock import wall
from orchestration.loading import load_settings, parsed
from orchestration.membership.backends import coordination_of
from orchestration.membership.ports import ConfigurationVersion
from orchestration.membership.tunables import tunable_paths, value_at
from orchestration.schema.times import rfc3339
from orchestration.settings import Settings

_MANY = 50


def configure(
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="For example attention.per_hour=3.")
    ] = None,
    reset: Annotated[
        list[str] | None, typer.Option("--reset", metavar="KEY", help="Back to what file and environment say.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="What is changed now, by whom, since when.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Who changed what, the newest first.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Everything that may change so, and why.")] = False,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who says so. Default: this user.")] = None,
    base: Annotated[int | None, typer.Option(metavar="VERSION", help="Only if this is the newest version.")] = None,
    mind: MindFile = None,
    coordination: CoordinationAddress = None,
    json: Json = False,
) -> None:
    """Change settings of a mind while it runs, and see who changed what. They are checked before they are accepted.

    All hosts of the mind must agree through etcd; hosts that start later learn of it as well.
    """
    settings = load_settings(mind, flags={"--coordination": ("coordination.address", coordination)})
    values = dict(_assignment(change) for change in changes or [])
    if sum((bool(values or reset), show, history, listed)) != 1:
        raise Failure("give KEY=VALUE or --reset KEY to change something, or one of --show, --history, --list", MISUSED)
    if listed:
        _list(settings, json=json)
        return
    if settings.coordination.address is None:
        raise Failure(
            "settings change while a mind runs only where its hosts agree through etcd: name it with --coordination",
            MISUSED,
        )
    if show or history:
        found = asyncio.run(_read(settings, _MANY if history else 1, current=show))
    else:
        found = [asyncio.run(_change(settings, values, reset or [], by or caller(), base))]
    for version in found:
        _show(settings, version, json=json, values=not history)


def _assignment(change: str) -> tuple[str, object]:
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise Failure(f"{change!r}: a change is written KEY=VALUE, for example attention.per_hour=3", MISUSED)
    return key.strip(), parsed(value, key.strip())


async def _change(
    settings: Settings, values: Mapping[str, Any], reset: list[str], by: str, base: int | None
) -> ConfigurationVersion:
    async with coordination_of(settings) as coordination:
        return await coordination.configuration.change(values, reset=reset, by=by, at=wall(), base=base)


async def _read(settings: Settings, limit: int, *, current: bool) -> list[ConfigurationVersion]:
    async with coordination_of(settings) as coordination:
        if current:
            return [await coordination.configuration.current()]
        return await coordination.configuration.history(limit)


def _show(settings: Settings, version: ConfigurationVersion, *, json: bool, values: bool) -> None:
    """A version: what it changed, and where asked for all that is other than file and environment say."""
    if json:
        emit(
            {
                "version": version.version,
                "at": rfc3339(version.at),
                "by": version.by,
                "changed": list(version.changed),
                "values": dict(version.values),
            }
        )
        return
    out = console()
    if not version.version:
        out.print("nothing was changed: file and environment hold")
        return
    head = Text(f"version {version.version}", style="bold")
    head.append(f"  {clock(version.at)}  {safe(version.by)}", style="dim")
    out.print(head)
    for path in dict.fromkeys([*version.changed, *(version.values if values else ())]):
        told = safe(as_yaml(version.values[path])) if path in version.values else "as in the file"
        before = f"  (file: {safe(as_yaml(value_at(settings, path)))})" if path in tunable_paths() else ""
        mark = "*" if path in version.changed else " "
        out.print(f"  {mark} {path}: {told}{before}")


def _list(settings: Settings, *, json: bool) -> None:
    known = tunable_paths()
    if json:
        for path, why in known.items():
            emit({"setting": path, "value": value_at(settings, path), "why": why})
        return
    out = console()
    for reason in dict.fromkeys(known.values()):
        out.print(Text(f"{reason}:", style="dim"))
        for path in (path for path, why in known.items() if why == reason):
            out.print(f"  {path}: {safe(as_yaml(value_at(settings, path)))}")
