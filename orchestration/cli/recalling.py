"""``submind recall`` and ``submind remember``: what was perceived, found again, and what is to be kept."""

import getpass
from typing import Annotated

import typer
from rich.text import Text

from environment.episodes.recall import Quotation, RecallFilters, Recollection
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import clock, console, tell
from orchestration.cli.remote import Server, ask
from orchestration.cli.safety import safe
from orchestration.cli.times import moment_or
from orchestration.pb.submind.v1 import environment_pb2, perception_pb2


def recall(
    at: Server,
    text: Annotated[str, typer.Argument(metavar="TEXT", help='A question or a few words: "what broke last Tuesday".')],
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="At most so many.")] = 10,
    source: Annotated[str | None, typer.Option(help="Perceived by this source.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Not before.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before.")] = None,
    budget: Annotated[int, typer.Option(min=0, help="Most characters of all that is told; 0: any number.")] = 0,
    context: Annotated[bool, typer.Option("--context", help="With what was said right before and after.")] = False,
    json: Json = False,
) -> None:
    """Find what was perceived: by words, meaning, time and who said it. Exit code 1 when there is nothing like it."""
    if not text.strip():
        raise Failure("there is nothing to look for: give some words", MISUSED)
    wanted = RecallFilters(source, moment_or("--since", since, None), moment_or("--until", until, None), budget)
    found = ask(at, lambda mind: mind.recall(text, k, wanted))
    tell(found, environment_pb2.Recollection, lambda one: _shown(one, context=context), json=json)
    if not found:
        console(error=True).print("nothing like that was perceived, as far as is kept")
        raise typer.Exit(1)


def remember(
    at: Server,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be kept.")],
    source: Annotated[str | None, typer.Option(help="Who says it. Default: this user.")] = None,
    json: Json = False,
) -> None:
    """Tell the mind something that it is to remember; it is kept once this returns."""
    if not text.strip():
        raise Failure("there is nothing to remember: give some words", MISUSED)
    receipt = ask(at, lambda mind: mind.remember(text, source=source or getpass.getuser()))
    tell([receipt], perception_pb2.Receipt, lambda one: Text(f"kept as {one.id}"), json=json)


def _shown(one: Recollection, *, context: bool) -> Text:
    place = one.perception
    early = [beside for beside in one.around if beside.perception.time <= place.time] if context else []
    late = [beside for beside in one.around if beside not in early] if context else []
    line = Text(overflow="fold")
    line.append(clock(place.time), style="cyan")
    line.append(f" [{safe(place.source)}] ", style="green")
    line.append(safe(one.text))
    line.append(f"  ({_reasons(one)})", style="italic")
    line.append(f"  {place.id}", style="dim")
    return Text("\n").join([*map(_beside, early), line, *map(_beside, late)])


def _beside(quoted: Quotation) -> Text:
    place = quoted.perception
    return Text(f"    {clock(place.time)} [{safe(place.source)}] {safe(quoted.text)}", style="dim", overflow="fold")


def _reasons(one: Recollection) -> str:
    told = [
        f"words: {', '.join(one.words)}" if one.words else "",
        f"beside it: {', '.join(one.near)}" if one.near else "",
        f"meaning {one.meaning:.2f}" if one.meaning else "",
        f"time: {one.when}" if one.when else "",
        f"said by {one.who}" if one.who else "",
        f"goal: {one.goal}" if one.goal else "",
        f"also {one.also} like it" if one.also else "",
        f"{one.counted} of them only counted" if one.counted else "",
    ]
    return safe("; ".join(filter(None, told)))
