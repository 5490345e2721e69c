"""Where a perception stands in Cassandra: chunks, parts and write times, and the arithmetic that bounds partitions.

A mind's perceptions are numbered without gaps. ``CHUNK`` numbers make one partition, in which *segments* (perceptions
that were written together) follow each other from its first number on; no segment crosses into the next chunk. So
every segment begins where the one before it ends, and that is how a reader tells what was committed: of what a writer
left behind that did not commit, nothing stands at such a place and has the last word there (``scan``).

The largest partitions, from the limits below and those of the gateway; none of them grows with the age of a mind:

| table                | partition         | rows at most          | bytes at most                              |
|----------------------|-------------------|-----------------------|--------------------------------------------|
| perception_log       | a mind            | 1                     | 50                                         |
| perception_stretches | 1,024 numbers     | 1,024 (one a number)  | 1,024 x (64 KiB + key + columns) = 64 MiB  |
| perception_payloads  | one large segment | its body / 512 KiB    | 8 MiB, or one perception alone: 33 MiB     |
| perception_keys      | a key             | 1                     | 24                                         |

Of a large segment of which something was erased on request, the rest stands in its row: so one row changes, or none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

CHUNK = 1024
"""Numbers in one partition."""
INLINE = 64 * 1024
"""Largest body, in bytes, that stands beside its segment; larger ones have a partition of their own."""
PART = 512 * 1024
"""Bytes in one row of such a body: far below what a server takes in one write (16 MiB)."""
LARGEST_BODY = 8 * 1024 * 1024
"""A segment of several perceptions whose body, in bytes, would be larger is cut in two."""
COUNTER_BITS = 40
"""Of a write time: the writer's counter of attempts; the bits above are its epoch."""
AFTER_ALL = 1 << 62
"""The write time of deletions of what is never written again."""
COLUMNS = 80
"""Bytes of a segment's other columns and of its row, generously."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Perceptions that were written together, as a reader needs to know them."""

    position: int
    """The number of the first."""
    count: int
    received: float
    """The latest of their ``received``."""
    modalities: int
    """A bit for each that is there."""
    parts: int
    """Rows that hold the body; 0 where it stands in the segment itself."""

    @property
    def end(self) -> int:
        """The number of the last."""
        return self.position + self.count - 1

    @property
    def void(self) -> bool:
        """Whether nothing stands in it: its numbers are never given, as they were not where the log came from."""
        return not self.modalities


class _Row(Protocol):
    @property
    def position(self) -> int: ...
    @property
    def count(self) -> int: ...
    @property
    def received(self) -> float: ...
    @property
    def modalities(self) -> int: ...
    @property
    def parts(self) -> int: ...


def chunk_of(seq: int) -> int:
    """The chunk in which a number stands."""
    return seq // CHUNK


def first_of(chunk: int) -> int:
    """The first number of a chunk: the very first is 1."""
    return max(1, chunk * CHUNK)


def last_of(chunk: int) -> int:
    """The last number of a chunk."""
    return (chunk + 1) * CHUNK - 1


def split(position: int, count: int) -> Iterator[tuple[int, int]]:
    """``count`` numbers from ``position`` on, cut where chunks end: (offset, offset of the end) from ``position``."""
    start = 0
    while start < count:
        stop = min(count, last_of(chunk_of(position + start)) + 1 - position)
        yield start, stop
        start = stop


def parts_of(body: bytes) -> Iterator[tuple[int, bytes]]:
    """A large body as rows: number and bytes."""
    yield from ((at // PART, body[at : at + PART]) for at in range(0, len(body), PART))


def stamp(epoch: int, counter: int) -> int:
    """The write time of everything that one attempt of one writer writes.

    A later epoch has the last word over every earlier one, however late that one's writes arrive, and within an epoch
    the later attempt: the clock of no machine plays a part, so writing again changes nothing.
    """
    return epoch << COUNTER_BITS | counter


def scan(rows: Iterable[_Row], expected: int, head: int) -> Iterator[Segment]:
    """The committed segments among a chunk's rows, which come in order; the first begins at ``expected``.

    What lies within a segment, or after ``head``, was written by somebody who never committed it. A segment's own
    place holds what its committer wrote: whoever else wrote there did so in an earlier attempt or epoch, and all
    columns are written together. A gap ends the scan.
    """
    for row in rows:
        if row.position > expected or expected > head:
            return
        if row.position == expected and row.count > 0:
            yield Segment(row.position, row.count, row.received, row.modalities, row.parts)
            expected += row.count
