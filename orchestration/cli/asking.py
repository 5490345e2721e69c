"""Questions to a running mind: explain, search, subminds, connections, status."""

import asyncio
import contextlib
import signal
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from environment.lineage import Explanation, NodeKind
from environment.messages import ChangeKind, Connection, ConnectionChange, SubmindReport, ThoughtKind
from environment.search import Hit, SearchFilters
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json
from orchestration.cli.output import bar, because, clock, console, emit, gauge, lineage_line, rows, tell
from orchestration.cli.remote import Server, ask, connected
from orchestration.cli.safety import safe
from orchestration.cli.signals import cancel_on
from orchestration.cli.times import moment_or
from orchestration.client import MindClient
from orchestration.pb.submind.v1 import consciousness_pb2, mind_pb2
from orchestration.schema.convert import encode
from orchestration.schema.trace_messages import encode_hit
from orchestration.view.changes import ChangeFilter
from orchestration.view.status import MindState, MindStatus

_LATEST = 100
"""Changes of connections that are shown, where nobody says how many."""

_STATE = {"running": "green", "starting": "yellow", "restarting": "yellow", "degraded": "yellow"}
_PATIENCE = 5.0
_STYLE = {
    ChangeKind.PROMOTED: "bold green",
    ChangeKind.CREDITED: "green",
    ChangeKind.OPENED: "blue",
    ChangeKind.DEMOTED: "yellow",
    ChangeKind.UNREWARDED: "dim",
}


def explain(
    at: Server,
    wanted: Annotated[str, typer.Argument(metavar="SEQ|ID", help="Number of an entry, or id of anything.")],
    json: Json = False,
) -> None:
    """Show the lineage of a thought as a tree, down to its perceptions."""
    if not wanted.strip():
        raise Failure("give the number of an entry, as `submind watch` shows it, or an id", MISUSED)
    node = ask(at, lambda client: client.explain(wanted.strip()))
    tell([node], consciousness_pb2.Explanation, _tree, json=json)


def search(
    at: Server,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for, by meaning.")],
    k: Annotated[int, typer.Option("-k", min=1, help="At most so many.")] = 10,
    source: Annotated[str | None, typer.Option(help="Rests on a perception from here.")] = None,
    author: Annotated[str | None, typer.Option(help="By this submind.")] = None,
    kind: Annotated[ThoughtKind | None, typer.Option(help="Only this kind.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Not before.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before.")] = None,
    min_salience: Annotated[float, typer.Option(min=0, max=1, help="At least so salient now.")] = 0.0,
    json: Json = False,
) -> None:
    """Find traces by meaning, nearest first."""
    if not text.strip():
        raise Failure("there is nothing to look for: give some words", MISUSED)
    filters = SearchFilters(
        source=source,
        author=author,
        kind=kind,
        since=moment_or("--since", since, None),
        until=moment_or("--until", until, None),
        min_salience=min_salience,
    )
    hits = ask(at, lambda client: client.search(text, k, filters))
    columns = ">near salience time +sources author +thought"
    rows(hits, columns, _hit, encode_hit, json=json, nothing="nothing like that is in the environment")


def subminds(at: Server, json: Json = False) -> None:
    """List who lives in the mind, and how they are."""
    reports = ask(at, lambda client: client.subminds())
    columns, form = "name role state >waiting >topics +goal", partial(encode, mind_pb2.SubmindReport)
    rows(reports, columns, _submind, form, json=json, nothing="nobody has reported yet")


