"""Reading the perception log in Cassandra; writes nothing, so any process may."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import groupby

from environment.identity import perception_seq
from environment.messages import Modality, Perception
from environment.stores.cassandra.log.header import Header, LogHeader
from environment.stores.cassandra.log.layout import Segment, chunk_of, first_of, last_of
from environment.stores.cassandra.log.segments import SegmentTable
from environment.stores.segments import BIT, mask, perceptions

_AHEAD = 8
"""Chunks whose places are asked for at once where most of what stands in them may be passed over, and bodies."""
_PARTS = 16
"""Rows of large bodies that are read at once: 8 MiB."""


class LogReader:
    """The log of one mind as far as it is committed."""

    def __init__(self, header: LogHeader, table: SegmentTable) -> None:
        self._header = header
        self._table = table
        self._barren: dict[Modality, tuple[int, int]] = {}
        """Numbers, the first exclusive, among which there is none of a modality: its reader asks again and again."""

    async def read(self, after: int, limit: int, modality: Modality | None) -> list[Perception]:
        """What ``PerceptionLog.read`` promises."""
        header = await self._header.read()
        found: list[Perception] = []
        if limit <= 0 or after >= header.head:
            return found
        start = begin = max(after, header.low) + 1
        if modality is not None:
            start = self._past_barren(start, modality)
        async for segments in self._committed(start, header, modality):
            for some in _groups(segments, start, limit - len(found), modality):
                for segment, batch in zip(some, await self._table.bodies(some), strict=True):
                    if batch is None:
                        await self._look_again(segment.end)
                        continue
                    places: Sequence[int] = range(max(0, start - segment.position), len(batch))
                    if modality is not None and mask(batch) != BIT[modality]:
                        all_of = batch.modalities
                        places = [at for at in places if all_of[at] is modality]
                    found += perceptions(batch, segment.position, places, limit - len(found))
                if len(found) >= limit:
                    break
            if len(found) >= limit:
                break
        if modality is not None:
            self._learn_barren(begin, found[0].seq - 1 if found else header.head, modality)
        return found

    def _past_barren(self, start: int, modality: Modality) -> int:
        after, to = self._barren.get(modality, (0, 0))
        return to + 1 if after < start <= to else start

    def _learn_barren(self, begin: int, to: int, modality: Modality) -> None:
        after, known = self._barren.get(modality, (0, 0))
        self._barren[modality] = (after if after < begin <= known + 1 else begin - 1, max(to, begin - 1))

    async def get(self, ids: Sequence[str]) -> dict[str, Perception]:
        """What ``PerceptionLog.get`` promises."""
        seqs = sorted({seq for seq in map(perception_seq, ids) if seq})
        found: dict[str, Perception] = {}
        if not seqs:
            return found
        header = await self._header.read()
        there = [seq for seq in seqs if header.low < seq <= header.head]
        wanted = [list(group) for _, group in groupby(there, chunk_of)]
        for at in range(0, len(wanted), _AHEAD):
            parts = await asyncio.gather(*(self._of_chunk(group, header) for group in wanted[at : at + _AHEAD]))
            found.update((one.id, one) for part in parts for one in part)
        return found

    async def _of_chunk(self, seqs: Sequence[int], header: Header) -> list[Perception]:
        """Numbers of one chunk, in order."""
        found: list[Perception] = []
        void = 0
        segments = await self._table.index(chunk_of(seqs[0]), header.head)
        for segment in segments:
            places = [seq - segment.position for seq in seqs if segment.position <= seq <= segment.end]
            if not places:
                continue
            if segment.void:
                void += len(places)
                continue
            (batch,) = await self._table.bodies([segment])
            if batch is not None:
                found += perceptions(batch, segment.position, places)
                void += sum(not batch.source[at] for at in places)
        if len(found) + void < len(seqs):
            there = {one.seq for one in found}
            await self._look_again(max(seq for seq in seqs if seq not in there))
        return found

    async def _committed(self, start: int, header: Header, modality: Modality | None) -> AsyncIterator[list[Segment]]:
        """The segments from the number ``start`` on, up to the head; where a modality is given, those that have it."""
        bit = 0 if modality is None else BIT[modality]
        last = chunk_of(header.head)
        while chunk_of(start) <= last:
            chunks = range(chunk_of(start), min(last + 1, chunk_of(start) + (_AHEAD if bit else 1)))
            indexes = await asyncio.gather(*(self._table.index(chunk, header.head) for chunk in chunks))
            for chunk, segments in zip(chunks, indexes, strict=True):
                end = min(last_of(chunk), header.head)
                if start <= end and (not segments or segments[-1].end < end):
                    await self._look_again(end)
                yield [
                    each
                    for each in segments
                    if start <= each.end and each.position <= header.head and (not bit or each.modalities & bit)
                ]
            start = first_of(chunks[-1] + 1)

    async def _look_again(self, seq: int) -> None:
        """What was said to be there is not. Raises ``StoreBroken`` unless it was forgotten meanwhile."""
        if (await self._header.read()).low < seq:
            raise self._table.broken(f"perception {seq}, or one before it, is missing")


def _groups(segments: Sequence[Segment], start: int, wanted: int, modality: Modality | None) -> Iterator[list[Segment]]:
    """Segments whose bodies are read together: no more than are wanted from the number ``start`` on, nor than fit."""
    group: list[Segment] = []
    count = parts = 0
    for each in segments:
        group.append(each)
        count += each.end - max(each.position, start) + 1 if modality is None or each.modalities == BIT[modality] else 1
        parts += each.parts
        if len(group) == _AHEAD or parts >= _PARTS or count >= wanted:
            yield group
            group, parts = [], 0
    if group:
        yield group
