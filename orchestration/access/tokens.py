"""Tokens as they are kept: digests in a file that ``submind token`` writes, and that is read while a mind runs.

A token is 256 random bits, so a plain SHA-256 of it gives nothing away: what makes passwords need a slow hash is that
they can be guessed, and this cannot. It also lets a token be found by its digest, whose comparison tells an attacker
nothing that he could use.
"""

import fcntl
import os
import re
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AwareDatetime, BeforeValidator, Field, ValidationError, field_serializer, field_validator

from environment.config import Section
from orchestration.access.caller import Caller, Quota
from orchestration.access.errors import BadCredentials
from orchestration.access.files import read
from orchestration.access.scopes import Scope

LEAST_TOKEN = 16
"""Characters of a token that somebody made up; what is shorter can be guessed."""
PREFIX = "submind_"
"""What tokens made here begin with, so that scanners of leaked secrets can know them."""
BYTES = 32
NAME = re.compile(r"[A-Za-z0-9](?:[-._@A-Za-z0-9]{0,62}[A-Za-z0-9])?")
_HEAD = """\
# Tokens of submind, by digest (SHA-256): the tokens themselves are kept nowhere.
# Written by `submind token`; processes that serve the mind read it again when it changes.
"""


def _moment(value: object) -> object:
    """A day alone means its beginning; a time without an offset is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError("a time is written as in 2026-03-03T06:00:00Z, or a day as in 2026-03-03") from None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value.replace(tzinfo=value.tzinfo or UTC) if isinstance(value, datetime) else value


Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]


class TokenQuota(Section):
    """What one token may, where that is other than ``access.quotas`` says. 0: not bounded."""

    perceptions_per_second: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Most perceptions a second."""
    bytes_per_second: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Most bytes of perceptions a second."""
    streams: int | None = Field(default=None, ge=0)
    """Most streams open at a time."""


class TokenEntry(Section):
    """One token."""

    name: str
    """Whose it is; what logs call its holder."""
    mind: str
    """The mind it is for; no other takes it."""
    scopes: Annotated[frozenset[Scope], Field(min_length=1)]
    """What it allows."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Its digest, in hexadecimal."""
    created: Moment
    """When it was made."""
    expires: Moment | None = None
    """When it ends; never where it is left out."""
    quota: TokenQuota = TokenQuota()
    """What it may, where that is other than the settings say."""

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        if NAME.fullmatch(value) is None:
            raise ValueError("a name is at most 64 letters, digits, and - . _ @ between them")
        return value

    @field_serializer("scopes")
    def _listed(self, scopes: frozenset[Scope]) -> list[str]:
        return sorted(scope.value for scope in scopes)

    def caller(self) -> Caller:
        """Whoever shows it."""
        return Caller(
            self.name,
            "token",
            self.scopes,
            self.sha256,
            None if self.expires is None else self.expires.timestamp(),
            Quota(**self.quota.model_dump()),
        )


class _TokensFile(Section):
    tokens: tuple[TokenEntry, ...] = ()


def digest(token: str | bytes) -> str:
    """What is kept of a token."""
    return sha256(token.encode("utf-8", "replace") if isinstance(token, str) else token).hexdigest()


def read_tokens(path: Path) -> tuple[TokenEntry, ...]:
    """The tokens in a file. Raises ``BadCredentials`` saying what is wrong with it."""
    return parse_tokens(read(path, "the tokens file"), path)


def parse_tokens(content: bytes, path: Path) -> tuple[TokenEntry, ...]:
    """The tokens in ``content``, which was read from ``path``. Raises ``BadCredentials`` as ``read_tokens`` does."""
    try:
        values = yaml.safe_load(content.decode("utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadCredentials(f"the tokens file {path} is not YAML: {' '.join(str(error).split())}") from None
    try:
        tokens = _TokensFile.model_validate(values).tokens
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        why = first["msg"].removeprefix("Value error, ")
        raise BadCredentials(f"the tokens file {path} cannot be used: {where or 'it'}: {why}") from None
    for what, each in (
        ("name", [f"{one.mind}/{one.name}" for one in tokens]),
        ("digest", [one.sha256 for one in tokens]),
    ):
        twice = [one for one, times in Counter(each).items() if times > 1]
        if twice:
            raise BadCredentials(f"the tokens file {path} cannot be used: the {what} {twice[0]} stands there twice")
    return tokens


def write_tokens(path: Path, tokens: Iterable[TokenEntry]) -> None:
    """Replace the file as a whole, readable by its owner (or by whom it was readable). Raises ``BadCredentials``."""
    body = yaml.safe_dump({"tokens": [_plain(one) for one in tokens]}, sort_keys=False, allow_unicode=True)
    try:
        before = path.stat() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(_HEAD + body)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o600 if before is None else before.st_mode & 0o777)
            if before is not None and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                os.chown(name, before.st_uid, before.st_gid)  # else who serves could not read it any more
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise BadCredentials(f"the tokens file {path} cannot be written: {error.strerror}") from None


def _plain(entry: TokenEntry) -> Mapping[str, Any]:
    told = entry.model_dump(exclude_none=True, exclude_defaults=True)
    for name in ("created", "expires"):
        if name in told:
            told[name] = told[name].astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return told


def read_token(path: Path) -> str:
    """The token in a file. Raises ``BadCredentials`` saying what is wrong with it."""
    try:
        token = read(path, "the token file").decode("utf-8").strip()
    except UnicodeDecodeError:
        token = ""
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise BadCredentials(
            f"{path}: the token file must hold at least {LEAST_TOKEN} printable ASCII characters without spaces"
        )
    return token


@contextmanager
def changing(path: Path) -> Iterator[dict[tuple[str, str], TokenEntry]]:
    """The tokens of a file by mind and name, to be changed: written when the block ends well, and by one at a time.

    A file that does not exist is begun. Raises ``BadCredentials``.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise BadCredentials(f"the tokens file {path} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = {(one.mind, one.name): one for one in (read_tokens(path) if path.exists() else ())}
        tokens = dict(before)
        yield tokens
        if tokens != before or not path.exists():
            write_tokens(path, tokens.values())
    finally:
        os.close(held)


def new_token(
    name: str,
    mind: str,
    scopes: Iterable[Scope],
    *,
    now: datetime,
    expires: datetime | None = None,
    quota: TokenQuota | None = None,
) -> tuple[str, TokenEntry]:
    """A token that nobody has, and what is kept of it. Raises ``BadCredentials`` for a name that cannot be one."""
    token = PREFIX + secrets.token_urlsafe(BYTES)
    try:
        entry = TokenEntry(
            name=name,
            mind=mind,
            scopes=frozenset(scopes),
            sha256=digest(token),
            created=now,
            expires=expires,
            quota=quota or TokenQuota(),
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise BadCredentials(f"{first['loc'][0]} {name!r}: {first['msg'].removeprefix('Value error, ')}") from None
    return token, entry