def connections(
    at: Server,
    owner: Annotated[
        str | None, typer.Option("--submind", "--owner", metavar="NAME", help="Only those of this submind.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="What happened to connections, and why.")] = False,
    topic: Annotated[str | None, typer.Option(help="Only about this: a topic's key, or part of its name.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="With --history: not before.")] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="With --history: go on as it happens, until Ctrl-C.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="With --history: the latest so many; 100.")
    ] = None,
    json: Json = False,
) -> None:
    """List who is connected to whom, about what, and how strongly; or what happened to connections, and why."""
    if history:
        wants = ChangeFilter(owner or "", topic or "", since=moment_or("--since", since, None))
        show_changes(at, wants, limit or _LATEST, follow=follow, json=json)
        return
    if since is not None or follow or limit is not None:
        raise Failure("--since, --follow and --limit go with --history", MISUSED)
    found = ask(at, lambda client: client.connections(owner))
    if owner and not found and owner not in {report.name for report in ask(at, lambda client: client.subminds())}:
        raise Failure(f"nobody here is called {owner!r}: `submind subminds` lists who there is")
    if topic:
        found = [each for each in found if topic == each.topic or topic.casefold() in each.label.casefold()]
    columns, form = "from to +about weight kind >uses >credited last_use", partial(encode, mind_pb2.Connection)
    rows(found, columns, _connection, form, json=json, nothing="nobody is connected yet")


def status(at: Server, json: Json = False) -> None:
    """Show rates, limits, budget and health. Exit code 1 when the mind is down."""
    told = ask(at, lambda client: client.status())
    if json:
        emit(encode(mind_pb2.MindStatus, told))
    else:
        _status(told)
    if told.state is MindState.DOWN:
        raise typer.Exit(1)


def _tree(root: Explanation) -> Tree:
    """The lineage as a tree; built without recursion, so that no depth can break it."""
    top = Tree(_node(root), guide_style="dim")
    left = [(root, top)]
    while left:
        node, branch = left.pop()
        left += [(child, branch.add(_node(child))) for child in node.children]
        if node.truncated:
            branch.add(Text("… more below than is shown here", style="dim italic"))
    return top


def _node(node: Explanation) -> Text:
    line = Text()
    perception = node.kind is NodeKind.PERCEPTION
    line.append(f"{node.kind.value} ", style="magenta" if perception else "blue")
    line.append(f"{clock(node.time)} ", style="cyan")
    if node.salience is not None:
        line.append(gauge(node.salience, node.severity))
    line.append(f"[{safe(node.source if perception else node.author)}] ", style="green")
    if node.link:
        line.append(f"{safe(node.link)} — ", style="cyan")
    line.append(safe(node.text), style="" if perception else "bold")
    if node.evidence:
        line.append(f" ({because(node.evidence)})", style="italic")
    line.append(f"  {node.id}", style="dim")
    if node.worded_by:
        line.append(f" worded by {safe(node.worded_by)}", style="dim")
    if node.why is not None:
        line.append(f"\n  why now: {safe(node.why.words)} ({because(node.why.parts)})", style="italic")
    if node.trace_id:
        line.append(f" trace {node.trace_id}", style="dim")
    if node.standing != "kept":
        line.append(f" ({node.standing.value})", style="dim italic")
    return line


def _hit(hit: Hit) -> tuple[str | Text, ...]:
    thought = hit.trace.thought
    return (
        f"{hit.score:.2f}",
        Text(bar(hit.salience), style="yellow"),
        Text(clock(thought.time), style="cyan"),
        Text(", ".join(dict.fromkeys(safe(ref.source) for ref in thought.perceptions[:4])), style="green"),
        safe(thought.author),
        Text.assemble(safe(thought.text), (f"  {hit.trace.id}{_others(len(hit.also))}", "dim")),
    )


def _others(count: int) -> str:
    return f", also {count} other{'s' if count > 1 else ''}" if count else ""


def _submind(report: SubmindReport) -> tuple[str | Text, ...]:
    state = f"{report.state.value}{': ' + safe(report.reason) if report.reason else ''}"
    return (
        Text(safe(report.name), style="bold"),
        report.role,
        Text(state, style=_STATE.get(report.state.value, "red")),
        str(report.mailbox),
        str(len(report.topics)),
        safe(report.goal),
    )


def _connection(connection: Connection) -> tuple[str | Text, ...]:
    return (
        safe(connection.owner),
        safe(connection.peer),
        safe(connection.label),
        Text(f"{bar(connection.weight)} {connection.weight:.2f}", style="yellow"),
        Text("LTP", style="bold green") if connection.ltp else "transient",
        str(connection.uses),
        str(connection.credited),
        clock(connection.last_use) if connection.last_use > 0 else "never",
    )


def _status(status: MindStatus) -> None:
    out = console()
    head = Text(safe(status.mind), style="bold")
    head.append(f"  {status.state.value}", style=_STATE.get(status.state.value, "red"))
    head.append(f"  up {_span(status.uptime)}, version {safe(status.version)}", style="dim")
    out.print(head)
    for reason in status.reasons:
        out.print(f"  ! {safe(reason)}", style="yellow")
    perceptions, tokens = status.perceptions, status.tokens
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("perceptions", f"{perceptions.head:,} in the log, {perceptions.per_minute:.1f} a minute")
    table.add_row("stream", f"{status.stream.head:,} entries, {status.stream.per_hour:.1f} in the last hour")
    table.add_row("traces", f"{status.traces.live:,} live of {status.traces.total:,}")
    left = "no budget set" if tokens.budget_left is None else f"{tokens.budget_left:,.0f} left in the budget"
    table.add_row("tokens", f"{tokens.input:,} in, {tokens.output:,} out, cost {tokens.cost:.2f}, {left}")
    table.add_row("subminds", ", ".join(f"{n} {state}" for state, n in status.subminds.items() if n) or "none")
    substrate = ", ".join(
        f"{safe(name)} {_figure(value)}" for name, value in sorted(status.substrate.items()) if value != ""
    )
    table.add_row("substrate", substrate or "not reported yet")
    for ancestor in status.lineage:
        table.add_row("lineage", lineage_line(ancestor))
    for hit in status.limits:
        if hit.hits:
            bound = "" if hit.limit is None else f" (limit {hit.limit:g})"
            table.add_row("limit met", f"{safe(hit.name)}: {hit.hits:,} time{'s' if hit.hits > 1 else ''}{bound}")
    out.print(table)


def _figure(value: float | str) -> str:
    return safe(value) if isinstance(value, str) else f"{value:g}"


def _span(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def show_changes(at: Server, wants: ChangeFilter, limit: int, *, follow: bool, json: bool) -> None:
    """Print the latest ``limit`` changes that are wanted, oldest first, and then what happens, if asked to."""
    asyncio.run(_told_changes(at, wants, limit, follow=follow, json=json))


async def _told_changes(at: Server, wants: ChangeFilter, limit: int, *, follow: bool, json: bool) -> None:
    async with connected(at, _PATIENCE) as mind:
        latest = await _latest(mind, wants, limit)
        nothing = "" if follow else "nothing happened to such connections yet"
        tell(reversed(latest), mind_pb2.ConnectionChange, _change, json=json, nothing=nothing)
        if not follow:
            return
        cancel_on(signal.SIGINT, signal.SIGTERM)
        with contextlib.suppress(asyncio.CancelledError):
            async for change in mind.watch_changes(replace(wants, since=None), latest[0].mark if latest else ""):
                tell([change], mind_pb2.ConnectionChange, _change, json=json)


async def _latest(mind: MindClient, wants: ChangeFilter, limit: int) -> list[ConnectionChange]:
    """Newest first; page after page, since one page may be bounded lower."""
    found: list[ConnectionChange] = []
    before = ""
    while len(found) < limit:
        page = await mind.changes(wants, min(limit - len(found), 1000), before)
        found += page.changes
        before = page.older
        if not before:
            break
    return found


def _change(change: ConnectionChange) -> Text:
    line = Text()
    line.append(f"{clock(change.at)} ", style="cyan")
    line.append(f"{change.kind.value:<10} ", style=_STYLE.get(change.kind, "red"))
    line.append(f"{safe(change.owner)} > {safe(change.peer)} ", style="bold")
    line.append(f"about {safe(change.label or change.topic)}", style="magenta")
    line.append(f"  {change.weight:.2f}  ", style="yellow")
    return line.append(safe(change.reason))
