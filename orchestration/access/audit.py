"""The log of who did what to a mind: a line of JSON each, in a file of its own and in the log."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from orchestration.access.caller import Caller
from orchestration.access.settings import AuditSettings
from orchestration.shared_file import SharedFile

_log = structlog.get_logger(__name__)

NAME = "audit.log"
_LONGEST = 500
_COUNTED = 1000
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
        self._file = None if folder is None else SharedFile(folder / NAME, settings.file_bytes, settings.files)
        self._minute = -_MINUTE
        self._counts: Counter[str] = Counter()
        self.lines = 0
        """How many were written."""

    def record(
        self, action: str, caller: Caller | str, outcome: str, *, target: str = "", peer: str = "", **more: Any
    ) -> None:
        """Write a line. ``outcome``: ``done``, ``refused``, or why not."""
        who = caller if isinstance(caller, str) else caller.name
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(self._wall(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "mind": self._mind,
            "action": action,
            "by": who,
            "outcome": _cut(outcome),
            **({"target": _cut(target)} if target else {}),
            **({"peer": peer} if peer else {}),
            **(_of(caller) if isinstance(caller, Caller) else {}),
            **more,
        }
        self.lines += 1
        _log.info("audit", **{name: value for name, value in line.items() if name not in {"time", "mind"}})
        if self._file is None:
            return
        try:
            self._file.append(f"{json.dumps(line, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace"))
        except OSError as error:
            _log.error("audit_not_written", file=error.filename or NAME, reason=error.strerror)
        finally:
            self._file.close()

    def refused(self, action: str, why: str, *, peer: str = "", by: str = "") -> None:
        """The same of somebody who was not let in; of too many in a minute only how many there were.

        Whoever has a name is counted apart, so that a flood of others hides nobody.
        """
        if self._room(by):
            self.record(action, by, f"refused: {why}", peer=peer)

    def often(self, action: str, caller: Caller, *, peer: str = "") -> None:
        """The same of what may be done as often as one likes (log-ins), within the same bound."""
        if self._room(f"session {caller.name}"):
            self.record(action, caller, "done", peer=peer)

    def flush(self) -> None:
        """Write down how many were left out, when their minute is over."""
        now = self._wall()
        if 0 <= now - self._minute < _MINUTE:
            return
        beyond = sum(max(0, count - self._settings.refusals_per_minute) for count in self._counts.values())
        self._minute = now
        self._counts.clear()
        if beyond:
            self.record("refusals", "", f"{beyond} more were refused within a minute")

    def _room(self, key: str) -> bool:
        self.flush()
        known = key if key in self._counts or len(self._counts) < _COUNTED else ""
        self._counts[known] += 1
        return self._counts[known] <= self._settings.refusals_per_minute


def _of(caller: Caller) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": caller.kind}
    if caller.behalf:
        told["behalf"] = caller.behalf
    return told | ({"session": True} if caller.session else {})


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
