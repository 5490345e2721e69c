"""``submind replay``: a history through the deterministic simulator. Imports neither Ray nor a server."""

import asyncio
import math
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from actors.attention.pacing import Budget
from environment.messages import EntryKind, Instant, NewPerception
from environment.stores.paging import perceptions_after
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.input.lines import BadLine, Format, LineReader, garbled
from orchestration.cli.input.reading import InputLine, Splitter, check_text, file_lines
from orchestration.cli.moving.arriving import read_at, shown
from orchestration.cli.options import HERE, Json, MindFile, StoreAddress
from orchestration.cli.output import console, entry_line, tell
from orchestration.cli.safety import safe
from orchestration.cli.times import moment_or
from orchestration.clock import wall
from orchestration.gateway.errors import IntakeRejected
from orchestration.gateway.limits import IntakeLimits, lowered
from orchestration.loading import load_settings
from orchestration.pb.submind.v1.consciousness_pb2 import StreamEntry
from orchestration.settings import Settings
from orchestration.simulation.replay import replay as simulate
from orchestration.store_factory import address_of
from orchestration.telemetry import names

LoggedIn = Annotated[
    Path | None, typer.Option("--data-dir", metavar="DIR", help="Instead of FILE: what the mind kept here perceived.")
]
ThoughtBudget = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="N", help="At most so many thoughts in all.")
]
_SHOWN = 20
_NOWHEN: Instant = 946_684_800.0
"""When unstamped lines begin: 2000-01-01, so that two replays of them are the same."""


