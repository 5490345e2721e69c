"""What a mind answers with: from what was perceived, by rule, and in a model's words where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from actors.answering.episodes import EpisodeFollower
from actors.submind.composing import clock_time
from actors.substrate.ports import Act, Generation, Material, Request, Role, Substrate
from environment.messages import Instant

_PATIENCE = 4.0
"""Seconds that a model has to find words; then the rule's do."""


class AnsweringSubstrate:
    """A ``Substrate`` that answers ``Act.REPLY`` from an index of the perception log, and hands on all else.

    Unlike others it raises ``StoreUnavailable`` where the log cannot be read; ask again.
    """

    def __init__(
        self, substrate: Substrate, episodes: EpisodeFollower, now: Callable[[], Instant], *, model: bool
    ) -> None:
        """``model``: whether the substrate has better words than the rule for what was found."""
        self._substrate = substrate
        self._episodes = episodes
        self._now = now
        self._model = model
        self.status = substrate.status
        self.close = substrate.close

    async def generate(self, request: Request) -> Generation:
        if request.act is not Act.REPLY:
            return await self._substrate.generate(request)
        asked, *earlier = (material.text for material in request.materials)
        reply = await self._episodes.answer(asked, earlier, self._now(), request.before)
        told = Generation(reply.text.replace("\n", " "), "rule")
        if self._model and reply.parts:
            refs = [(part.text, part.perception.source, clock_time(part.perception.time)) for part in reply.parts]
            found = tuple(Material(Role.MEMORY, *ref) for ref in refs)
            try:
                async with asyncio.timeout(_PATIENCE):
                    worded = await self._substrate.generate(replace(request, materials=request.materials[:1] + found))
            except TimeoutError:
                worded = told
            told = told if worded.fallback else worded
        cited = tuple(part.perception for part in reply.parts)
        return replace(told, perceptions=cited, trust=reply.trust, confidence=reply.confidence)
