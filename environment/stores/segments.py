"""Cutting and joining batches: what stands together in one row of the perception log."""

from collections.abc import Callable, Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

from environment.identity import perception_id
from environment.messages import NO_LABELS, Modality, NewPerception, Perception, PerceptionBatch, Receipts

LONGEST = 256
"""Most perceptions in one row: what is decoded for a single one of them."""
ALONE = 48
"""Perceptions of one batch that make a row of their own, and need not be joined with their neighbours'."""
LARGEST = 1 << 20
"""Characters of text, or bytes of images, after which a row ends."""
BIT = {Modality.TEXT: 1, Modality.TELEMETRY: 2, Modality.IMAGE: 4}
"""The bit of each modality in a row's mask."""
_COLUMNS = tuple(each.name for each in fields(PerceptionBatch))
_DEFAULTS = {
    "labels": NO_LABELS,
    "trust": NewPerception.__dataclass_fields__["trust"].default,
}


def join(batches: Sequence[PerceptionBatch]) -> PerceptionBatch:
    """All batches, at least one, as one."""
    if len(batches) == 1:
        return batches[0]
    columns: dict[str, list[Any]] = {}
    for name in _COLUMNS:
        parts = [getattr(batch, name) for batch in batches]
        if any(parts):
            default = _DEFAULTS.get(name)
            columns[name] = list(
                chain.from_iterable(part or [default] * len(batch) for part, batch in zip(parts, batches, strict=True))
            )
    return PerceptionBatch(**columns)


def choose(batch: PerceptionBatch, rows: Callable[[Sequence[Any]], Sequence[Any]]) -> PerceptionBatch:
    """Some of a batch: what ``rows`` leaves of every column."""
    columns = ((name, getattr(batch, name)) for name in _COLUMNS)
    return PerceptionBatch(**{name: rows(column) for name, column in columns if column})


def cut(batch: PerceptionBatch) -> Iterator[tuple[int, int]]:
    """Ranges that are neither long nor large, and hold images only or none."""
    images, texts = batch.image, batch.text
    if not any(images) and sum(map(len, filter(None, texts))) <= LARGEST:
        yield from ((at, min(at + LONGEST, len(batch))) for at in range(0, len(batch), LONGEST))
        return
    start = size = 0
    was_image: bool | None = None
    for at in range(len(batch)):
        image, text = images[at] if images else None, texts[at] if texts else None
        own = len(image.data) if image is not None else len(text or "")
        is_image = image is not None
        if at > start and (is_image is not was_image or at - start >= LONGEST or size + own > LARGEST):
            yield start, at
            start, size = at, 0
        size, was_image = size + own, is_image
    yield start, len(batch)


def erased(batch: PerceptionBatch, places: Sequence[int]) -> PerceptionBatch:
    """A batch as it was decoded, with nothing left at some places, not even a source."""
    nothing = NewPerception("", 0.0, 0.0)
    columns: dict[str, list[Any]] = {name: list(getattr(batch, name)) for name in _COLUMNS}
    for name, column in columns.items():
        for at in places:
            column[at] = getattr(nothing, name)
    return PerceptionBatch(**columns)


class Encoded(Protocol):
    """A batch and, where it makes a segment of its own, the body of that."""

    @property
    def perceptions(self) -> PerceptionBatch: ...
    @property
    def body(self) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class _Joined:
    perceptions: PerceptionBatch
    body: None = None


E = TypeVar("E", bound=Encoded)


def parts(batches: Sequence[E]) -> Iterator[E | _Joined]:
    """What is written of batches: those with a body as they are, others joined."""
    small: list[PerceptionBatch] = []
    for each in batches:
        if each.body is None:
            small.append(each.perceptions)
            continue
        if small:
            yield _Joined(join(small))
            small = []
        yield each
    if small:
        yield _Joined(join(small))


def mask(batch: PerceptionBatch) -> int:
    """The modalities in a batch, a bit each."""
    if not any(batch.image) and not any(batch.telemetry):
        return BIT[Modality.TEXT]
    return sum(BIT[modality] for modality in set(batch.modalities))


def receipts(batches: Sequence[Sized], first: int, known: dict[int, int]) -> list[Receipts]:
    """The answer to each batch, of what happened to all of them."""
    made: list[Receipts] = []
    start = 0
    for batch in batches:
        stop = start + len(batch)
        old = {at - start: known[at] for at in range(start, stop) if at in known} if known else {}
        made.append(Receipts(first, len(batch), old))
        first += len(batch) - len(old)
        start = stop
    return made


def perceptions(
    batch: PerceptionBatch, first: int, places: Sequence[int], most: int | None = None
) -> Iterator[Perception]:
    """Some of a segment, at most so many, but for what was erased."""
    there = len(places) if most is None else min(most, len(places))
    for at in islice(filter(batch.source.__getitem__, places), there):
        yield Perception(
            batch.source[at],
            batch.time[at],
            batch.received[at],
            batch.text[at],
            batch.telemetry[at],
            batch.image[at],
            batch.key[at],
            batch.labels[at],
            batch.trust[at],
            perception_id(first + at),
            first + at,
        )