def replay(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE|-", help="Lines or JSON lines, or - for standard input.")
    ] = None,
    mind: MindFile = None,
    data_dir: LoggedIn = None,
    store: StoreAddress = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of a mind's own log: received from then on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of a mind's own log: received before then.")
    ] = None,
    budget: ThoughtBudget = None,
    per_hour: Annotated[float | None, typer.Option(metavar="R", help="So many thoughts an hour of history.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="The same seed gives the same stream.")] = 0,
    source: Annotated[str | None, typer.Option(help="Source of lines that name none.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to read lines.")] = Format.AUTO,
    json: Json = False,
) -> None:
    """Show what this mind would have noticed in a history: virtual time, no server, nothing left behind.

    Without --budget or --per-hour the mind's own rate holds. Lines without a time
    happen with the line before them; where no line has one, one a second.
    """
    if budget is not None and per_hour is not None:
        raise Failure("--budget and --per-hour say the same thing in two ways: give one of them", MISUSED)
    if per_hour is not None and not (per_hour > 0 and math.isfinite(per_hour)):
        raise Failure(f"--per-hour {per_hour:g}: it must be a number above 0", MISUSED)
    settings = load_settings(mind, flags={"--store": ("store.address", store)})
    refused = 0
    if file is not None and (data_dir is not None or store is not None):
        raise Failure("FILE and --data-dir or --store are two histories: give one of them", MISUSED)
    if file is None:
        if data_dir is None and store is None:
            raise Failure("give a FILE, - for standard input, or a mind's own log: --data-dir DIR, --store", MISUSED)
        begin, end = moment_or("--since", since, -math.inf), moment_or("--until", until, math.inf)
        perceptions = asyncio.run(logged(settings, data_dir or HERE, begin, end))
    else:
        if since is not None or until is not None:
            raise Failure("--since and --until choose from a mind's own log: --data-dir or --store", MISUSED)
        history = History(settings, file, source, form)
        perceptions = list(history.read())
        history.tell()
        refused = history.refused
        if not perceptions:
            raise Failure(f"{file}: there is no line in it that a mind could perceive")
    perceptions.sort(key=lambda perception: perception.time)
    span = perceptions[-1].time - perceptions[0].time
    total = None if budget is None else Budget(budget, len(perceptions), span)
    figures: dict[str, float] = {}
    thoughts = asyncio.run(_show(settings, perceptions, total, per_hour, seed, figures, json=json))
    if not json:
        console(error=True).print(f"{thoughts} thoughts of {len(perceptions):,} perceptions", style="dim")
    if settings.substrate.kind == "openai":
        console(error=True).print(_worded(settings.substrate.fast.name, figures), style="dim")
    raise typer.Exit(1 if refused else 0)


async def _show(
    settings: Settings,
    perceptions: list[NewPerception],
    budget: Budget | None,
    per_hour: float | None,
    seed: int,
    figures: dict[str, float],
    *,
    json: bool,
) -> int:
    thoughts = 0
    run = partial(simulate, settings, perceptions, budget=budget, per_hour=per_hour, seed=seed)
    async for entry in run(ended=figures.update):
        thoughts += entry.kind is EntryKind.THOUGHT
        tell([entry], StreamEntry, entry_line, json=json)
    return thoughts


def _worded(model: str, figures: Mapping[str, float]) -> str:
    """For how many thoughts the model found the words, why a rule did for the others, and what it cost."""
    asked, worded = figures.get(names.GENERATIONS, 0.0), figures.get(names.WORDED, 0.0)
    prefix = f"{names.FALLBACK_CAUSES}:"
    causes = sorted((-n, name.removeprefix(prefix)) for name, n in figures.items() if name.startswith(prefix))
    why = f" ({', '.join(f'{cause} {-n:.0f}' for n, cause in causes)})" if causes else ""
    tokens = figures.get(names.TOKENS_IN, 0.0) + figures.get(names.TOKENS_OUT, 0.0)
    cost = f"{tokens:,.0f} tokens, cost {figures.get(names.COST, 0.0):.2f}"
    return f"{safe(model)} worded {worded:,.0f} of {asked:,.0f} thoughts, a rule {asked - worded:,.0f}{why}; {cost}"


class History:
    """A file as the gateway would take it in: the same limits, the same trust."""

    def __init__(self, settings: Settings, file: str, source: str | None, form: Format) -> None:
        self.refused = 0
        self._path = None if file == "-" else Path(file)
        self._limits = IntakeLimits(settings.gateway.intake)
        self._reader = LineReader(
            source=source or (self._path.name if self._path else "stdin"),
            now=wall,
            run="replay",
            repeatable=True,
            directory=self._path.parent if self._path else Path(),
            format=form,
            unknown=partial(next, count(_NOWHEN)),
        )

    def read(self) -> Iterator[NewPerception]:
        """The perceptions in it, in its order. Raises ``OSError`` when it cannot be read."""
        for line in file_lines(self._path) if self._path else _stdin():
            try:
                perception = self._reader.read(line.whole())
                if perception is not None:
                    self._limits.check([perception], math.inf)
                    trust = lowered(self._limits.trust_of(perception.source), perception.labels)
                    yield replace(perception, received=perception.time, trust=trust)
            except BadLine as error:
                self._refuse(line.number, str(error))
            except IntakeRejected as error:
                self._refuse(line.number, f"{error.field.partition('.')[2]}: {error.why}")

    def tell(self) -> None:
        """What a reader should know about it."""
        if self.refused > _SHOWN:
            console(error=True).print(f"({self.refused - _SHOWN} more lines were refused)")
        if self._reader.garbled:
            console(error=True).print(garbled(self._reader.garbled), style="dim")
        if self._reader.unstamped:
            lines = "1 line carries" if self._reader.unstamped == 1 else f"{self._reader.unstamped:,} lines carry"
            told = f"{lines} no time: taken to follow the line before, else one a second"
            console(error=True).print(told, style="dim")

    def _refuse(self, number: int, why: str) -> None:
        self.refused += 1
        if self.refused <= _SHOWN:
            console(error=True).print(f"line {number}: {safe(why)}")


def _stdin() -> Iterator[InputLine]:
    splitter, first = Splitter(), True
    while chunk := os.read(sys.stdin.fileno(), 1 << 16):
        if first:
            check_text("standard input", chunk)
            first = False
        yield from splitter.feed(chunk)
    yield from splitter.finish()


async def logged(settings: Settings, data_dir: Path, since: Instant, until: Instant) -> list[NewPerception]:
    """What the mind received from ``since`` on and before ``until``, as it was received, in the order of its log.

    The mind may be running. Raises ``Failure`` where there is none, or where it perceived nothing then.
    """
    address, found = str(address_of(settings, data_dir)), list[NewPerception]()
    async with read_at(address, settings) as stores:
        async for page in perceptions_after(stores.perceptions, 0):
            found += [perception for perception in page if since <= perception.received < until]
    if not found:
        when = "" if (since, until) == (float("-inf"), float("inf")) else " in that time"
        raise Failure(f"{settings.mind.name} at {shown(address)} perceived nothing{when} that is still kept")
    return found
