"""``submind token``: the tokens that callers show, made, listed and revoked."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from orchestration.access.scopes import Scope
from orchestration.access.tokens import TokenEntry, TokenQuota, changing, new_token, read_tokens
from orchestration.cli.failure import FAILED, MISUSED, Failure
from orchestration.cli.options import Group, Json, MindFile
from orchestration.cli.output import console, emit, rows
from orchestration.cli.safety import safe
from orchestration.clock import wall
from orchestration.loading import load_settings

File = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="The tokens file. Default: access.tokens_file.")
]
Whose = Annotated[
    str | None, typer.Option("--for", metavar="MIND", help="Name of the mind it is for. Default: mind.name.")
]
_DURATION = re.compile(r"(\d+)([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is: logs call its holder so.")],
    scope: Annotated[
        list[Scope],
        typer.Option("--scope", "-s", help="What it allows; may be given several times. None includes another."),
    ],
    expires: Annotated[str | None, typer.Option(metavar="WHEN", help="After 12h, 30d, 8w; or at 2026-12-31.")] = None,
    per_second: Annotated[float | None, typer.Option(min=0, help="Most perceptions a second; 0: any number.")] = None,
    bytes_per_second: Annotated[float | None, typer.Option(min=0, help="The same in bytes.")] = None,
    streams: Annotated[int | None, typer.Option(min=0, help="Most streams open at a time.")] = None,
    file: File = None,
    whose: Whose = None,
    json: Json = False,
    mind: MindFile = None,
) -> None:
    """Make a token, and show it: this once, on standard output. It is kept nowhere."""
    path, called = _where(file, whose, mind)
    now = _now()
    quota = TokenQuota(perceptions_per_second=per_second, bytes_per_second=bytes_per_second, streams=streams)
    until = None if expires is None else _until(expires, now)
    with changing(path) as tokens:
        if (called, name) in tokens:
            raise Failure(f"{called} has a token {name!r} already: choose another name, or revoke it first", FAILED)
        text, entry = new_token(name, called, scope, now=now, expires=until, quota=quota)
        tokens[called, name] = entry
        if json:  # shown first: one that could not be shown is not kept, for nobody would know it
            emit({**_told(entry), "token": text})
        else:
            typer.echo(text)
    if not json:
        told = f"{safe(name)} may {_scopes(entry)} {safe(called)}{_end(entry)}; {path} knows it"
        console(error=True).print(told, style="dim")


def listing(file: File = None, whose: Whose = None, json: Json = False, mind: MindFile = None) -> None:
    """List the tokens: whose they are, and what they allow. Of the tokens themselves only digests are known."""
    path, _ = _where(file, whose, mind)
    found = [one for one in read_tokens(path) if whose is None or one.mind == whose]
    nothing = "no token yet: submind token new NAME --scope watch"
    rows(found, "name mind scopes created expires digest", _row, _told, json=json, nothing=nothing)


def revoke(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Whose; `submind token list` names them.")],
    file: File = None,
    whose: Whose = None,
    mind: MindFile = None,
) -> None:
    """Take tokens out of the file: what they have open ends within `access.reload_every`."""
    path, called = _where(file, whose, mind)
    with changing(path) as tokens:
        for name in names:
            if (called, name) not in tokens:
                known = ", ".join(sorted(held for whose_, held in tokens if whose_ == called)) or "none"
                raise Failure(f"{called} has no token {name!r} in {path}; there are: {known}", FAILED)
        for name in names:
            del tokens[called, name]
    console().print(f"{safe(', '.join(names))}: revoked")


def _where(file: Path | None, whose: str | None, mind: Path | None) -> tuple[Path, str]:
    settings = load_settings(mind)
    path = file or settings.access.tokens_file
    if path is None:
        raise Failure(
            "where are the tokens? Give --file FILE, or set access.tokens_file in the file of --mind", MISUSED
        )
    return path, whose or settings.mind.name


def _now() -> datetime:
    return datetime.fromtimestamp(wall(), UTC)


def _until(text: str, now: datetime) -> datetime:
    match = _DURATION.fullmatch(text.strip())
    try:
        if match is not None:
            return now + timedelta(**{_UNITS[match[2]]: int(match[1])})
        until = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise Failure(f"--expires {text!r}: write 12h, 30d, 8w, or a day such as 2026-12-31", MISUSED) from None
    until = until.replace(tzinfo=until.tzinfo or UTC)
    if until <= now:
        raise Failure(f"--expires {text}: that is over already", MISUSED)
    return until


def _told(entry: TokenEntry) -> dict[str, object]:
    return entry.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def _row(entry: TokenEntry) -> tuple[str | Text, ...]:
    over = entry.expires is not None and entry.expires <= _now()
    expires = Text(_day(entry.expires) if entry.expires else "never", style="red" if over else "")
    name = Text(safe(entry.name), style="bold")
    return name, safe(entry.mind), _scopes(entry), _day(entry.created), expires, entry.sha256[:12]


def _scopes(entry: TokenEntry) -> str:
    return ", ".join(sorted(entry.scopes))


def _end(entry: TokenEntry) -> str:
    return f" until {_day(entry.expires)}" if entry.expires else ""


def _day(when: datetime) -> str:
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


token = Group(
    "Make, list and revoke the tokens that callers show. Only digests are kept, in one file; processes that serve the"
    " mind read it again when it changes, so a token that is revoked ends at once, with all it has open.",
    {"new": new, "list": listing, "revoke": revoke},
)
