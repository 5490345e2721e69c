"""Which embedder a vector comes from: its length tells, since a mind gives no two embedders one length.

Where a model's vectors are as long as those of one before it, zeros behind them make up the difference: they change
no cosine. So whatever kept a vector knows whether it still means something by comparing its length.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from actors.substrate.ports import Embedder
from actors.substrate.settings import EmbedderSettings
from environment.collections import Collection, Collections, WriteDocument

LENGTHS = Collection("mind.embedders", int)
"""By the name of the embedder; the default is always there, and never written."""
_DEFAULT = {"wordllama": 256}


class Lengthened:
    """An embedder whose vectors are ``dim`` long, with zeros behind what the model says."""

    def __init__(self, embedder: Embedder, dim: int) -> None:
        self._embedder = embedder
        self._dim = dim

    @property
    def dim(self) -> int:
        return self._dim

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await self._embedder.embed(texts)
        return np.pad(vectors, ((0, 0), (0, self._dim - self._embedder.dim)))


def name_of(settings: EmbedderSettings) -> str:
    """What names the vectors that an embedder makes. Raises ``UnusableModel``; may read a model's file."""
    if settings.kind == "onnx":
        from actors.substrate.onnx import fingerprint  # noqa: PLC0415 - numpy and more

        return fingerprint(settings)
    return settings.kind if settings.kind in _DEFAULT else f"{settings.kind} {settings.model} {settings.dim}"


async def told_apart(
    embedder: Embedder, settings: EmbedderSettings, collections: Collections
) -> tuple[Embedder, list[WriteDocument]]:
    """The embedder with a length of its own in this mind, and what is to be written down where it is new there.

    Raises ``StoreUnavailable``.
    """
    name = name_of(settings)
    if name in _DEFAULT:
        return embedder, []
    known = _DEFAULT | await LENGTHS.all_of(collections)
    dim = known.get(name, embedder.dim)
    while name not in known and dim in known.values():
        dim += 1
    said = [] if name in known else [LENGTHS.write(name, dim)]
    return embedder if dim == embedder.dim else Lengthened(embedder, dim), said
