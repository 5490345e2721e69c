"""How many connections the system lets a process hold."""

from __future__ import annotations

import resource


def more_files() -> int:
    """Raise the soft limit of open files to the hard one; what it is then. Each connection takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):  # an unlimited hard limit that the kernel does not grant
            return soft
    return hard
