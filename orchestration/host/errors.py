"""What can go wrong when a host starts. Each says what to do about it; all survive pickling."""

from environment.errors import FieldedError


class HostError(Exception):
    """Root of this room's errors."""


class AlreadyRunning(FieldedError, HostError):
    """Another process runs a mind in this data directory."""

    data_dir: str
    pid: int | None

    def __str__(self) -> str:
        who = f"process {self.pid}" if self.pid else "another process"
        return f"a mind is already running in {self.data_dir} ({who}): stop that one, or give another --data-dir"


class StillMoving(FieldedError, HostError):
    """The mind has not arrived where it is to run."""

    place: str

    says = "the mind is still moving to {place}: finish `submind restore` or `submind clone` first"


class LogCutShort(FieldedError, HostError):
    """The perceptions of a mind end before what its subminds have read: its files are not of one moment."""

    place: str
    read: int
    head: int

    says = (
        "perceptions.db in {place} ends at number {head}, and mind.db beside it has read up to"
        " {read}: they are not of one moment. Restore the mind from a backup, or begin anew elsewhere"
    )


class UnsafeDirectory(FieldedError, HostError):
    """The directory for sockets is not this user's alone."""

    place: str
    why: str

    says = "{place} {why}: remove it, or set TMPDIR to a directory of your own with a short path"
