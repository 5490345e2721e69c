"""Structured logs: one JSON object a line, with the ids of what was going on, safe to read anywhere.

Every library that logs by the standard module comes out in the same form. Outside text in a log line can neither move
a terminal's cursor nor forge a second line; secrets do not appear.
"""

import errno
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from orchestration.shared_file import SharedFile
from orchestration.telemetry.escape import escape, escape_json
from orchestration.telemetry.settings import LogSettings

REDACTED = "[redacted]"

_SECRET_KEY = re.compile(
    r"(^|[_-])(token|password|passwd|secret|authorization|api[_-]?key|cookie|credentials?)$", re.IGNORECASE
)
_SECRET_TEXT = re.compile(
    r"(?i)(\bbearer\s+|\bbasic\s+(?=[a-z0-9+/=]{12})|[?&](?:token|key|api_key|password)=)[^\s&\"',;]+"
    r"|\bsk-[a-z0-9_-]{8,}"
    r"|(?<![a-z0-9_-])submind_(?=[a-z0-9_-]*(?-i:[A-Z0-9]))[a-z0-9_-]{43}(?![a-z0-9_-])"  # ours, and no metric
    r"|(?<![a-z0-9_-])eyj[a-z0-9_-]{8,}\.[a-z0-9_-]{8,}\.[a-z0-9_-]{8,}"  # JWT
)
_QUIET = ("uvicorn.access", "uvicorn.error", "httpx", "httpcore", "asyncio", "cassandra", "faiss.loader")
_LEAST_SECRET = 8
_SAY_EVERY = 60.0
"""Seconds between two sentences about a log that cannot be written."""


def configure_logs(
    settings: LogSettings,
    *,
    file: Path | None = None,
    stderr: TextIO | None = None,
    secrets: Iterable[str] = (),
    fields: Mapping[str, str] | None = None,
) -> None:
    """Set up logging for this process; may be called again, the last call counts.

    ``file``: where JSON lines go (``settings.file`` permitting); ``secrets``: texts that never appear, such as the
    configured token; ``fields``: what every line of this process says, such as the mind's name.
    """
    shared = _shared(settings, [secret for secret in secrets if len(secret) >= _LEAST_SECRET], dict(fields or {}))
    handlers: list[logging.Handler] = []
    if settings.stderr != "off":
        stream = stderr or sys.stderr
        console = settings.stderr == "console" or (settings.stderr == "auto" and stream.isatty())
        shown = logging.StreamHandler(stream)
        shown.setFormatter(_formatter(shared, console=console, colors=stream.isatty()))
        handlers.append(shown)
    if file is not None and settings.file:
        kept = AppendHandler(file, settings.file_bytes)
        kept.setFormatter(_formatter(shared, console=False, colors=False))
        handlers.append(kept)
    root = logging.getLogger()
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    for handler in handlers or [logging.NullHandler()]:
        root.addHandler(handler)
    root.setLevel(settings.level.upper())
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("cassandra.protocol").setLevel(logging.ERROR)  # servers warn of `USE` at every statement
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


class AppendHandler(logging.Handler):
    """Appends lines to a ``SharedFile``.

    A full disk loses lines, never the caller: standard error is told so at once and then once a minute, and the log,
    with how many were lost, when there is room again.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        super().__init__()
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = SharedFile(path, max_bytes)
        self._file.open()
        self._lost = 0
        self._torn = False
        self._said = float("-inf")

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(record)
        except OSError as error:
            self._lost += 1
            self._say(str(error.strerror or error))
            return
        lost, self._lost = self._lost, 0
        if lost:
            self._said = float("-inf")
            fields = {"name": __name__, "msg": "log_lines_lost", "levelno": logging.WARNING, "lines": lost}
            self.handle(logging.makeLogRecord({**fields, "levelname": "WARNING"}))

    def _write(self, record: logging.LogRecord) -> None:
        line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
        if self._torn:
            line = b"\n" + line
        written = self._file.append(line)
        self._torn = written < len(line) and (self._torn or written > 0)
        if written < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _say(self, why: str) -> None:
        now = time.monotonic()
        if now - self._said >= _SAY_EVERY:
            self._said = now
            with suppress(OSError, ValueError):
                print(f"{self._path}: {why}: log lines are lost, {self._lost} so far", file=sys.stderr)  # noqa: T201

    def close(self) -> None:
        self._file.close()
        super().close()


def _shared(settings: LogSettings, secrets: list[str], fields: dict[str, str]) -> list[Processor]:
    def always(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return {**fields, **event}

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        always,
        _redactor(secrets),
        _shortener(settings.value_chars),
    ]


def _formatter(shared: list[Processor], *, console: bool, colors: bool) -> logging.Formatter:
    final: list[Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if console:
        final += [_escaped, structlog.dev.ConsoleRenderer(colors=colors, timestamp_key="time", sort_keys=False)]
    else:
        final += [structlog.processors.EventRenamer("event"), _json_line]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=final)


def _json_line(logger: WrappedLogger, method: str, event: EventDict) -> str:
    line = _JSON(logger, method, event)
    return escape_json(line if isinstance(line, str) else line.decode())


_JSON = structlog.processors.JSONRenderer(ensure_ascii=False, default=str, separators=(",", ":"))


def _escaped(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Escape everything but the tracebacks, which are rendered over many lines and escaped line by line."""
    for key, value in event.items():
        if key == "exception" and isinstance(value, str):
            event[key] = "\n".join(escape(line) for line in value.splitlines())
        else:
            event[key] = _each(value, escape)
    return event


def _redactor(secrets: list[str]) -> Processor:
    def clean(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, REDACTED)
        return _SECRET_TEXT.sub(lambda match: f"{match[1] or ''}{REDACTED}", text)

    def redact(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return _redacted(event, clean)

    return redact


def _redacted(event: MutableMapping[str, Any], clean: Callable[[str], str]) -> MutableMapping[str, Any]:
    return {
        key: REDACTED if isinstance(value, str | bytes) and _SECRET_KEY.search(str(key)) else _each(value, clean)
        for key, value in event.items()
    }


def _shortener(limit: int) -> Processor:
    def cut(text: str) -> str:
        return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more)"

    def shorten(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
        return {key: value if key == "exception" else _each(value, cut) for key, value in event.items()}

    return shorten


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every text in it changed."""
    match value:
        case str():
            return change(value)
        case bytes():
            return change(value.decode("utf-8", "backslashreplace"))
        case Mapping():
            return {
                change(str(key)): REDACTED
                if isinstance(item, str) and _SECRET_KEY.search(str(key))
                else _each(item, change)
                for key, item in value.items()
            }
        case list() | tuple() | set() | frozenset():
            return [_each(item, change) for item in value]
        case bool() | int() | float() | None:
            return value
        case _:
            return change(str(value))
