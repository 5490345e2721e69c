"""The log of who did what to a mind: a line of JSON each, in a file of its own and in the log."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from orchestration.access.caller import Caller
from orchestration.access.settings import AuditSettings

_log = structlog.get_logger(__name__)

NAME = "audit.log"
_LONGEST = 500
_MINUTE = 60.0


class AuditLog:
    """Writes down what was done, by whom, to what, and what came of it.

    Each line is one write, so lines of several processes never mix. The file is set aside when it is full, and
    ``access.audit.files`` of those are kept. What cannot be written is in the log, which is said there; nobody waits.
    """

    def __init__(
        self, settings: AuditSettings, mind: str, wall: Callable[[], float], folder: Path | None = None
    ) -> None:
        """``folder``: the data directory; None where there is none, and the log alone has it."""
        self._settings = settings
        self._mind = mind
        self._wall = wall
        self._path = None if folder is None else folder / NAME
        self._minute = -_MINUTE
        self._refusals = 0
        self.lines = 0
        """How many were written."""
        self.left_out = 0
        """Refusals that were too many to be written down one by one."""

    def record(
        self, action: str, caller: Caller | str, outcome: str, *, target: str = "", peer: str = "", **more: Any
    ) -> None:
        """Write a line. ``outcome``: ``done``, ``refused``, or why not."""
        who = caller if isinstance(caller, str) else caller.told
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(self._wall(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "mind": self._mind,
            "action": action,
            "by": who,
            "outcome": _cut(outcome),
            **({"target": _cut(target)} if target else {}),
            **({"peer": peer} if peer else {}),
            **({"session": True} if isinstance(caller, Caller) and caller.session else {}),
            **more,
        }
        self.lines += 1
        _log.info("audit", **{name: value for name, value in line.items() if name not in {"time", "mind"}})
        if self._path is None:
            return
        try:
            self._append(f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace"))
        except OSError as error:
            _log.error("audit_not_written", file=str(self._path), reason=error.strerror)

    def refused(self, action: str, why: str, *, peer: str = "", by: str = "") -> None:
        """The same of somebody who was not let in; of too many in a minute only how many there were."""
        now = self._wall()
        if not 0 <= now - self._minute < _MINUTE:
            if self._refusals > self._settings.refusals_per_minute:
                beyond = self._refusals - self._settings.refusals_per_minute
                self.record("refusals", "", f"{beyond} more were refused within a minute")
            self._minute, self._refusals = now, 0
        self._refusals += 1
        if self._refusals > self._settings.refusals_per_minute:
            self.left_out += 1
            return
        self.record(action, by, f"refused: {why}", peer=peer)

    def _append(self, line: bytes) -> None:
        assert self._path is not None  # noqa: S101 - who calls has looked
        fd = os.open(self._path, os.O_APPEND | os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(fd).st_size and os.fstat(fd).st_size + len(line) > self._settings.file_bytes:
                fd = self._set_aside(fd)
            os.write(fd, line)
        finally:
            os.close(fd)

    def _set_aside(self, fd: int) -> int:
        """Rename the full file, unless another process has done so: the lock is on the file itself."""
        path, files = self._path, self._settings.files
        assert path is not None  # noqa: S101 - who calls has looked
        fcntl.flock(fd, fcntl.LOCK_EX)
        try:
            ours, theirs = os.fstat(fd), path.stat()
            if (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino):
                for number in range(files - 1, 0, -1):
                    before = path.with_name(f"{NAME}.{number}")
                    if before.exists():
                        before.rename(path.with_name(f"{NAME}.{number + 1}"))
                path.rename(path.with_name(f"{NAME}.1"))
            return os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        finally:
            os.close(fd)  # releases the lock


def read_audit(folder: Path) -> Iterator[dict[str, Any]]:
    """Every line there is, oldest first; what is no line is left out. Raises ``OSError``."""
    kept = sorted(
        folder.glob(f"{NAME}.*"), key=lambda path: -int(path.suffix[1:]) if path.suffix[1:].isdecimal() else 1
    )
    current = folder / NAME
    for path in (*kept, *([current] if current.exists() else [])):
        with path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
