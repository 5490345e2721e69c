"""``submind watch``: the stream of consciousness as it happens."""

import asyncio
import contextlib
import signal
from typing import Annotated

import typer

from environment.messages import EntryKind
from orchestration.cli.options import Json
from orchestration.cli.output import console, entry_line, tell
from orchestration.cli.remote import Server, connected
from orchestration.cli.signals import cancel_on
from orchestration.pb.submind.v1 import consciousness_pb2 as pb
from orchestration.view.tail import EntryFilter

_PATIENCE = 5.0


def watch(
    at: Server,
    from_seq: Annotated[
        int, typer.Option("--from", metavar="SEQ", min=0, help="The entry to begin with; 0: the next new one.")
    ] = 0,
    count: Annotated[int | None, typer.Option("--count", "-n", min=1, help="End after so many entries.")] = None,
    kind: Annotated[EntryKind | None, typer.Option(help="Only these entries.")] = None,
    source: Annotated[str | None, typer.Option(help="Only what rests on a perception from here.")] = None,
    contains: Annotated[str | None, typer.Option(help="Only texts that contain this.")] = None,
    min_salience: Annotated[float, typer.Option(min=0, max=1, help="Only what is at least so salient.")] = 0.0,
    json: Json = False,
) -> None:
    """Follow the stream of consciousness.

    Goes on by itself where it was when the mind was away. Ctrl-C ends it, and says how to resume.
    """
    wants = EntryFilter(
        kinds=frozenset({kind} if kind else ()), min_salience=min_salience, source=source or "", contains=contains or ""
    )
    last = asyncio.run(_follow(at, from_seq, wants, count, json=json))
    if last and not json and count is None:
        console(error=True).print(f"go on with: submind watch --from {last + 1}")


async def _follow(at: Server, from_seq: int, wants: EntryFilter, most: int | None, *, json: bool) -> int:
    """Show entries until there were enough, or Ctrl-C; the number of the last."""
    cancel_on(signal.SIGINT, signal.SIGTERM)
    out, last, shown = console(), 0, 0
    with contextlib.suppress(asyncio.CancelledError):
        async with connected(at, _PATIENCE) as mind:
            if not json and from_seq == 0 and out.is_terminal:
                head = (await mind.status()).stream.head
                before = f"{head} before; --from 1 shows them all" if head else "the first one will be number 1"
                console(error=True).print(f"waiting for thoughts ({before})", style="dim")
            async for entry in mind.watch(from_seq, wants):
                tell([entry], pb.StreamEntry, entry_line, json=json)
                last, shown = entry.seq, shown + 1
                if shown == most:
                    break
    return last
