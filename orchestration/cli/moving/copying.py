"""``submind copy``: a mind moves from one store to another, whole, and the proof of it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from environment.messages import SubmindState
from environment.stores.copying import mark_of
from environment.stores.opening import directory_of, open_stores
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.moving.arriving import Arrival, held, nothing, shown
from orchestration.cli.options import Json, MindFile
from orchestration.loading import load_settings

if TYPE_CHECKING:
    from environment.stores.movable import Movable
    from orchestration.settings import Settings

app = typer.Typer(add_completion=False)


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
    if shown(source) == shown(target):
        raise Failure("--from and --to are the same place", MISUSED)
    raise typer.Exit(asyncio.run(_Move(settings, source, target, take_over=take_over, json=json).run()))


class _Move(Arrival):
    """One run of the command."""

    def __init__(self, settings: Settings, source: str, target: str, *, take_over: bool, json: bool) -> None:
        super().__init__(json=json)
        self._settings = settings
        self._mind = settings.mind.name
        self._source, self._target = source, target
        self._take_over = take_over

    async def run(self) -> int:
        """The exit code."""
        directory = directory_of(self._source)
        if directory is not None and not (directory / "mind.db").exists():
            raise Failure(f"there is no mind in {directory}")
        with held(self._source), held(self._target):
            async with AsyncExitStack() as opened:
                source = await self._open(opened, self._source)
                await self._see_that_it_stopped(source)
                target = await self._open(opened, self._target)
                await self.copy(source, target, shown(self._source), nothing)
                return self._judge(await self.compare(source, target))

    async def _open(self, opened: AsyncExitStack, address: str) -> Movable:
        cassandra = self._settings.store.cassandra
        stores = await open_stores(address, self._mind, writer="copy", cassandra=cassandra)
        opened.push_async_callback(stores.close)
        return stores

    async def _see_that_it_stopped(self, source: Movable) -> None:
        """Of files the lock says so; of a cluster, what its actors said last."""
        reports = await source.registry.reports()
        if await source.perceptions.head() == 0 and not reports:
            raise Failure(f"there is no mind called {self._mind} at {shown(self._source)}: --name or --mind says which")
        mark = await mark_of(source)
        if mark is not None and mark.stage:
            raise Failure(f"{self._mind} is still moving in at {shown(self._source)}, from {mark.source}: finish that")
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

    def _judge(self, wrong: set[str]) -> int:
        if wrong:
            self.out.print(f"they differ in: {', '.join(sorted(wrong))}. Did one of them live on meanwhile?")
        elif not self.json:
            self.out.print(f"{self._mind} is whole at {shown(self._target)}; {shown(self._source)} is as it was")
        return 1 if wrong else 0
