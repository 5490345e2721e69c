"""The answer to a batch of an upload, written straight to the wire: the message that is sent most often."""

from environment.messages import Receipts
from orchestration.gateway import encode
from orchestration.pb.submind.v1 import perception_pb2 as pb

_LOW = 0x7F
_MORE = 0x80
_HEAD = b"\x12%c\n\x16p-%018x"
"""A ``Receipt`` as field 2 of ``PerceiveStreamResponse``: its length, and its id (1) but for the last two digits."""
_LENGTH = 28
"""Bytes of a ``Receipt`` but for the high part of its number."""
_TAILS = [b"%02x\x10\x01\x18%c" % (low, low & _LOW | _MORE) for low in range(256)]
"""By the last eight bits of the number: the end of the id, new (2), and seq (3), whose low seven bits come first."""


def varint(number: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte, the lowest first."""
    parts = bytearray()
    while number > _LOW:
        parts.append(number & _LOW | _MORE)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def acknowledgement(batch: int, receipts: Receipts) -> bytes:
    """``PerceiveStreamResponse``, serialised. New perceptions, as most are, cost a tiny part of what messages would."""
    first, after = receipts.first, receipts.first + receipts.count
    if receipts.known or first <= _LOW:
        return pb.PerceiveStreamResponse(batch=batch, receipts=encode.receipts(receipts)).SerializeToString()
    parts = [b"\x08" + varint(batch)] if batch else []
    while first < after:  # a run of numbers that differ in their low seven bits only
        stop, rest = min(after, (first | _LOW) + 1), varint(first >> 7)
        head = _HEAD % (_LENGTH + len(rest), first >> 8)
        low = first & 0xFF
        parts += [head, (rest + head).join(_TAILS[low : low + stop - first]), rest]
        first = stop
    return b"".join(parts)
