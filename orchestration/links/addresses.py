"""Where the processes of a mind take connections in, and which actor is found there."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestration.private import make_private

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ROOM = 107
"""Bytes of the longest path that a Unix socket can have."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where one process takes connections in: a Unix socket, and a port for other machines where there are any."""

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
    found = directory.stat()
    return f"{_BOOT.read_text('ascii').strip()}/{found.st_dev}/{found.st_ino}"


def socket_path(directory: Path, process: str) -> str:
    """The Unix socket of the process called ``process``. Raises ``ValueError`` where its path is too long."""
    path = str(directory / f"{process}.sock")
    if len(os.fsencode(path)) > _ROOM:
        raise ValueError(f"{path} is longer than the {_ROOM} bytes that a socket's path may have")
    return path


class AddressBook(dict[str, Endpoint]):
    """Which actor is found at which endpoint, as the directory last told."""

    def learn(self, entries: Mapping[str, Endpoint | None], *, whole: bool = False) -> frozenset[str]:
        """Take in what changed (None: is nowhere now), or with ``whole`` everything that holds; who that concerns."""
        told = {**dict.fromkeys(self), **entries} if whole else entries
        changed = frozenset(name for name, endpoint in told.items() if self.get(name) != endpoint)
        for name in changed:
            self.pop(name, None)
            if (endpoint := told[name]) is not None:
                self[name] = endpoint
        return changed
