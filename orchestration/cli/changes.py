"""``submind connections --history``: what happened to connections and why, as a log that goes on if it is asked to."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from dataclasses import replace

from rich.text import Text

from environment.messages import ChangeKind, ConnectionChange
from orchestration.cli.output import clock, tell
from orchestration.cli.remote import Server, connected
from orchestration.cli.safety import safe
from orchestration.cli.signals import cancel_on
from orchestration.client import MindClient
from orchestration.pb.submind.v1 import mind_pb2
from orchestration.view.changes import ChangeFilter

_PATIENCE = 5.0
_STYLE = {
    ChangeKind.PROMOTED: "bold green",
    ChangeKind.CREDITED: "green",
    ChangeKind.OPENED: "blue",
    ChangeKind.DEMOTED: "yellow",
    ChangeKind.UNREWARDED: "dim",
}


def show_changes(at: Server, wants: ChangeFilter, limit: int, *, follow: bool, json: bool) -> None:
    """Print the latest ``limit`` changes that are wanted, oldest first, and then what happens, if asked to."""
    asyncio.run(_show(at, wants, limit, follow=follow, json=json))


async def _show(at: Server, wants: ChangeFilter, limit: int, *, follow: bool, json: bool) -> None:
    async with connected(at, _PATIENCE) as mind:
        latest = await _latest(mind, wants, limit)
        nothing = "" if follow else "nothing happened to such connections yet"
        tell(reversed(latest), mind_pb2.ConnectionChange, _shown, json=json, nothing=nothing)
        if not follow:
            return
        cancel_on(signal.SIGINT, signal.SIGTERM)
        with contextlib.suppress(asyncio.CancelledError):
            async for change in mind.watch_changes(replace(wants, since=None), latest[0].mark if latest else ""):
                tell([change], mind_pb2.ConnectionChange, _shown, json=json)


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


def _shown(change: ConnectionChange) -> Text:
    line = Text()
    line.append(f"{clock(change.at)} ", style="cyan")
    line.append(f"{change.kind.value:<10} ", style=_STYLE.get(change.kind, "red"))
    line.append(f"{safe(change.owner)} > {safe(change.peer)} ", style="bold")
    line.append(f"about {safe(change.label or change.topic)}", style="magenta")
    line.append(f"  {change.weight:.2f}  ", style="yellow")
    return line.append(safe(change.reason))
