"""What a commit has decided, as one record: everything that its rows follow from, and nothing else.

A record is decided on as a whole (``lanes``) before any of its rows is written. Whoever finds one whose rows may be
missing writes them: the same rows with the same write times, so that doing it twice, or late, changes nothing.
Fields are only ever added at the end, with a default: a record may be applied by another version than wrote it.
"""

from __future__ import annotations

import msgspec

CORE = "core"
"""The room of the two lanes by which a mind's numbers are given: they may be decided on together."""
TRACES, STREAM = "traces", "stream"
"""Its lanes: every change of a trace goes through the one, every entry of the stream through the other."""
GROWTH = "growth"
"""The one lane of the room of the same name: every decision on growth goes through it, and counts as an entry."""


class LaneState(msgspec.Struct, frozen=True, array_like=True):
    """What a lane counts; 0 where that is another's to count."""

    change: int = 0
    """The last change of a trace."""
    traces: int = 0
    """Traces that are kept."""
    live: int = 0
    """Those of them that are live."""
    forgotten: int = 0
    """Traces that were forgotten, ever."""
    entries: int = 0
    """The head of the stream, or of the log of growth."""
    history: int = 0
    """Changes of connections that were written, ever."""
    stamp: int = 0
    """The write time of the last record, microseconds."""


class Claim(msgspec.Struct, frozen=True, array_like=True, order=True):
    """Which life of a writer writes. A larger one is later."""

    epoch: int
    life: int


class Part(msgspec.Struct, frozen=True, array_like=True):
    """One lane that a record belongs to."""

    room: str
    lane: str
    n: int
    """The record's number in the lane."""
    state: LaneState
    """What the lane has counted with it."""
    claims: dict[str, Claim] = {}
    """By writer, of those that claimed the lane under its epoch."""


class Version(msgspec.Struct, frozen=True, array_like=True):
    """A new version of a trace."""

    id: str
    version: int
    change: int
    author: str
    topic: str
    thought_at: float
    value: float
    at: float
    half_life: float
    authors: bytes
    body: bytes


class Standing(msgspec.Struct, frozen=True, array_like=True):
    """How a trace stands after the commit."""

    id: str
    newest: int
    change: int
    live: bool
    conscious: int
    """0: not at all."""
    value: float
    at: float
    half_life: float


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """An entry of the stream."""

    seq: int
    id: str
    body: bytes


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A connection as it is now."""

    owner: str
    topic: str
    peer: str
    label: str
    weight: float
    ltp: bool
    uses: int
    credited: int
    last_use: float
    history: bytes


class Changed(msgspec.Struct, frozen=True, array_like=True):
    """Something that happened to a connection."""

    owner: str
    topic: str
    peer: str
    at: float
    kind: str
    weight: float
    reason: str
    label: str = ""


class Configured(msgspec.Struct, frozen=True, array_like=True):
    """A working configuration."""

    version: int
    at: float
    who: str
    body: str


class Grown(msgspec.Struct, frozen=True, array_like=True):
    """An event of growth."""

    seq: int
    body: bytes


class Born(msgspec.Struct, frozen=True, array_like=True):
    """A member as it is now."""

    number: int
    name: str
    body: bytes


class Seen(msgspec.Struct, frozen=True, array_like=True):
    """Where the indexes hold a version of a trace that is forgotten."""

    version: int
    part: int
    at: float
    author: str
    topic: str


class Forgotten(msgspec.Struct, frozen=True, array_like=True):
    """A trace that goes, with all its versions."""

    id: str
    newest: int
    seen: list[Seen]


class Removed(msgspec.Struct, frozen=True, array_like=True):
    """Actors that are no more, and what goes with them."""

    names: list[str]
    states: list[str]


class Payload(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """What is written."""

    versions: list[Version] = []
    standings: list[Standing] = []
    entries: list[Entry] = []
    gone: list[tuple[str, str, str]] = []
    """Connections that are no more: owner, topic, peer. They go before ``kept`` come."""
    kept: list[Kept] = []
    changed: list[Changed] = []
    states: dict[str, bytes] = {}
    reports: dict[str, bytes] = {}
    configurations: list[Configured] = []
    forgotten: list[Forgotten] = []
    owners: list[str] = []
    growth: list[Grown] = []
    members: list[Born] = []
    removed: list[Removed] = []


class Record(msgspec.Struct, frozen=True, array_like=True):
    """One commit. ``payload`` is empty where it stands apart, in ``pieces``."""

    stamp: int
    """The write time of its rows, microseconds: later than that of every record before it in its lanes."""
    word: bytes
    """By which its writer knows it from all others."""
    parts: list[Part]
    payload: bytes
    pieces: int = 0
    recent: list[bytes] = []
    """Words of the records before it, the last first."""

    def tells_of(self, word: bytes) -> bool:
        """Whether the record of that word is this one, or was decided on shortly before it."""
        return word == self.word or word in self.recent

    def part(self, room: str, lane: str) -> Part | None:
        """The lane's part in it."""
        return next((part for part in self.parts if (part.room, part.lane) == (room, lane)), None)


_encoder = msgspec.msgpack.Encoder()
_record = msgspec.msgpack.Decoder(Record)
_payload = msgspec.msgpack.Decoder(Payload)
_state = msgspec.msgpack.Decoder(LaneState)


def encode_record(record: Record) -> bytes:
    """A record; equal ones give equal bytes."""
    return _encoder.encode(record)


def decode_record(body: bytes) -> Record:
    """What was encoded. Raises ``msgspec.DecodeError``."""
    return _record.decode(body)


def encode_payload(payload: Payload) -> bytes:
    """What a record writes."""
    return _encoder.encode(payload)


def decode_payload(body: bytes) -> Payload:
    """What was encoded. Raises ``msgspec.DecodeError``."""
    return _payload.decode(body)


def encode_state(state: LaneState) -> bytes:
    """A lane's counters."""
    return _encoder.encode(state)


def decode_state(body: bytes) -> LaneState:
    """What was encoded. Raises ``msgspec.DecodeError``."""
    return _state.decode(body)


def room_of(lane: str) -> str:
    """The room of an actor's own lane."""
    return f"of {lane}"
