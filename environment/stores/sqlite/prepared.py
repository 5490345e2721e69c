"""Batches on their way into the perception log, also from one process into another."""

from __future__ import annotations

from environment.messages import Instant, PerceptionBatch
from environment.stores.codec import decode_perceptions, encode_perceptions
from environment.stores.segments import ALONE, cut, mask


class Prepared:
    """A batch with the places of its keys and, where it makes a segment of its own, what the row of that says.

    It travels as bytes, of which the other process makes a batch again only where it has to look into it.
    """

    __slots__ = ("_batch", "_encoded", "_whole", "count", "latest", "modalities", "places")

    def __init__(self, batch: PerceptionBatch, places: list[int]) -> None:
        """``places``: one for each perception, or none at all where no perception has a key."""
        self.places = places
        self.count = len(batch)
        self._batch: PerceptionBatch | None = batch
        self._whole = self.count >= ALONE and next(cut(batch)) == (0, self.count)
        self._encoded = encode_perceptions(batch) if self._whole else None
        self.latest: Instant = max(batch.received, default=0.0)
        """When the last of them was received."""
        self.modalities = mask(batch) if self.count else 0
        """The modalities in it, a bit each."""

    def __len__(self) -> int:
        return self.count

    @property
    def perceptions(self) -> PerceptionBatch:
        """The batch."""
        if self._batch is None:
            self._batch = decode_perceptions(self._encoded or b"")
        return self._batch

    @property
    def body(self) -> bytes | None:
        """The body of a segment of its own; None where it is joined with its neighbours, or cut."""
        return self._encoded if self._whole else None

    def __getstate__(self) -> tuple[object, ...]:
        encoded = self._encoded or encode_perceptions(self.perceptions)
        return self.places, self.count, self._whole, encoded, self.latest, self.modalities

    def __setstate__(self, state: tuple[list[int], int, bool, bytes, Instant, int]) -> None:
        self.places, self.count, self._whole, self._encoded, self.latest, self.modalities = state
        self._batch = None
