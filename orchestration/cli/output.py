"""What commands print: JSON one object a line, or text for people that nothing from outside can break out of."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from google.protobuf.message import Message
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from environment.ancestry import Ancestor
from environment.messages import Instant, StreamEntry
from environment.packs import ALWAYS
from environment.severity import Severity
from orchestration.cli.safety import safe
from orchestration.schema.convert import encode
from orchestration.schema.json import dumps, to_json

_UNBROKEN = 100_000
_STYLES = {"info": "dim", "notable": "", "warning": "bold", "critical": "bold red"}


def console(*, error: bool = False) -> Console:
    """Where text for people goes: coloured and as wide as the terminal; in a pipe plain, and never broken into lines.

    Nothing in it is taken for markup.
    """
    terminal = (sys.stderr if error else sys.stdout).isatty()
    width = None if terminal else _UNBROKEN
    return Console(stderr=error, markup=False, highlight=False, emoji=False, soft_wrap=not terminal, width=width)


def emit(value: Any) -> None:
    """One message or JSON object on a line of its own, at once; in UTF-8, as JSON is, whatever the locale."""
    if isinstance(value, Message):
        value = to_json(value)
    sys.stdout.buffer.write(f"{dumps(value)}\n".encode(errors="backslashreplace"))
    sys.stdout.flush()


def tell(
    found: Iterable[Any],
    form: type[Message] | None,
    shown: Callable[[Any], RenderableType],
    *,
    json: bool,
    nothing: str = "",
) -> None:
    """Each of the mind's own messages as JSON, as the schema's ``form``, or as people read it.

    ``form`` None: each is a message of the schema, or an object of JSON, already.
    ``nothing``: what people are told on standard error where there is none.
    """
    told = False
    for one in found:
        told = True
        emit(one if form is None else encode(form, one)) if json else console().print(shown(one))
    if nothing and not told and not json:
        console(error=True).print(nothing)


def rows(
    found: Sequence[Any],
    columns: str,
    row: Callable[[Any], Sequence[RenderableType]],
    form: Callable[[Any], Any],
    *,
    json: bool,
    nothing: str,
) -> None:
    """The same as a table, or as JSON in a ``form``; of ``columns`` ``>`` stands to the right, ``+`` may be broken."""
    if json or not found:
        tell(map(form, found), None, str, json=json, nothing=nothing)
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns.split():
        kind, told = name[0], name.lstrip(">+").replace("_", " ")
        table.add_column(told, justify="right" if kind == ">" else "left", no_wrap=kind != "+", overflow="fold")
    for one in found:
        table.add_row(*row(one))
    console().print(table)


def clock(instant: Instant) -> str:
    """A time as people here read it: today's as ``14:03:09``, another day's with its date, in local time.

    ``always`` is of what a mind is born with.
    """
    if instant == ALWAYS:
        return "always"
    try:
        local = datetime.fromtimestamp(instant).astimezone()
    except (OverflowError, ValueError, OSError):
        return "(no such time)"
    return f"{local:%Y-%m-%d %H:%M:%S}"


def lineage_line(ancestor: Ancestor) -> str:
    """Whom a mind comes from, and what it shares with that one."""
    shared = f"perceptions to {ancestor.perceptions:,}, entries to {ancestor.entries:,}"
    return f"a clone of {safe(ancestor.mind)} as of {clock(ancestor.at)}: {shared} (snapshot {ancestor.snapshot})"


def because(evidence: Mapping[str, float]) -> str:
    """What spoke for something, in log odds, the strongest part first."""
    parts = sorted(evidence.items(), key=lambda part: -abs(part[1]))
    return ", ".join(f"{name} {value:+.1f}" for name, value in parts if abs(value) >= 0.1)  # noqa: PLR2004


def bar(share: float, width: int = 5) -> str:
    """A number in 0..1 as a small bar."""
    filled = round(min(max(share, 0.0), 1.0) * width)
    return "▮" * filled + "▯" * (width - filled)


def gauge(salience: float, severity: Severity | None) -> Text:
    """Salience as a bar in the colour of its severity, and the word where it is critical, for who sees no colour."""
    said = f"{severity.value} " if severity == "critical" else ""
    style = {"warning": "dark_orange", "critical": "bold red"}.get(severity or "", "yellow")
    return Text(f"{bar(salience)} {said}", style=style)


def entry_line(entry: StreamEntry) -> Text:
    """An entry of the stream on one line: number, event time, salience, sources, text."""
    line = Text(overflow="fold")
    line.append(f"{entry.seq:>5} ", style="dim")
    line.append(clock(entry.time), style="cyan")
    if entry.kind == "segue":
        line.append(f"  ⤷ {safe(entry.text)}", style="dim italic")
        return line
    line.append(" ")
    line.append(gauge(entry.salience, entry.severity))
    sources = list(dict.fromkeys(safe(ref.source) for ref in entry.perceptions))
    line.append(f"[{', '.join(sources[:4])}{', …' if len(sources) > 4 else ''}] ", style="green")  # noqa: PLR2004 - as many as fit
    line.append(safe(entry.text), style=_STYLES[entry.severity])
    return line
