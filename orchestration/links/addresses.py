"""Where the processes of a mind take in their mail, and who is found there."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orchestration.private import make_private

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ROOM = 107
"""Bytes of the longest path that a Unix socket can have."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where one process takes in mail: a Unix socket for its own machine, and a port for others where there are any."""

    machine: str
    """Who sees the same sockets: ``machine_of`` of the directory they are in."""
    path: str
    """The Unix socket."""
    host: str = ""
    port: int = 0
    """Where other machines find it; 0 where none is let in."""


def machine_of(directory: Path) -> str:
    """What this machine is known by among those that share sockets in ``directory``, which is made where it is not.

    Two processes get the same answer where they see the same directory under the same kernel: neither two containers
    on one machine nor two machines with one network drive do. Raises ``PermissionError`` where others than this user
    may enter the directory.
    """
    directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if make_private(directory):
        raise PermissionError(f"{directory} must belong to this user, and to nobody else (mode 0700)")
    mark = directory / "machine"
    if not mark.exists():
        own = directory / f"machine.{secrets.token_hex(8)}"
        own.write_text(secrets.token_hex(8), "ascii")
        with suppress(FileExistsError):  # linked, so that nobody reads half of it
            os.link(own, mark)
        own.unlink()
    return f"{_BOOT.read_text('ascii').strip()}/{mark.read_text('ascii')}"


def socket_path(directory: Path, process: str) -> str:
    """The Unix socket of the process called ``process``. Raises ``ValueError`` where its path is too long."""
    path = str(directory / f"{process}.sock")
    if len(os.fsencode(path)) > _ROOM:
        raise ValueError(f"{path} is longer than the {_ROOM} bytes that a socket's path may have")
    return path


class AddressBook:
    """Which actor is found at which endpoint, as the directory last told."""

    def __init__(self) -> None:
        self._entries: dict[str, Endpoint] = {}
        self._count: Counter[Endpoint] = Counter()
        self.listeners: list[Callable[[frozenset[str]], None]] = []
        """Called with the names that were added, moved or removed."""

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, name: str) -> Endpoint | None:
        """Where the actor is; None while it is nowhere."""
        return self._entries.get(name)

    def houses(self, endpoint: Endpoint) -> bool:
        """Whether anybody is there."""
        return endpoint in self._count

    def update(self, entries: Mapping[str, Endpoint | None], *, whole: bool = False) -> None:
        """Take in what changed (None: is nowhere now), or with ``whole`` everything that holds."""
        told = {**dict.fromkeys(self._entries), **entries} if whole else entries
        changed = frozenset(name for name, endpoint in told.items() if self._entries.get(name) != endpoint)
        for name in changed:
            self._enter(name, told[name])
        if changed:
            for listener in self.listeners:
                listener(changed)

    def _enter(self, name: str, endpoint: Endpoint | None) -> None:
        before = self._entries.pop(name, None)
        if before is not None:
            self._count[before] -= 1
            if not self._count[before]:
                del self._count[before]
        if endpoint is not None:
            self._entries[name] = endpoint
            self._count[endpoint] += 1
