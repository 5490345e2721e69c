"""What can go wrong in the environment. Each class says what to do about it; all survive pickling."""

from __future__ import annotations


class SubliminalError(Exception):
    """Root of this package's errors."""


class StoreUnavailable(SubliminalError):
    """The store cannot be reached or is busy: try again after ``retry_after`` seconds; nothing was written."""

    def __init__(self, reason: str, retry_after: float = 1.0) -> None:
        super().__init__(reason, retry_after)
        self.reason = reason
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.reason


class StoreFull(StoreUnavailable):
    """No room left on the device: free some, then try again; nothing was written."""


class AppendSkipped(SubliminalError):
    """An append called before this one failed, so this one was not tried: nothing was written, hand it in again."""


class StaleRevision(SubliminalError):
    """A trace or a document moved on since it was read: read version ``current`` and build on that; 0: it is gone."""

    def __init__(self, key: str, base: int, current: int) -> None:
        super().__init__(key, base, current)
        self.key = key
        self.base = base
        self.current = current

    def __str__(self) -> str:
        return f"{self.key} is at version {self.current}, not {self.base}: read it again and build on that"


class FencedOut(SubliminalError):
    """A newer leader has taken over: stop writing and end."""

    def __init__(self, fence: int, current: int) -> None:
        super().__init__(fence, current)
        self.fence = fence
        self.current = current

    def __str__(self) -> str:
        return f"epoch {self.fence} has been superseded by {self.current}: this process must stop writing"


class Outlived(FencedOut):
    """A later life of the same writer has begun, under the same leader: stop writing and end.

    ``fence`` is the number of the life that was refused, ``current`` that of the one that writes.
    """

    def __init__(self, writer: str, fence: int, current: int) -> None:
        super().__init__(fence, current)
        self.args = (writer, fence, current)
        self.writer = writer

    def __str__(self) -> str:
        return f"life {self.current} of {self.writer} has begun since life {self.fence}: this process must stop writing"


class SequenceGap(SubliminalError):
    """An append does not continue the stream, or the log of growth: read on from its head and number again."""

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(expected, got)
        self.expected = expected
        self.got = got

    def __str__(self) -> str:
        return f"the log continues with {self.expected}, not {self.got}"


class ChangesGone(SubliminalError):
    """Not all that changed since ``after`` can be told any more: read what is live anew, and go on from there."""

    def __init__(self, after: int) -> None:
        super().__init__(after)
        self.after = after

    def __str__(self) -> str:
        return f"what changed since change {self.after} is no longer known: read what is live, and go on from there"


class WrongSchema(SubliminalError):
    """The store was written by another version: ``advice`` says what to do."""

    def __init__(self, found: int, known: int, advice: str) -> None:
        super().__init__(found, known, advice)
        self.found = found
        self.known = known
        self.advice = advice

    def __str__(self) -> str:
        return f"the store has schema {self.found}, this version knows {self.known}: {self.advice}"


class DuplicateEntry(SubliminalError):
    """The stream holds an entry with this id already: it has been said, do not say it again."""

    def __init__(self, entry_id: str, seq: int) -> None:
        super().__init__(entry_id, seq)
        self.entry_id = entry_id
        self.seq = seq

    def __str__(self) -> str:
        return f"entry {self.entry_id} is in the stream already, under number {self.seq}"


class StoreBroken(SubliminalError):
    """A store's file cannot be used as it is: no retry will help; ``path`` names it, ``reason`` says what is wrong."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} cannot be used: {self.reason}"


class BadAddress(StoreBroken):
    """The address of a store cannot be understood: ``reason`` says what would be right, and holds no secret."""

    def __init__(self, reason: str) -> None:
        super().__init__("the store's address", reason)

    def __reduce__(self) -> tuple[type[BadAddress], tuple[str]]:
        return type(self), (self.reason,)


class MoveRefused(SubliminalError):
    """A mind cannot move from one store to another: the text says why, and what would be right."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class BadBackup(SubliminalError):
    """A backup cannot be used: ``path`` names the file, ``reason`` says what is wrong and what would be right."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path} {self.reason}"
