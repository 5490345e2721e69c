"""Ends what a mind process leaves behind, at the moment it ends: a process that does nothing else.

Run as a script, without site packages, so that it is small and quick. The host does the same before it starts a mind
process, but the host may be what was killed. Everything that a mind process starts is in its session.
"""

import os
import select
import signal
import time

_PATIENCE = 10.0


def members(session: int) -> list[int]:
    """Processes of ``session`` but this one; those that have ended but were not waited for do not count."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - no pathlib: a third of the start
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123
                state, _, _, owner = stat.read().rpartition(b") ")[2].split()[:4]
        except OSError:
            continue
        if int(owner) == session and state != b"Z":
            found.append(int(name))
    return found


def wait_for(pid: int) -> None:
    """Return when process ``pid`` has ended."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([fd], [], [])


def main() -> None:
    """Wait for the leader of this session, then end the session."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    session = os.getsid(0)
    wait_for(session)
    until = time.monotonic() + _PATIENCE
    while (left := members(session)) and time.monotonic() < until:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        time.sleep(0.05)


if __name__ == "__main__":
    main()
