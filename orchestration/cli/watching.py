"""``submind watch``: the stream of consciousness as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import Annotated

import typer

from environment.messages import EntryKind
from orchestration.cli.options import Json
from orchestration.cli.output import console, emit, entry_line
from orchestration.cli.remote import Server, calling, connected
from orchestration.cli.signals import cancel_on
from orchestration.pb.submind.v1 import consciousness_pb2 as pb
from orchestration.schema.convert import encode
from orchestration.view.tail import EntryFilter

app = typer.Typer(add_completion=False)

_PATIENCE = 5.0


@app.command()
@calling
def watch(
    at: Server,
    from_seq: Annotated[
        int, typer.Option("--from", metavar="SEQ", min=0, help="The entry to begin with; 0: the next new one.")
    ] = 0,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="End after so many entries.", show_default=False)
    ] = None,
    kind: Annotated[EntryKind | None, typer.Option(help="Only these entries.", show_default=False)] = None,
    source: Annotated[
        str | None, typer.Option(help="Only what rests on a perception from here.", show_default=False)
    ] = None,
    contains: Annotated[str | None, typer.Option(help="Only texts that contain this.", show_default=False)] = None,
    min_salience: Annotated[float, typer.Option(min=0, max=1, help="Only what is at least so salient.")] = 0.0,
    json: Json = False,
) -> None:
    """Follow the stream of consciousness.

    Goes on by itself where it was when the mind was away. Ctrl-C ends it, and says how to resume.
    """
    wants = EntryFilter(
        kinds=frozenset({kind} if kind else ()), min_salience=min_salience, source=source or "", contains=contains or ""
    )
    watching = _Watching(wants, json=json, most=count)
    asyncio.run(watching.run(at, from_seq))
    if watching.last and not json and count is None:
        console(error=True).print(f"go on with: submind watch --from {watching.last + 1}")


class _Watching:
    def __init__(self, wants: EntryFilter, *, json: bool, most: int | None) -> None:
        self.last = 0
        self._wants = wants
        self._json = json
        self._most = most
        self._shown = 0

    async def run(self, at: Server, from_seq: int) -> None:
        cancel_on(signal.SIGINT, signal.SIGTERM)
        with contextlib.suppress(asyncio.CancelledError):
            await self._follow(at, from_seq)

    async def _follow(self, at: Server, from_seq: int) -> None:
        out = console()
        async with connected(at, _PATIENCE) as mind:
            if not self._json and from_seq == 0 and out.is_terminal:
                head = (await mind.status()).stream.head
                before = f"{head} before; --from 1 shows them all" if head else "the first one will be number 1"
                console(error=True).print(f"waiting for thoughts ({before})", style="dim")
            async for entry in mind.watch(from_seq, self._wants):
                if self._json:
                    emit(encode(pb.StreamEntry, entry))
                else:
                    out.print(entry_line(entry))
                self.last = entry.seq
                self._shown += 1
                if self._shown == self._most:
                    return
