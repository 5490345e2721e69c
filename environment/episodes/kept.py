"""An index of episodes in a file, so that the next process need not read all of the log to make it anew."""

from __future__ import annotations

import os
import zipfile
from array import array
from collections import defaultdict
from pathlib import Path
from sys import intern
from typing import Any

import msgspec
import numpy as np

from environment.episodes.company import Voice
from environment.episodes.index import Episode, EpisodeIndex
from environment.messages import Instant

_TYPES: dict[str, Any] = {"EpisodeIndex._innate": dict[int, Episode], "Company._voices": dict[str, Voice]}
"""What is not read as it is written."""
_APART = {"_most", "lines", "company"}
"""What is not written: what is given, and the parts of an index."""
_MEANING = ("EpisodeIndex._vectors", "EpisodeIndex._scales")
_BROKEN = (OSError, ValueError, KeyError, zipfile.BadZipFile, msgspec.MsgspecError)


class IndexStamp(msgspec.Struct, frozen=True):
    """What an index is of; another one is of no use."""

    most: int
    left_out: tuple[str, ...]
    """Sources whose questions it does not hold, as patterns."""
    forgot: int
    """How often something was forgotten on request before it was made."""
    seq: int
    """The last perception that was looked at, and when that was received."""
    received: Instant
    dim: int
    """Components of its vectors."""
    form: int = 2
    """Another one where an index of the same lines is another, or is written otherwise."""


def save(index: EpisodeIndex, stamp: IndexStamp, file: Path) -> None:
    """Put it in the place of what is there, for the user alone. Raises ``OSError``."""
    draft = file.with_suffix(".draft")
    opened = os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
    with opened, zipfile.ZipFile(opened, "w") as found:  # it has checksums
        found.writestr("stamp", msgspec.msgpack.encode(stamp))
        for name, _, value in _fields(index):
            found.writestr(name, msgspec.msgpack.encode(value, enc_hook=lambda column: column.tobytes()))
    draft.replace(file)


def load(file: Path, most: int, dim: int) -> tuple[IndexStamp, EpisodeIndex] | None:
    """The index in a file, with its vectors where they have ``dim`` components; None where it cannot be read."""
    index = EpisodeIndex(most)
    try:
        with zipfile.ZipFile(file) as found:
            stamp = msgspec.msgpack.decode(found.read("stamp"), type=IndexStamp)
            for name, owner, empty in _fields(index):
                if dim == stamp.dim or name not in _MEANING:
                    held = msgspec.msgpack.decode(found.read(name), type=_TYPES.get(name, Any))
                    setattr(owner, name.partition(".")[2], _restored(empty, held, dim))
    except _BROKEN:
        return None
    return stamp, index


def _fields(index: EpisodeIndex) -> list[tuple[str, object, Any]]:
    """All that is kept: its name, whose it is, and the value."""
    return [
        (f"{type(owner).__name__}.{name}", owner, value)
        for owner in (index, index.lines, index.company)
        for name, value in vars(owner).items()
        if name not in _APART
    ]


def _restored(empty: Any, held: Any, dim: int) -> Any:
    """A value as it was, of what one is that is empty."""
    if isinstance(empty, array):
        empty.frombytes(held)
    elif isinstance(empty, defaultdict):
        for term, places in held.items():
            empty[intern(term)].frombytes(places)
    elif isinstance(empty, np.ndarray):
        return np.frombuffer(bytearray(held), np.int8).reshape(-1, dim)
    else:
        return [*map(intern, held)] if isinstance(empty, list) else type(empty)(held)
    return empty
