"""What whoever answers readers thinks with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from orchestration.clock import wall
from orchestration.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from actors.answering.answer import Reply
    from actors.substrate.ports import Embedder, Substrate
    from environment.collections import Collections

_SHARES = 16
"""How often what is spent on words for who asks here goes into the mind's budget, beside which it is."""


def wording(settings: Settings) -> Callable[[str, Reply], Coroutine[Any, Any, Reply]] | None:
    """Puts what was found of a question into a model's words, and leaves it where that fails; None without a model."""
    if settings.substrate.kind == "extractive":
        return None

    @cache
    def speaker() -> Substrate:
        from actors.substrate.build import build_substrate  # noqa: PLC0415 - half a second

        return build_substrate(settings.substrate, wall, account="host/ask", shares=_SHARES)

    async def words(question: str, found: Reply) -> Reply:
        try:
            substrate = await asyncio.to_thread(speaker)
        except ValueError:  # an unfit key, of which the mind's actors tell
            return found
        from actors.answering.substrate import in_words  # noqa: PLC0415 - as above
        from actors.substrate.ports import Act, Depth, Material, Request, Role  # noqa: PLC0415

        request = Request(Act.REPLY, "host", (Material(Role.EVENT, question),), Depth.DEEP)
        told = await in_words(substrate, request, found)
        return replace(found, text=told.text, worded_by=told.model) if told.by_model else found

    return words


class LazyEmbedder:
    """An embedder of what somebody asks for, loaded on a thread when it is first needed: nobody waits for it before."""

    def __init__(self, settings: Settings, collections: Collections) -> None:
        """``collections``: those of the mind, by which the vectors are as long as there."""
        self._settings = settings
        self._collections = collections
        self._inner: Embedder | None = None
        self._loading = asyncio.Lock()

    @property
    def dim(self) -> int:
        """Components of a vector; 0 while that is not known, which the default's is before it is loaded."""
        if self._inner is not None:
            return self._inner.dim
        chosen = self._settings.substrate.embedder
        return chosen.dim if chosen.kind == "wordllama" else 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As ``Embedder.embed``, half a second later at first. Raises also ``StoreUnavailable``, ``UnusableModel``."""
        chosen = self._settings.substrate.embedder
        async with self._loading:
            if self._inner is None:
                from actors.substrate.lengths import told_apart  # noqa: PLC0415 - as below

                loaded = await asyncio.to_thread(self._load)
                self._inner, _ = await told_apart(loaded, chosen, self._collections)
        return await self._inner.embed(texts)

    def _load(self) -> Embedder:
        from actors.substrate.build import build_embedder  # noqa: PLC0415 - half a second
        from actors.substrate.embedding import WordLlamaEmbedder  # noqa: PLC0415
        from actors.substrate.errors import UnusableModel  # noqa: PLC0415

        try:
            embedder = build_embedder(self._settings.substrate, wall, account="host", shares=64)
        except ValueError as error:  # an unfit key
            raise UnusableModel(str(error)) from None
        if isinstance(embedder, WordLlamaEmbedder):
            embedder.embed_now(["a"])  # reads its table
        return embedder
