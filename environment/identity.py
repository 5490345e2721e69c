"""Ids derived from what they name, so that doing something again names the same thing."""

from collections.abc import Iterable
from hashlib import blake2b


def derived(prefix: str, *parts: str) -> str:
    """``prefix`` and 20 hexadecimal digits of the parts; the boundaries between parts count."""
    digest = blake2b(digest_size=10)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(4, "big"))
        digest.update(data)
    return f"{prefix}-{digest.hexdigest()}"


def thought_id(author: str, parents: Iterable[str], part: str = "") -> str:
    """The id of the thought an author makes of some parents; ``part`` tells several of them apart."""
    return derived("t", author, part, *parents)


def entry_id(focus: str, version: int) -> str:
    """The id of the stream entry for one version of a trace: it can be conscious once."""
    return derived("c", focus, str(version))


def answer_id(question: str) -> str:
    """The id of the stream entry that answers the question in a perception: it is answered once."""
    return derived("c", "answer", question)


def segue_id(before: str, after: str) -> str:
    """The id of the segue between two entries."""
    return derived("c", "segue", before, after)


def perception_id(seq: int) -> str:
    """The id of a perception within its mind: ``p-`` and the 20 hexadecimal digits of its sequence number."""
    return f"p-{seq:020x}"


def perception_seq(name: str) -> int | None:
    """The sequence number that ``perception_id`` made ``name`` of; None where it made nothing like it."""
    digits = name[2:]
    if len(name) != _ID_LENGTH or not name.startswith("p-") or not _HEX.issuperset(digits):
        return None
    return int(digits, 16)


_ID_LENGTH = 22
_HEX = frozenset("0123456789abcdef")
