"""What can go wrong in the environment. Each class says what to do about it; all survive pickling."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import dataclass_transform


@dataclass_transform(eq_default=False)
class FieldedError(Exception):
    """An error whose fields are what it is made of, in their order; so it survives pickling.

    It says its first field, unless it says more.
    """

    __match_args__ = ("args",)  # of a dataclass: the names of its fields
    says = ""
    """What it says, its fields in braces."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "__annotations__" in vars(cls):
            dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        self.args = tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]

    def __str__(self) -> str:
        return self.says.format_map(vars(self)) if self.says else str(getattr(self, self.__match_args__[0]))


class SubliminalError(Exception):
    """Root of this package's errors."""


class StoreUnavailable(FieldedError, SubliminalError):
    """The store cannot be reached or is busy: try again after ``retry_after`` seconds; nothing was written."""

    reason: str
    retry_after: float = 1.0


class StoreFull(StoreUnavailable):
    """No room left on the device: free some, then try again; nothing was written."""


class AppendSkipped(SubliminalError):
    """An append called before this one failed, so this one was not tried: nothing was written, hand it in again."""


class StaleRevision(FieldedError, SubliminalError):
    """A trace or a document moved on since it was read: read version ``current`` and build on that; 0: it is gone."""

    key: str
    base: int
    current: int

    says = "{key} is at version {current}, not {base}: read it again and build on that"


class FencedOut(FieldedError, SubliminalError):
    """A newer leader has taken over: stop writing and end."""

    fence: int
    current: int

    says = "epoch {fence} has been superseded by {current}: this process must stop writing"


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


class SequenceGap(FieldedError, SubliminalError):
    """An append does not continue the stream, or the log of growth: read on from its head and number again."""

    expected: int
    got: int

    says = "the log continues with {expected}, not {got}"


class ChangesGone(FieldedError, SubliminalError):
    """Not all that changed since ``after`` can be told any more: read what is live anew, and go on from there."""

    after: int

    says = "what changed since change {after} is no longer known: read what is live, and go on from there"


class WrongSchema(FieldedError, SubliminalError):
    """The store was written by another version: ``advice`` says what to do."""

    found: int
    known: int
    advice: str

    says = "the store has schema {found}, this version knows {known}: {advice}"


class DuplicateEntry(FieldedError, SubliminalError):
    """The stream holds an entry with this id already: it has been said, do not say it again."""

    entry_id: str
    seq: int

    says = "entry {entry_id} is in the stream already, under number {seq}"


class StoreBroken(FieldedError, SubliminalError):
    """A store's file cannot be used as it is: no retry will help; ``path`` names it, ``reason`` says what is wrong."""

    path: str
    reason: str

    says = "{path} cannot be used: {reason}"


class BadAddress(StoreBroken):
    """The address of a store cannot be understood: ``reason`` says what would be right, and holds no secret."""

    def __init__(self, reason: str) -> None:
        super().__init__("the store's address", reason)

    def __reduce__(self) -> tuple[type[BadAddress], tuple[str]]:
        return type(self), (self.reason,)


class MoveRefused(FieldedError, SubliminalError):
    """A mind cannot move from one store to another: the text says why, and what would be right."""

    reason: str


class BadBackup(FieldedError, SubliminalError):
    """A backup cannot be used: ``path`` names the file, ``reason`` says what is wrong and what would be right."""

    path: str
    reason: str

    says = "{path} {reason}"


class BadPack(FieldedError, SubliminalError):
    """A pack cannot be learnt: put right what is named in ``file``, at ``line`` where that is not 0."""

    file: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.why}"
