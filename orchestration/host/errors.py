"""What can go wrong when a host starts. Each says what to do about it; all survive pickling."""

from __future__ import annotations

from environment.stores.copying import going_on


class HostError(Exception):
    """Root of this room's errors."""


class AlreadyRunning(HostError):
    """Another process runs a mind in this data directory."""

    def __init__(self, data_dir: str, pid: int | None) -> None:
        super().__init__(data_dir, pid)
        self.data_dir = data_dir
        self.pid = pid

    def __str__(self) -> str:
        who = f"process {self.pid}" if self.pid else "another process"
        return f"a mind is already running in {self.data_dir} ({who}): stop that one, or give another --data-dir"


class StillMoving(HostError):
    """The mind has not arrived where it is to run."""

    def __init__(self, place: str, source: str) -> None:
        super().__init__(place, source)
        self.place = place
        self.source = source

    def __str__(self) -> str:
        return f"the mind is still moving to {self.place}: finish `{going_on(self.source)}` first"


class LogCutShort(HostError):
    """The perceptions of a mind end before what its subminds have read: its files are not of one moment."""

    def __init__(self, place: str, read: int, head: int) -> None:
        super().__init__(place, read, head)
        self.place = place
        self.read = read
        self.head = head

    def __str__(self) -> str:
        return (
            f"perceptions.db in {self.place} ends at number {self.head}, and mind.db beside it has read up to"
            f" {self.read}: they are not of one moment. Restore the mind from a backup, or begin anew elsewhere"
        )


class UnsafeDirectory(HostError):
    """The directory for sockets is not this user's alone."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(place, why)
        self.place = place
        self.why = why

    def __str__(self) -> str:
        return f"{self.place} {self.why}: remove it, or set TMPDIR to a directory of your own with a short path"
