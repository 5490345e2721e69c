"""``submind run``: a mind from start to stop."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from actors.knowledge.pack_files import read_packs
from environment.messages import Instant, NewPerception
from orchestration.access.opening import access_of
from orchestration.cli.failure import Failure
from orchestration.cli.input.lines import Format, LineReader
from orchestration.cli.input.reading import file_lines
from orchestration.cli.options import HERE, CoordinationAddress, MindFile, StoreAddress, TokenFile
from orchestration.cli.output import console, emit, entry_line, tell
from orchestration.cli.remote import reaching_own
from orchestration.client import Credentials, MindClient
from orchestration.clock import CatchUpClock, wall
from orchestration.gateway.auth import require_guard
from orchestration.gateway.settings import GatewaySettings
from orchestration.host.host import Host
from orchestration.host.run import run_host
from orchestration.loading import load_settings
from orchestration.pb.submind.v1.consciousness_pb2 import StreamEntry
from orchestration.settings import Settings

LASTS = 75.0
"""Seconds of wall time for the day."""
BOOT = 12.0
"""Seconds until the day begins, in which the mind comes up."""
SETTINGS: dict[str, Any] = {"attention.per_hour": 2.5, "gateway.intake.trust": {"feeds": 0.5, "support": 0.4, "*": 0.7}}
"""What the mind of the example is told about its day, where nobody says otherwise: a thought every two seconds of a
day that takes 75, colleagues known, customers and feeds less so."""
_PLACES = (
    Path(__file__).resolve().parents[2] / "examples" / "day.jsonl",
    Path(__file__).resolve().parent / "day.jsonl",
)
"""In a checkout, in an installed package."""


def run(
    mind: MindFile = None,
    data_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the mind is kept. Default: ./mind-data.")
    ] = None,
    store: StoreAddress = None,
    coordination: CoordinationAddress = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Ray cluster to live on: HOST:PORT, auto or ray://HOST:PORT. Default: a Ray of its own, here.",
        ),
    ] = None,
    grpc: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Default: 127.0.0.1:50051.")] = None,
    http: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Default: 127.0.0.1:8080.")] = None,
    token_file: TokenFile = None,
    example: Annotated[
        bool, typer.Option("--example", help="Live through the example day in a minute, in a directory of its own.")
    ] = False,
    show: Annotated[
        bool | None, typer.Option("--show/--quiet", help="Show the stream here. Default: on a terminal.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Show the stream as JSON, one object a line.")] = False,
) -> None:
    """Start a mind: perceptions over gRPC and HTTP, the stream here and on a page. Ctrl-C stops it in good order.

    On an address that other machines can reach a token is required (--token-file).
    """
    day = day_at(wall()) if example else None
    flags: dict[str, tuple[str, object]] = {
        "--store": ("store.address", store),
        "--coordination": ("coordination.address", coordination),
        "--address": ("runtime.cluster.address", address),
        "--grpc": ("gateway.listen", grpc),
        "--http": ("feed.listen", http),
        "--token-file": ("gateway.token_file", token_file),
    }
    settings = _settings(mind, flags, day)
    known = settings.knowledge
    read_packs(known.packs, known.pack_trust, known.pack_sections)  # what is wrong with them is said before all else
    guarded = access_of(settings).required
    for listen in (settings.gateway.listen, settings.feed.listen):
        require_guard(listen, guarded=guarded)  # before anything is started
    shown = sys.stdout.isatty() or example or json if show is None else show
    if shown and settings.telemetry.stderr == "auto" and sys.stderr.isatty():
        telemetry = settings.telemetry.model_copy(update={"stderr": "off"})
        settings = settings.model_copy(update={"telemetry": telemetry})
    with _place(data_dir, example) as place:
        company = _Company(settings, day, shown=shown, json=json)
        code = run_host(settings, place, beside=company.keep)
    raise typer.Exit(code)


def _settings(mind: Path | None, flags: dict[str, tuple[str, object]], day: Day | None) -> Settings:
    if day is None:
        return load_settings(mind, flags=flags)
    clock = {"start": day.clock.start, "speed": day.clock.speed, "origin": day.clock.origin}
    given = load_settings(mind, flags=flags)
    lifted = {f"--example ({path})": (path, value) for path, value in SETTINGS.items() if _is_default(given, path)}
    return load_settings(mind, flags={**flags, **lifted, "--example": ("mind.clock", clock)})


def _is_default(settings: Settings, path: str) -> bool:
    held: Any = settings
    default: Any = Settings()
    for part in path.split("."):
        held, default = getattr(held, part), getattr(default, part)
    return bool(held == default)


@contextmanager
def _place(data_dir: Path | None, example: bool) -> Iterator[Path]:
    """Where the mind is kept; the example's goes with it unless a place was named."""
    if data_dir is not None or not example:
        yield data_dir or HERE
        return
    with tempfile.TemporaryDirectory(prefix="submind-example-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@dataclass(frozen=True)
class _Company:
    """What is shown beside a running mind, and the example's day."""

    settings: Settings
    day: Day | None
    shown: bool
    json: bool

    async def keep(self, host: Host) -> None:
        """Greet, feed the day, show the stream; until cancelled."""
        self._greet(host)
        if self.day is None:
            await self._show(host)
            return
        async with asyncio.TaskGroup() as together:
            together.create_task(self._live(host, self.day))
            together.create_task(self._show(host))

    def _greet(self, host: Host) -> None:
        where = host.addresses
        if self.json:
            emit(
                {
                    "mind": self.settings.mind.name,
                    "grpc": where.grpc,
                    "http": where.http,
                    "data_dir": str(host.data_dir),
                }
            )
            return
        line = Text.assemble(
            (self.settings.mind.name, "bold"),
            "  page ",
            (where.http, "bold cyan"),
            "  gRPC ",
            (where.grpc, "cyan"),
            f"  data {host.data_dir}",
        )
        console().print(line)
        if self.day is not None:
            console().print(
                f"{len(self.day.perceptions)} messages, alerts and readings of one day at a small grocer's reach this"
                " mind in the next minute and a half. What it lets through is its stream of consciousness:",
                style="dim",
            )

    async def _live(self, host: Host, day: Day) -> None:
        credentials = Credentials(reaching_own(self.settings))
        async with MindClient(host.addresses.grpc, credentials=credentials, retry_for=60) as client:
            async for _ in client.perceive_many(day.unfold()):
                pass
        if not self.json:
            console().print(
                "The day is over and the mind is awake: say something to it on the page, or with", style="dim"
            )
            grpc = host.addresses.grpc
            there = "" if grpc == GatewaySettings().listen else f" --grpc {grpc}"
            console().print(
                f"  echo 'who looks after room 2?' | submind perceive - --source operator{there}", style="dim"
            )

    async def _show(self, host: Host) -> None:
        if not self.shown:
            return
        first = 1 if self.day is not None else 0
        async for entry in host.tail.follow(first):
            tell([entry], StreamEntry, entry_line, json=self.json)


@dataclass(frozen=True, slots=True)
class Day:
    """The example's perceptions, moved so that the day ends when mind time meets the wall."""

    perceptions: Sequence[NewPerception]
    clock: CatchUpClock

    async def unfold(self) -> AsyncIterator[NewPerception]:
        """Each perception when mind time reaches it."""
        for perception in self.perceptions:
            delay = self.clock.wall_delay(perception.time)
            if delay > 0:
                await asyncio.sleep(delay)
            yield perception


def day_at(now: Instant) -> Day:
    """The day as it is to be lived from wall time ``now`` on. Raises ``Failure`` when the example is not there."""
    path = next((path for path in _PLACES if path.is_file()), None)
    if path is None:
        raise Failure("the example is not part of this installation: it lies in the source tree, examples/day.jsonl")
    reader = LineReader(source="day", now=wall, run="day", repeatable=True, directory=path.parent, format=Format.JSON)
    read = [perception for line in file_lines(path) if (perception := reader.read(line.whole())) is not None]
    read.sort(key=lambda perception: perception.time)
    return moved(read, now)


def moved(read: Sequence[NewPerception], now: Instant) -> Day:
    """The same perceptions, so that the first comes ``BOOT`` seconds after ``now`` and the last ``LASTS`` later."""
    first, last = read[0].time, read[-1].time
    begins, ends = now + BOOT, now + BOOT + LASTS
    shift = ends - last
    clock = CatchUpClock(start=first + shift, speed=max((last - first) / LASTS, 1.0), origin=begins)
    return Day([replace(perception, time=perception.time + shift) for perception in read], clock)
