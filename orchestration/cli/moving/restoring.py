"""``submind restore``: a mind out of a backup, into a place where there is none."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from environment.ancestry import ANCESTORS
from environment.configuration import CONFIGURATIONS, Configuration
from environment.erasure import FORGOTTEN, ForgetState
from environment.stores.backup.restored import Archived
from environment.stores.copying import mark_of
from environment.stores.movable import Movable
from environment.stores.opening import directory_of, open_stores
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.moving.arriving import Arrival, counted, held, shown
from orchestration.cli.moving.forgotten import LaterRequests, later_requests
from orchestration.cli.options import Json, MindFile, StoreAddress
from orchestration.cli.output import clock, emit, lineage_line
from orchestration.cli.signals import cancel_on
from orchestration.clock import wall
from orchestration.forgetting import ForgetRun
from orchestration.loading import load_settings
from orchestration.settings import Settings

Forgotten = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Forget again what was asked for later: another backup, or what submind forget --list --json printed."
        " Later backups of the mind beside FILE are looked at in any case.",
    ),
]
_MIB = 1 << 20
_AT_ONCE = 256


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What submind backup has written.")],
    mind: MindFile = None,
    store: StoreAddress = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where it is to be kept, where that is no cluster.")
    ] = None,
    name: Annotated[str | None, typer.Option("--as", metavar="NAME", help="Another name for the mind.")] = None,
    forgotten: Forgotten = None,
    check: Annotated[bool, typer.Option("--check", help="Restore nothing: read all of FILE and say what it holds.")] = (
        False
    ),
    json: Json = False,
) -> None:
    """Restore a mind from a backup into a place where there is none of its name: a directory or a cluster.

    FILE is read whole before anything is written. The command may be killed at any time: given again it goes on where
    it was. At the end what arrived is read and compared by counts and digests; exit code 1 when it differs. Whatever
    is left of the old mind cannot write to the new one. What the mind was asked to forget after the backup was taken
    is forgotten again, as far as that is known here; until when it is, is said.
    """
    with_name = {"--as": ("mind.name", name), "--store": ("store.address", store)}
    settings = load_settings(mind, flags=with_name)
    address = settings.store.address or (str(data_dir) if data_dir else "")
    if not address and not check:
        raise Failure("say where to: --data-dir DIR, or --store ADDRESS", MISUSED)
    raise typer.Exit(Restoring(settings, address, data_dir, json=json).all_of(file, name, forgotten or (), check=check))


class Restoring(Arrival):
    """One run of the command."""

    kind: type[Archived] = Archived
    """What a mind is begun as: itself."""

    def __init__(self, settings: Settings, address: str, data_dir: Path | None, *, json: bool) -> None:
        super().__init__(json=json)
        self._settings = settings
        self._address = address
        self._data_dir = directory_of(address) or data_dir if address else None

    def all_of(self, file: Path, name: str | None, forgotten: Sequence[Path] = (), *, check: bool = False) -> int:
        """The exit code. Raises ``Failure``."""
        try:
            return asyncio.run(self._run(file, name, forgotten, check=check))
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise Failure("stopped: the same command goes on from here") from None

    async def _run(self, file: Path, name: str | None, forgotten: Sequence[Path], *, check: bool) -> int:
        cancel_on(signal.SIGTERM)
        async with AsyncExitStack() as opened:
            source = self.kind(file)
            opened.callback(source.close)
            await asyncio.to_thread(source.verify, lambda at, _of: self.tell("checked", "bytes", at))
            asked = await asyncio.to_thread(later_requests, source, file, forgotten)
            self._describe(file, source, asked)
            if check and self.json and (last := configuration_in(source)):
                emit({"configuration": {"version": last.version, "at": last.at, "by": last.by, "body": last.body}})
            if check:
                return 0
            mind = name or source.manifest.mind
            opened.enter_context(held(self._address))
            target = await self._open(opened, mind)
            if mind != asked.mind:  # the one of before may be there as well
                before = await self._open(opened, asked.mind)
                asked.take((await FORGOTTEN.all_of(before.collections)).values(), asked.until)
            source.beyond += asked.documents()
            return await self._restore(source, target, mind)

    async def _open(self, opened: AsyncExitStack, mind: str) -> Movable:
        stores = await open_stores(self._address, mind, writer="restore", cassandra=self._settings.store.cassandra)
        opened.push_async_callback(stores.close)
        return stores

    async def _restore(self, source: Archived, target: Movable, mind: str) -> int:
        label, place = source.label, shown(self._address)
        mark = await mark_of(target)
        before = mark is not None and mark.source == label and not mark.stage
        if not before:
            await self.copy(source, target, label, partial(self._beside, source, mind))
        run = ForgetRun(target, self._data_dir, mind, wall)
        pending = await run.pending()
        # One that was killed while it forgot is as it was before, or has lost some of what it is to forget.
        wrong = set() if before and pending else await self.compare(source, target.moving)
        if wrong and before:
            self.note(
                f"{mind} at {place} was restored from this backup and has lived on since: nothing was changed."
                " To begin anew give a place where there is none"
            )
        elif wrong:
            self.note(f"what arrived differs in: {', '.join(sorted(wrong))}. Does a mind run there already?")
        elif not self.json:
            self.out.print(f"{mind} is whole at {place}: submind run goes on with it")
        if not wrong and pending:
            fence = await target.lead()
            await target.perceptions.lead()
            for record in pending:
                done = await run.carry_out(record, fence)
                gone = counted(done.removed) if done.state is ForgetState.DONE else done.reason
                self.note(f"forgotten again, {done.id} ({done.scope.kind}): {gone}")
        return 1 if wrong else 0

    async def _beside(self, source: Archived, mind: str) -> None:
        """Answers that were paid for, and the clock: into the data directory."""
        if not source.manifest.counts.get("beside"):
            return
        if self._data_dir is None:
            self.note("answers that were paid for stay in the backup: --data-dir says where to")
            return
        from environment.stores.sqlite.answer_cache import open_answers  # noqa: PLC0415 - where it is used

        self._data_dir.mkdir(parents=True, exist_ok=True)
        answers = await open_answers(self._data_dir, mind)
        rows: dict[str, bytes] = {}
        try:
            for each in source.beside():
                if each.place == "answers":
                    rows[each.name] = each.value
                    if len(rows) >= _AT_ONCE:
                        await answers.put(rows)
                        rows.clear()
                elif each.place == "clock" and not (self._data_dir / "clock.json").exists():
                    await asyncio.to_thread(_put, self._data_dir / "clock.json", each.value)
            await answers.put(rows)
        finally:
            await answers.close()

    def _describe(self, file: Path, source: Archived, asked: LaterRequests) -> None:
        told = source.manifest
        for why in asked.unread:
            self.note(f"{why}; what it knows to be forgotten is not known here")
        lineage = sorted(source.values(ANCESTORS), key=lambda each: -each.at)
        if self.json:
            said = {"backup": str(file), "id": told.id, "mind": told.mind, "cut": told.cut, "source": told.source}
            said |= {"forgotten_later": len(asked.records), "known_until": asked.until}
            emit({**said, "head": told.head, "entries": told.entries, "counts": told.counts, "version": told.version})
            for each in lineage:
                emit({"ancestor": asdict(each)})
            return
        self.out.print(
            f"{file} is whole: {told.mind} of {told.source} as of {clock(told.cut)}, {counted(told.counts)};"
            f" {source.size / _MIB:.1f} MiB, written by submind {told.version}"
        )
        for ancestor in lineage:
            self.out.print(f"  {lineage_line(ancestor)}")
        self.out.print(
            f"  requests to forget that came later: {len(asked.records)}, as is known here up to {clock(asked.until)};"
            " --forgotten FILE tells of others"
        )


def configuration_in(source: Archived) -> Configuration | None:
    """What the mind worked with last."""
    return next(reversed(source.values(CONFIGURATIONS)), None)


def _put(path: Path, body: bytes) -> None:
    """A small file, whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
