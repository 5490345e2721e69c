"""How a mind arrives somewhere, and the proof of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from environment.errors import StoreFull, StoreUnavailable
from environment.stores.copying import KINDS, Copy, differences, mark_of, tally
from environment.stores.opening import directory_of, open_stores
from orchestration.cli.failure import Failure
from orchestration.cli.output import console, emit
from orchestration.host.directories import DataLock

if TYPE_CHECKING:
    from environment.stores.movable import Leaving, Movable
    from environment.stores.tally import Tally
    from orchestration.settings import Settings

_PATIENCE = 120.0
"""Seconds for which a store may be away before the command gives up; what has arrived stays."""
_EVERY = 1.0


class Arrival:
    """Tells how it goes, copies while the store comes and goes, and compares."""

    def __init__(self, *, json: bool) -> None:
        self.json = json
        self.out = console(error=True)
        self._said = time.monotonic()
        self._progress: tuple[str, int] | None = None

    async def copy(self, source: Leaving, target: Movable, name: str, first: Callable[[], Awaitable[None]]) -> None:
        """Copy, and again from where it was left while a store is away.

        ``first`` is done once the target is taken, and again each time: before anything there counts as arrived.
        """
        moving = Copy(source, target, name, self._copied)
        deadline = time.monotonic() + _PATIENCE
        before = None
        while True:
            try:
                if (await moving.begin()).stage:
                    await first()
                await moving.run()
            except StoreFull as error:
                raise Failure(f"{error}: free some; the same command goes on from there") from None
            except StoreUnavailable as error:
                if self._progress != before:
                    before, deadline = self._progress, time.monotonic() + _PATIENCE
                if time.monotonic() > deadline:
                    raise Failure(f"{error}: what has arrived stays, the same command goes on from there") from None
                self.note(f"{error}; trying again")
                await asyncio.sleep(max(0.5, error.retry_after))
            else:
                return

    async def compare(self, source: Leaving, target: Leaving) -> set[str]:
        """Read both whole, say of each kind how much there is; the kinds in which they differ."""
        here = await tally(source, lambda kind, count: self.tell("read at the source", kind, count))
        there = await tally(target, lambda kind, count: self.tell("read at the target", kind, count))
        for kind in KINDS:
            self._verdict(kind, here[kind], there[kind])
        return set(differences(here, there))

    def tell(self, did: str, kind: str, count: int) -> None:
        """How far it is, once a second."""
        now = time.monotonic()
        if now - self._said < _EVERY:
            return
        self._said = now
        if self.json:
            emit({"progress": did, "kind": kind, "count": count})
        else:
            self.out.print(f"{did}: {count:,} {kind}", style="dim")

    def note(self, text: str) -> None:
        """Something to know."""
        if self.json:
            emit({"note": text})
        else:
            self.out.print(text, style="yellow")

    def _copied(self, kind: str, count: int) -> None:
        self._progress = (kind, count)
        self.tell("copied", kind, count)

    def _verdict(self, kind: str, here: Tally, there: Tally) -> None:
        same = here == there
        if self.json:
            found = {"source": here, "target": there}
            told = {side: {"count": each.count, "digest": each.digest} for side, each in found.items()}
            emit({"kind": kind, "same": same, **told})
        else:
            mark = "✓" if same else "✗"
            apart = "" if same else f" at the source, {there.count:,} at the target"
            console().print(f"{mark} {here.count:>12,} {kind}{apart}  {here.digest[:16]}")


def shown(address: str) -> str:
    """An address for people: without what is behind its question mark."""
    directory = directory_of(address)
    return address.partition("?")[0] if directory is None else str(directory.resolve())


@asynccontextmanager
async def read_at(address: str, settings: Settings) -> AsyncIterator[Movable]:
    """A mind that may be running, to be read whole; files as of one moment. Raises ``Failure`` where there is none."""
    directory, mind = directory_of(address), settings.mind.name
    if directory is None:
        source: Movable = await open_stores(address, mind, writer="backup", cassandra=settings.store.cassandra)
    elif (directory / "mind.db").exists():
        from environment.stores.sqlite.snapshot import open_snapshot  # noqa: PLC0415 - each backend where it is used

        source = await open_snapshot(directory, mind)
    else:
        raise Failure(f"there is no mind in {directory}: give --store, or another --data-dir")
    try:
        if await source.perceptions.head() == 0 and not await source.registry.reports():
            raise Failure(f"there is no mind called {mind} at {shown(address)}: --name or --mind says which")
        mark = await mark_of(source)
        if mark is not None and mark.stage:
            raise Failure(f"{mind} is still moving in at {shown(address)}, from {mark.source}: finish that")
        yield source
    finally:
        await source.close()


@contextmanager
def held(address: str) -> Iterator[None]:
    """Hold a directory for as long; not a cluster. Raises ``AlreadyRunning`` where a mind runs in it."""
    directory = directory_of(address)
    if directory is None:
        yield
        return
    with DataLock(directory.resolve()):
        yield


def counted(counts: Mapping[str, int]) -> str:
    """How much there is of what there is anything of."""
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count) or "nothing"
