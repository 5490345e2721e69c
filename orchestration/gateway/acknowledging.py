"""The answer to a batch of an upload, written straight to the wire: the message that is sent most often."""

from __future__ import annotations

from environment.messages import Receipts
from orchestration.gateway import encode
from orchestration.pb.submind.v1 import perception_pb2 as pb

_LOW = 0x7F
_MORE = 0x80
_ROW = b"\x12%c\n\x16p-%%020x\x10\x01\x18%%c%b"
"""A ``Receipt`` as field 2 of ``PerceiveStreamResponse``: length; id (1), new (2) and seq (3), its low bits first."""
_ROW_LENGTH = 28
"""Bytes of a ``Receipt`` but for the high part of its number."""


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > _LOW:
        parts.append(number & _LOW | _MORE)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def acknowledgement(batch: int, receipts: Receipts) -> bytes:
    """``PerceiveStreamResponse``, serialised. New perceptions, as most are, cost a seventh of what messages would."""
    first, after = receipts.first, receipts.first + receipts.count
    if receipts.known or first <= _LOW:
        return pb.PerceiveStreamResponse(batch=batch, receipts=encode.receipts(receipts)).SerializeToString()
    parts = [b"\x08" + _varint(batch)] if batch else []
    for high in range(first >> 7, (after - 1 >> 7) + 1):  # numbers that differ in their low seven bits only
        rest = _varint(high)
        row = _ROW % (_ROW_LENGTH + len(rest), rest.replace(b"%", b"%%"))
        start, stop = max(first, high << 7), min(after, high + 1 << 7)
        parts += [row % (seq, seq & _LOW | _MORE) for seq in range(start, stop)]
    return b"".join(parts)
