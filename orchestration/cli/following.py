"""What is going on in a running mind: matters, one matter, a digest."""

import asyncio
from typing import Annotated

import typer
from rich.text import Text

from actors.matters.matter import Matter, MatterLine, MatterState, OpenLoop
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import clock, console, emit, gauge, tell
from orchestration.cli.remote import Server, ask, connected
from orchestration.cli.safety import safe
from orchestration.cli.times import moment_or
from orchestration.clock import wall
from orchestration.pb.submind.v1 import matters_pb2
from orchestration.schema.convert import encode
from orchestration.view.matters import MatterChange

_DAY = 86_400.0
_QUIET = "nothing is going on"
_STYLE = {
    MatterState.SETTLED: "green",
    MatterState.STEADY: "dim",
    MatterState.GROWING: "yellow",
    MatterState.REOPENED: "red",
}

Since = Annotated[str | None, typer.Option(metavar="TIME", help="Only what changed since.")]


def matters(
    at: Server,
    only_open: Annotated[bool, typer.Option("--open", help="Only those that are not settled.")] = False,
    since: Since = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="Most of each.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="What changes from now on, until Ctrl-C.")] = False,
    json: Json = False,
) -> None:
    """List what is going on, the open matters first, by severity; then what is owed, by when it is due."""
    if follow:
        if since is not None:
            raise Failure("give --since or --follow: what is followed begins now", MISUSED)
        asyncio.run(_follow(at, only_open=only_open, json=json))
        return
    begins = moment_or("--since", since, None)
    found, owed = ask(at, lambda client: client.matters(begins, only_open=only_open, limit=limit))
    tell(found, matters_pb2.Matter, _head, json=json)
    tell(owed, matters_pb2.OpenLoop, _owed, json=json)
    if not json and not found and not owed:
        console(error=True).print(_QUIET)


async def _follow(at: Server, *, only_open: bool, json: bool) -> None:
    async with connected(at) as mind:
        async for change in mind.watch_matters(only_open=only_open):
            if json or change.matter is not None or change.loop is not None:
                tell([change], matters_pb2.MatterChange, _change, json=json)


def matter(
    at: Server,
    wanted: Annotated[str, typer.Argument(metavar="ID", help="Its id, or how that begins.")],
    json: Json = False,
) -> None:
    """Show the course of a matter, line by line, why each belongs there, and where it stands."""
    if not wanted.startswith("m-"):
        raise Failure("give the id of a matter, as `submind matters` shows it: m-…", MISUSED)
    tell([ask(at, lambda client: client.matter(wanted))], matters_pb2.Matter, _course, json=json)


def digest(at: Server, since: Since = None, json: Json = False) -> None:
    """Tell in a screenful what happened since you last looked: a day ago, where nothing else is said."""
    begins = moment_or("--since", since, wall() - _DAY)
    found, owed = ask(at, lambda client: client.matters(begins, limit=12))
    if json:
        emit(encode(matters_pb2.ListMattersResponse, matters=found, loops=owed))
        return
    out = console()
    for each in found:
        lines = (line for line in each.lines if line is not each.settled_by)
        out.print(Text("\n").join([_head(each), *map(_line, lines)]))
    for loop in owed[:6]:
        out.print(_owed(loop))
    if not found and not owed:
        console(error=True).print(_QUIET)


def _course(matter: Matter) -> Text:
    summary = [Text(f"  {safe(matter.summary)}", style="italic")] if matter.summary else []
    shown = [_head(matter), *summary, *map(_line, matter.lines)]
    if (left := matter.count - len(matter.lines)) > 0:
        shown.append(Text(f"  and {left} more that are not kept", style="dim italic"))
    if matter.entries:
        thoughts = ", ".join(map(str, matter.entries))
        shown.append(Text(f"  thoughts: {thoughts} (submind explain {matter.entries[-1]})", style="dim"))
    return Text("\n").join(shown)


def _change(change: MatterChange) -> Text:
    if change.matter is None:
        return _owed(change.loop) if change.loop is not None else Text()
    settled = change.matter.state is MatterState.SETTLED
    return Text("\n").join([_head(change.matter), *([] if settled else [_line(change.matter.lines[-1])])])


def _owed(loop: OpenLoop) -> Text:
    when = "done" if not loop.open else f"due {clock(loop.due)}" if loop.dated else "no answer yet"
    shown = Text(f"{when} ", style="magenta")
    shown.append(f"[{safe(loop.perception.source)}] ", style="green")
    shown.append(safe(loop.text), style="")
    return shown


def _head(matter: Matter) -> Text:
    line = Text(overflow="fold")
    line.append(gauge(matter.salience, matter.severity))
    line.append(f"{matter.state.value:<8} ", style=_STYLE.get(matter.state, "bold"))
    line.append(safe(matter.title), style="bold")
    sources = ", ".join(safe(source) for source in matter.sources[:4])
    lines = "1 line" if matter.count == 1 else f"{matter.count} lines"
    line.append(f"  {lines} from {sources}, since {clock(matter.began)}", style="dim")
    line.append(f"  {matter.id[:12]}", style="dim")
    if matter.state is MatterState.SETTLED and matter.settled_by is not None:
        line.append("\n")
        line.append(_line(matter.settled_by))
    return line


def _line(line: MatterLine) -> Text:
    shown = Text("  ", overflow="fold")
    shown.append(f"{clock(line.perception.time)} ", style="cyan")
    shown.append(f"[{safe(line.perception.source)}] ", style="green")
    shown.append(safe(line.text))
    if line.link:
        shown.append(f"  {safe(line.link)}", style="dim italic")
    return shown
