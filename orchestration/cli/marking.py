"""What people say of entries and matters: useful or not, wrong, muted, settled, remind me."""

from typing import Annotated

import typer
from rich.text import Text

from environment.marks import FeedbackMark, MarkKind, MuteScope
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.growing import By
from orchestration.cli.options import Json
from orchestration.cli.output import clock, tell
from orchestration.cli.remote import Server, ask
from orchestration.cli.safety import safe
from orchestration.client.growth import caller
from orchestration.pb.submind.v1 import matters_pb2


def mark(
    at: Server,
    target: Annotated[str, typer.Argument(metavar="ENTRY", help="The number of an entry, or the id of a matter.")],
    useful: Annotated[bool, typer.Option("--useful", help="It was worth telling.")] = False,
    not_useful: Annotated[bool, typer.Option("--not-useful", help="It was not.")] = False,
    wrong: Annotated[bool, typer.Option("--wrong", help="What was joined there does not belong together.")] = False,
    line: Annotated[str, typer.Option(metavar="TRACE", help="With --wrong on a matter: the line's trace.")] = "",
    mute: Annotated[str, typer.Option(metavar="SPAN", help="Nothing of it for so long, but what is critical.")] = "",
    of: Annotated[MuteScope | None, typer.Option("--of", help="With --mute: what. Default: the source.")] = None,
    settled: Annotated[bool, typer.Option("--settled", help="Its matter is over.")] = False,
    remind: Annotated[str, typer.Option(metavar="TIME", help="Tell it again then: 2h, or 'tomorrow 9:00'.")] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="Take back the latest mark there, or the mark of that id.")
    ] = False,
    by: By = None,
    json: Json = False,
) -> None:
    """Say something of an entry or a matter; it holds at once, and over every restart."""
    told = {
        MarkKind.USEFUL: useful,
        MarkKind.NOT_USEFUL: not_useful,
        MarkKind.WRONG: wrong,
        MarkKind.MUTE: bool(mute),
        MarkKind.SETTLED: settled,
        MarkKind.REMIND: bool(remind),
    }
    kinds = [kind for kind, wanted in told.items() if wanted]
    if len(kinds) + undo != 1:
        options = ", ".join(f"--{kind.value.replace('_', '-')}" for kind in told)
        raise Failure(f"say one thing of {target}: {options} or --undo", MISUSED)
    who = by or caller()
    if undo:
        done = ask(at, lambda mind: mind.undo_mark(target, who))
    else:
        done = ask(at, lambda mind: mind.mark(target, kinds[0], of=of, until=mute or remind, line=line, by=who))
    head = "undone: " if undo else ""
    tell([done], matters_pb2.Mark, lambda mark: Text(head).append_text(_shown(mark)), json=json)


def marks(at: Server, json: Json = False) -> None:
    """List the marks that stand, the latest first: what is muted and until when, and what was said."""
    tell(ask(at, lambda mind: mind.marks()), matters_pb2.Mark, _shown, json=json, nothing="no mark stands")


def _shown(mark: FeedbackMark) -> Text:
    line = Text(overflow="fold")
    line.append(f"{mark.id} ", style="dim")
    line.append(mark.kind.value.replace("_", " "), style="bold")
    if mark.of is not None:
        line.append(f" {mark.of.value} {safe(mark.value)}", style="green")
    if mark.until is not None:
        line.append(f" {'until' if mark.of else 'at'} {clock(mark.until)}", style="magenta")
    line.append(f" {safe(mark.target)} “{safe(mark.text)}”")
    line.append(f" — {safe(mark.by)}, {clock(mark.at)}", style="dim")
    return line
