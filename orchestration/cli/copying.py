"""``submind copy``: a mind moves from one store to another, whole, and the proof of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from environment.errors import StoreUnavailable
from environment.messages import SubmindState
from environment.stores.copying import KINDS, Copy, differences, mark_of, tally
from environment.stores.opening import directory_of, open_stores
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Json, MindFile
from orchestration.cli.output import console, emit
from orchestration.host.places import DataLock
from orchestration.loading import load_settings

if TYPE_CHECKING:
    from environment.stores.moving import Movable
    from environment.stores.tally import Tally
    from orchestration.settings import Settings

app = typer.Typer(add_completion=False)

_PATIENCE = 120.0
"""Seconds for which a store may be away before the command gives up; what has arrived stays."""
_EVERY = 1.0


@app.command()
def copy(
    source: Annotated[
        str, typer.Option("--from", metavar="ADDRESS", help="Where it lives: a directory, sqlite:DIR, cassandra://…")
    ],
    target: Annotated[str, typer.Option("--to", metavar="ADDRESS", help="Where it is to live; nothing of it there.")],
    mind: MindFile = None,
    name: Annotated[
        str | None, typer.Option(help="Of the mind. Default: that of the settings.", show_default=False)
    ] = None,
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="Of a cluster: the mind there did not stop in order. Fences out what it was."),
    ] = False,
    json: Json = False,
) -> None:
    """Copy a stopped mind from one store to another: everything, with its ids, numbers and order.

    It may be killed at any time: the same command goes on where it was. At the end both are read whole and compared
    by counts and digests; exit code 1 when they differ. The source is left as it is.
    """
    settings = load_settings(mind, flags={"--name": ("mind.name", name)})
    if _place(source) == _place(target):
        raise Failure("--from and --to are the same place", MISUSED)
    raise typer.Exit(asyncio.run(_Move(settings, source, target, take_over=take_over, json=json).run()))


def _place(address: str) -> str:
    directory = directory_of(address)
    return address.partition("?")[0] if directory is None else str(directory.resolve())


class _Move:
    """One run of the command."""

    def __init__(self, settings: Settings, source: str, target: str, *, take_over: bool, json: bool) -> None:
        self._settings = settings
        self._mind = settings.mind.name
        self._source, self._target = source, target
        self._take_over = take_over
        self._json = json
        self._said = 0.0
        self._out = console(error=True)

    async def run(self) -> int:
        """The exit code."""
        with _locked(self._source, self._target):
            async with AsyncExitStack() as opened:
                source = await self._open(opened, self._source)
                await self._see_that_it_stopped(source)
                target = await self._open(opened, self._target)
                await self._copy(source, target)
                return await self._compare(source, target)

    async def _open(self, opened: AsyncExitStack, address: str) -> Movable:
        cassandra = self._settings.store.cassandra
        stores = await open_stores(address, self._mind, lane="copy", cassandra=cassandra)
        opened.push_async_callback(stores.close)
        return stores

    async def _see_that_it_stopped(self, source: Movable) -> None:
        """Of files the lock says so; of a cluster, what its actors said last."""
        reports = await source.registry.reports()
        if await source.perceptions.head() == 0 and not reports:
            raise Failure(
                f"there is no mind called {self._mind} at {_place(self._source)}: --name or --mind says which"
            )
        mark = await mark_of(source)
        if mark is not None and mark.stage:
            raise Failure(f"{self._mind} is still moving in at {_place(self._source)}, from {mark.source}: finish that")
        if directory_of(self._source) is not None:
            return
        alive = [report.name for report in reports if report.state is not SubmindState.STOPPED]
        if alive and not self._take_over:
            raise Failure(
                f"{self._mind} has not stopped ({', '.join(alive[:3])}{', …' if alive[3:] else ''}): stop it;"
                " if it died, --take-over shuts out whatever is left of it"
            )
        await source.lead()
        await source.perceptions.lead()

    async def _copy(self, source: Movable, target: Movable) -> None:
        """Copy, and again from where it was left while a store is away."""
        moving = Copy(source, target, _place(self._source), self._copied)
        deadline = time.monotonic() + _PATIENCE
        before = None
        while True:
            try:
                await moving.run()
            except StoreUnavailable as error:
                if self._progress != before:
                    before, deadline = self._progress, time.monotonic() + _PATIENCE
                if time.monotonic() > deadline:
                    raise Failure(f"{error}: what has arrived stays, the same command goes on from there") from None
                self._note(f"{error}; trying again")
                await asyncio.sleep(max(0.5, error.retry_after))
            else:
                return

    _progress: tuple[str, int] | None = None

    def _copied(self, kind: str, count: int) -> None:
        self._progress = (kind, count)
        self._tell("copied", kind, count)

    async def _compare(self, source: Movable, target: Movable) -> int:
        here = await tally(source, lambda kind, count: self._tell("read at the source", kind, count))
        there = await tally(target, lambda kind, count: self._tell("read at the target", kind, count))
        wrong = {difference.kind for difference in differences(here, there)}
        for kind in KINDS:
            self._verdict(kind, here[kind], there[kind])
        if wrong:
            self._out.print(f"they differ in: {', '.join(sorted(wrong))}. Did one of them live on meanwhile?")
        elif not self._json:
            self._out.print(f"{self._mind} is whole at {_place(self._target)}; {_place(self._source)} is as it was")
        return 1 if wrong else 0

    def _tell(self, did: str, kind: str, count: int) -> None:
        now = time.monotonic()
        if now - self._said < _EVERY:
            return
        self._said = now
        if self._json:
            emit({"progress": did, "kind": kind, "count": count})
        else:
            self._out.print(f"{did}: {count:,} {kind}", style="dim")

    def _verdict(self, kind: str, here: Tally, there: Tally) -> None:
        same = here == there
        if self._json:
            found = {"source": here, "target": there}
            told = {side: {"count": each.count, "digest": each.digest} for side, each in found.items()}
            emit({"kind": kind, "same": same, **told})
        else:
            mark = "✓" if same else "✗"
            apart = "" if same else f" at the source, {there.count:,} at the target"
            console().print(f"{mark} {here.count:>12,} {kind}{apart}  {here.digest[:16]}")

    def _note(self, text: str) -> None:
        if self._json:
            emit({"note": text})
        else:
            self._out.print(text, style="yellow")


@contextmanager
def _locked(*addresses: str) -> Iterator[None]:
    """Hold the directories among ``addresses``. Raises ``AlreadyRunning`` where a mind runs in one."""
    with ExitStack() as held:
        for address in addresses:
            directory = directory_of(address)
            if directory is not None:
                if address is addresses[0] and not (directory / "mind.db").exists():
                    raise Failure(f"there is no mind in {directory}")
                held.enter_context(DataLock(Path(directory).resolve()))
        yield
