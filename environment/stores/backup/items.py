"""What stands in the blocks of a backup: the messages of a mind as msgpack.

Vectors are in half precision, as stores keep them. Maps by field name, so that a field added later has its default in
an older backup.
"""

from typing import Any

import msgspec
from msgspec.msgpack import Decoder

from environment.collections import Document
from environment.messages import Connection, ConnectionChange, StreamEntry, SubmindReport
from environment.stores.movable import MovedTrace, SavedState
from environment.stores.tally import encoded
from environment.vectors import decode_vector

BESIDE = "beside"
"""What stands beside the stores in a data directory: answers that were paid for, the clock."""


class Run(msgspec.Struct, frozen=True, array_like=True):
    """Perceptions whose numbers follow each other."""

    first: int
    """Of the first."""
    body: bytes
    """``codec.encode_perceptions``."""


class Beside(msgspec.Struct, frozen=True, array_like=True):
    """A row of ``BESIDE``."""

    place: str
    """``answers`` or ``clock``."""
    name: str
    value: bytes


def _decoder(of: type) -> Decoder[list[Any]]:
    return Decoder(list[of], dec_hook=decode_vector)  # type: ignore[valid-type]


_decoders: dict[str, Decoder[list[Any]]] = {
    "perceptions": _decoder(Run),
    "traces": _decoder(MovedTrace),
    "entries": _decoder(StreamEntry),
    "connections": _decoder(Connection),
    "changes": _decoder(ConnectionChange),
    "states": _decoder(SavedState),
    "reports": _decoder(SubmindReport),
    "documents": _decoder(Document),
    BESIDE: _decoder(Beside),
}


def encode_item(item: Any) -> bytes:
    """One item of a block."""
    return encoded(item)


def decode_items(kind: str, body: bytes) -> list[Any]:
    """The items of a block. Raises ``msgspec.DecodeError``."""
    return _decoders[kind].decode(body)
