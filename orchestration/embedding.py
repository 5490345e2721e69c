"""The embedder of whoever answers readers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestration.clock import wall
from orchestration.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from actors.substrate.ports import Embedder


class LazyEmbedder:
    """An embedder that is loaded when it is first needed, on a thread, so that nobody waits for it before."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._inner: Embedder | None = None
        self._loading = asyncio.Lock()

    @property
    def dim(self) -> int:
        """Components of a vector; known before it is loaded."""
        return self._settings.substrate.embedder.dim

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As ``Embedder.embed``; the first call takes half a second longer."""
        async with self._loading:
            if self._inner is None:
                self._inner = await asyncio.to_thread(self._load)
        return await self._inner.embed(texts)

    def _load(self) -> Embedder:
        from actors.substrate.build import build_embedder  # noqa: PLC0415 - half a second
        from actors.substrate.embedding import WordLlamaEmbedder  # noqa: PLC0415

        embedder = build_embedder(self._settings.substrate, wall, account="host", shares=64)
        if isinstance(embedder, WordLlamaEmbedder):
            embedder.embed_now(["a"])  # reads its table
        return embedder
