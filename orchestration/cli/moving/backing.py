"""``submind backup``: a mind into one file, as it is at one moment, while it goes on."""

import asyncio
import fcntl
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from io import FileIO
from pathlib import Path
from typing import Annotated

import typer

from environment.stores.backup.archive import ArchiveWriter, Manifest
from environment.stores.backup.taking import Backup
from environment.stores.opening import directory_of
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.moving.arriving import Arrival, counted, read_at, shown
from orchestration.cli.options import HERE, Json, MindFile, StoreAddress
from orchestration.cli.output import clock, emit
from orchestration.cli.signals import cancel_on
from orchestration.clock import wall
from orchestration.loading import load_settings
from orchestration.settings import Settings

SUFFIX = ".submind"
_MIB = 1 << 20
_NICE = 5
RATE = 4.0
"""MiB a second: a fifth of a core, beside which a mind on two acknowledges nearly as much as without."""

KeptIn = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="DIR",
        help="Where the mind is kept; of one on a cluster, where its answers are."
        " Default: ./mind-data, and for a cluster none.",
    ),
]
Named = Annotated[str | None, typer.Option("--name", help="Of the mind. Default: that of the settings.")]
Rate = Annotated[
    float,
    typer.Option(
        "--rate",
        min=0,
        metavar="MIB",
        help="Read so many MiB a second at most, for the mind's sake; 0: as fast as it goes.",
    ),
]


def backup(
    to: Annotated[Path, typer.Option(metavar="FILE|DIR", help="A new file, or a directory for NAME-TIME.submind.")],
    mind: MindFile = None,
    store: StoreAddress = None,
    data_dir: KeptIn = None,
    name: Named = None,
    rate: Rate = RATE,
    keep: Annotated[
        int, typer.Option(min=0, metavar="N", help="In a directory: of this mind, keep the newest N; 0: all.")
    ] = 0,
    json: Json = False,
) -> None:
    """Copy a mind into one file while it runs: all of it as of one moment, compressed, with checksums.

    The file has its name once it is whole and on the disk; stopped or killed before, the command leaves nothing that
    could be taken for a backup. It holds everything that was perceived and thought, and no secrets: keep it as safe as
    the mind itself. `submind restore` reads it; `submind clone NAME FILE` begins another mind with it. A snapshot
    is the same under another name.
    """
    if keep and not to.is_dir():
        raise Failure(f"--keep thins out a directory, and {to} is none", MISUSED)
    take(taken_from(mind, store, name), data_dir, to, rate, keep, json=json)


snapshot = backup


def taken_from(mind: Path | None, store: str | None, name: str | None) -> Settings:
    """The settings of the mind that options name. Raises ``SettingsError``."""
    return load_settings(mind, flags={"--name": ("mind.name", name), "--store": ("store.address", store)})


def take(settings: Settings, data_dir: Path | None, to: Path, rate: float, keep: int = 0, *, json: bool) -> None:
    """Write the file. Raises ``Failure``."""
    taking = _Taking(settings, settings.store.address or str(data_dir or HERE), data_dir, json=json)
    try:
        asyncio.run(taking.run(to, rate * _MIB, keep))
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise Failure("stopped: nothing was left behind") from None


class _Taking(Arrival):
    """One run of the command."""

    def __init__(self, settings: Settings, address: str, data_dir: Path | None, *, json: bool) -> None:
        super().__init__(json=json)
        self._settings = settings
        self._mind = settings.mind.name
        self._address = address
        self._directory = directory_of(address)
        self._data_dir = self._directory or data_dir

    async def run(self, to: Path, rate: float, keep: int) -> None:
        """Write the file, say what is in it."""
        cancel_on(signal.SIGTERM)
        with suppress(OSError):
            os.nice(_NICE)  # what thinks and takes in on this machine goes first
        began = time.monotonic()
        async with AsyncExitStack() as opened:
            source = await opened.enter_async_context(read_at(self._address, self._settings))
            path = _file(to, self._mind)
            with _new(path) as file:
                archive = ArchiveWriter(file)
                tell = partial(self.tell, "written")
                taking = Backup(source, archive, clock=wall, rate=rate, tell=tell)
                manifest = await taking.run(version("submind"), self._mind, shown(self._address), self._beside)
                archive.finish(manifest)
        self._done(path, manifest, archive, time.monotonic() - began)
        if keep:
            self._thin_out(path, keep)

    async def _beside(self, take: Callable[[str, str, bytes], None]) -> None:
        """Answers that were paid for, and since when the clock runs."""
        if self._data_dir is None:
            return
        from environment.stores.sqlite.snapshot import read_answers  # noqa: PLC0415 - where it is used

        await read_answers(self._data_dir, self._mind, take)
        with suppress(FileNotFoundError):
            take("clock", "clock.json", (self._data_dir / "clock.json").read_bytes())

    def _done(self, path: Path, manifest: Manifest, archive: ArchiveWriter, seconds: float) -> None:
        if self.json:
            figures = {"size": archive.at, "read": archive.size, "seconds": round(seconds, 3)}
            told = {"mind": self._mind, "cut": manifest.cut, "head": manifest.head, "entries": manifest.entries}
            counts = {"counts": manifest.counts, "unsettled": manifest.unsettled}
            emit({"backup": str(path), "id": manifest.id, **told, **figures, **counts})
            return
        self.out.print(
            f"{path}: {self._mind} as of {clock(manifest.cut)}, {counted(manifest.counts)};"
            f" {archive.at / _MIB:.1f} MiB in {seconds:.1f} s"
        )
        if manifest.unsettled:
            self.note(f"{manifest.unsettled} traces changed faster than they were read, and are of a moment later")

    def _thin_out(self, path: Path, keep: int) -> None:
        """Only what has the form of this mind's name and a time, the oldest of them."""
        form = re.compile(re.escape(_plain(self._mind)) + r"-\d{8}T\d{6}Z" + re.escape(SUFFIX))
        for old in sorted(each for each in path.parent.iterdir() if form.fullmatch(each.name))[:-keep]:
            old.unlink()
            self.note(f"removed {old}")


def _file(to: Path, mind: str) -> Path:
    return to / f"{_plain(mind)}-{datetime.fromtimestamp(wall(), UTC):%Y%m%dT%H%M%SZ}{SUFFIX}" if to.is_dir() else to


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)


@contextmanager
def _new(path: Path) -> Iterator[FileIO]:
    """A file that gets its name when the block ends well, and is gone when it does not."""
    if path.exists():
        raise Failure(f"{path} is there already: give a name that is new, or a directory", MISUSED)
    if not path.parent.is_dir():
        raise Failure(f"{path.parent} is not a directory: make it first", MISUSED)
    part = path.with_name(f".{path.name}.part")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0) as file:
        held = False
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = _is(part, file)  # else another has finished it meanwhile
        if not held:
            raise Failure(f"another backup is writing {path}: let it finish, or give another name")
        try:
            file.truncate()  # what a killed one has left
            yield file
            part.rename(path)
            _sync(path.parent)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise Failure(f"{path} could not be written: {error.strerror}; nothing was left behind") from None
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _is(path: Path, file: FileIO) -> bool:
    """Whether a file still goes by that name."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _sync(directory: Path) -> None:
    """Have the name on the disk as well."""
    fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
