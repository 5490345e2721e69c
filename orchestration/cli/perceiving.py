"""``submind perceive``: lines and JSON lines to a mind."""

import asyncio
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from rich.status import Status

from environment.messages import NewPerception, Receipt
from orchestration.cli.failure import FAILED, MISUSED, Failure
from orchestration.cli.input.lines import BadLine, Format, LineReader, garbled
from orchestration.cli.input.reading import InputLine, check_file, file_lines, growing_lines, is_regular, stream_lines
from orchestration.cli.options import Json
from orchestration.cli.output import console, emit
from orchestration.cli.remote import Server, connected
from orchestration.cli.safety import safe
from orchestration.client import MindClient
from orchestration.clock import wall

_SHOWN = 20
_PATIENCE = 5.0
_REPAINT = 64


def perceive(
    at: Server,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A file, or - for standard input.")] = "-",
    source: Annotated[
        str | None, typer.Option(help="Source of lines that name none. Default: the file's name, or stdin.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on as the file grows, also when it is rotated.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="How to read lines.")] = Format.AUTO,
    label: Annotated[list[str] | None, typer.Option(metavar="NAME=TEXT", help="A label for every line.")] = None,
    json: Json = False,
) -> None:
    """Send lines or JSON lines to a mind as perceptions.

    Plain lines may begin with their time (syslog, journal, ISO 8601) or be records (klog, logfmt, logs of containers,
    JSON of structured loggers): level, message and fields are read, and when. JSON lines have the keys source, time,
    key, labels and one of text, telemetry ({name: number}) and image ({"path"} or {"data", "media_type"}). A plain
    line without a time happened with the line before it, anything else now. Sending a file again adds nothing.

    A line that is refused is told with its number and the reason, and the rest goes on; the exit code is then 1.
    """
    path = None if file == "-" else Path(file)
    repeatable = path is not None and is_regular(path)
    if path is not None and repeatable:
        check_file(path)
    if follow and not repeatable:
        raise Failure("--follow needs a file; standard input and pipes are followed in any case", MISUSED)
    reader = LineReader(
        source=source or (path.name if path else "stdin"),
        now=wall,
        run=f"run-{secrets.token_hex(8)}",
        repeatable=repeatable,
        directory=path.parent if path else Path(),
        format=form,
        labels=_labels(label or []),
    )
    sending = Sending(reader, SendingTally(json=json))
    broken_off = False
    try:
        asyncio.run(sending.run(at, path, follow=follow))
    except asyncio.CancelledError:
        broken_off = True
    sending.tally.finish(reader)
    raise typer.Exit(FAILED if sending.tally.rejected or broken_off else 0)


@dataclass(slots=True)
class SendingTally:
    """What became of the lines, told as it happens."""

    json: bool
    new: int = 0
    known: int = 0
    rejected: int = 0

    def receipt(self, number: int, receipt: Receipt) -> None:
        """A line was taken in."""
        if receipt.new:
            self.new += 1
        else:
            self.known += 1
        if self.json:
            emit({"line": number, "id": receipt.id, "new": receipt.new})

    def refused(self, number: int, why: str) -> None:
        """A line was not taken in."""
        self.rejected += 1
        if self.json:
            emit({"line": number, "rejected": why})
        elif self.rejected <= _SHOWN:
            console(error=True).print(f"line {number}: {safe(why)}")
        elif self.rejected == _SHOWN + 1:
            console(error=True).print("(further lines that are refused are only counted)")

    def finish(self, reader: LineReader) -> None:
        """The sum of it."""
        told = f"{self.new} new, {self.known} known, {self.rejected} rejected"
        console(error=self.json).print(told)
        if reader.quoted:
            console(error=True).print(
                f"{reader.quoted} JSON lines stood among plain ones: their source and key were passed over"
                " (--format json believes them)"
            )
        if reader.garbled:
            console(error=True).print(garbled(reader.garbled))

    @property
    def total(self) -> int:
        """Lines answered so far."""
        return self.new + self.known + self.rejected


@dataclass(slots=True)
class Sending:
    """One run of ``perceive``: lines in, receipts out, in order, at most a few batches ahead of the mind."""

    reader: LineReader
    tally: SendingTally
    _pending: dict[int, tuple[NewPerception, int]] = field(default_factory=dict)
    """Sent and unanswered, in order: the perception by its identity, and its line."""
    _stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, at: Server, path: Path | None, *, follow: bool) -> None:
        """Send all of the input. On the first Ctrl-C what was read is still sent; on the second it ends at once."""
        self._listen()
        if path is None:
            feed: AsyncIterator[NewPerception] | Iterator[NewPerception] = self._live(
                stream_lines(sys.stdin.buffer, "standard input")
            )
        elif follow:
            feed = self._live(growing_lines(path))
        elif is_regular(path):
            feed = self._whole(file_lines(path))
        else:
            feed = self._live(stream_lines(path.open("rb"), str(path)))
        async with connected(at, _PATIENCE) as mind:
            await self._send(mind, feed)

    async def _send(self, mind: MindClient, feed: AsyncIterator[NewPerception] | Iterator[NewPerception]) -> None:
        shown = console(error=True)
        progress = Status("connecting", console=shown) if shown.is_terminal and not self.tally.json else nullcontext()
        with progress as status:
            async for receipt in mind.perceive_many(feed, refused=self._refused):
                _, number = self._pending.pop(next(iter(self._pending)))
                self.tally.receipt(number, receipt)
                if status is not None and self.tally.total % _REPAINT == 0:
                    status.update(f"{self.tally.total:,} lines")

    def _refused(self, perception: NewPerception, why: str) -> None:
        _, number = self._pending.pop(id(perception))
        self.tally.refused(number, why)

    def _read(self, line: InputLine) -> NewPerception | None:
        try:
            perception = self.reader.read(line.whole())
        except BadLine as error:
            self.tally.refused(line.number, str(error))
            return None
        if perception is not None:
            self._pending[id(perception)] = (perception, line.number)
        return perception

    def _whole(self, lines: Iterator[InputLine]) -> Iterator[NewPerception]:
        for line in lines:
            if self._stop.is_set():
                return
            perception = self._read(line)
            if perception is not None:
                yield perception

    async def _live(self, lines: AsyncIterator[InputLine]) -> AsyncIterator[NewPerception]:
        stopped = asyncio.ensure_future(self._stop.wait())
        try:
            while True:
                following = asyncio.ensure_future(anext(lines, None))
                await asyncio.wait({following, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    following.cancel()
                    return
                line = following.result()
                if line is None:
                    return
                perception = self._read(line)
                if perception is not None:
                    yield perception
        finally:
            stopped.cancel()

    def _listen(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            if self._stop.is_set() and task is not None:
                task.cancel()
            self._stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)


def _labels(given: list[str]) -> dict[str, str]:
    labels = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not equals or not name:
            raise Failure(f"--label {one}: write NAME=TEXT, for example --label host=web-1", MISUSED)
        labels[name] = text
    return labels
