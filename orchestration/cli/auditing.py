"""``submind audit``: who did what to a mind."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from orchestration.access.audit import NAME, read_audit
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import HERE, DataDir, Json
from orchestration.cli.output import tell
from orchestration.cli.safety import safe
from orchestration.cli.times import moment_or
from orchestration.schema.times import instant

_LOOK = 0.5


def audit(
    data_dir: DataDir = HERE,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Only what this one did.")] = None,
    action: Annotated[str | None, typer.Option(metavar="TEXT", help="Only actions with this in their name.")] = None,
    refused: Annotated[bool, typer.Option("--refused", help="Only what was refused.")] = False,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Not before.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="The latest so many.")] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as it happens, until Ctrl-C.")] = False,
    json: Json = False,
) -> None:
    """Show who did what: orders, changes of settings and tokens, what operators said, log-ins, refusals.

    Reads audit.log of the data directory, and those set aside. Where a mind has several hosts or processes before it,
    each has its own; their logs have the same lines, as the event `audit`.
    """
    begin = moment_or("--since", since, None)
    if not data_dir.is_dir():
        raise Failure(f"{data_dir}: there is no such directory; --data-dir names that of the mind", MISUSED)

    def wanted(line: dict[str, Any]) -> bool:
        return (
            (by is None or by in str(line.get("by", "")))
            and (action is None or action.casefold() in str(line.get("action", "")).casefold())
            and (not refused or str(line.get("outcome", "")).startswith("refused"))
            and (begin is None or instant(str(line.get("time", ""))) >= begin)
        )

    found = [line for line in read_audit(data_dir) if wanted(line)]
    tell(found[-limit:], None, _line, json=json, nothing="" if follow else f"nothing stands in {data_dir / NAME}")
    if follow:
        tell(filter(wanted, _new(data_dir)), None, _line, json=json)


def _new(folder: Path) -> Iterator[dict[str, Any]]:
    """Lines as they are written, also over a file that is set aside."""
    known = sum(1 for _ in read_audit(folder))
    while True:
        time.sleep(_LOOK)
        lines = list(read_audit(folder))
        yield from lines[min(known, len(lines)) :]
        known = len(lines)


def _line(line: dict[str, Any]) -> Text:
    outcome = str(line.get("outcome", ""))
    told = Text(f"{safe(str(line.get('time', '')))}  ", style="cyan")
    told.append(safe(str(line.get("by", "") or "somebody")), style="bold")
    told.append(f"  {safe(str(line.get('action', '')))}  ")
    told.append(safe(outcome), style="green" if outcome == "done" else "red")
    more = {name: value for name, value in line.items() if name not in {"time", "by", "action", "outcome", "mind"}}
    return told.append("".join(f"  {name}={safe(str(value))}" for name, value in more.items()), style="dim")
