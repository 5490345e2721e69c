"""What a mind answers with: from what was perceived, by rule, and in a model's words where there is one."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from actors.answering.answer import Reply
from actors.answering.episodes import EpisodeFollower
from actors.submind.composing import clock_time
from actors.substrate.extractive import ExtractiveSubstrate
from actors.substrate.ports import Act, Generation, Material, Request, Role, Substrate
from environment.messages import Instant

PATIENCE = 4.0
"""Seconds that a model has to find words for somebody who waits; then the rule's do."""


async def in_words(substrate: Substrate, request: Request, reply: Reply) -> Generation:
    """What a model says of what was found; the first material of the ``request`` is the question."""
    refs = [(part.text, part.perception.source, clock_time(part.perception.time)) for part in reply.parts]
    found = tuple(Material(Role.MEMORY, *ref) for ref in refs)
    return await substrate.generate(replace(request, materials=request.materials[:1] + found))


class AnsweringSubstrate:
    """A ``Substrate`` that answers ``Act.REPLY`` from an index of the perception log, and hands on all else.

    Unlike others it raises ``StoreUnavailable`` where the log cannot be read; ask again.
    """

    def __init__(
        self,
        substrate: Substrate,
        episodes: EpisodeFollower,
        now: Callable[[], Instant],
        *,
        model: bool,
        patience: float | None = PATIENCE,
    ) -> None:
        """``model``: whether the substrate has better words than the rule for what was found.

        ``patience``: seconds of wall time that it has for them; None where nobody waits by the wall.
        """
        self._substrate = substrate
        self._episodes = episodes
        self._now = now
        self._model = model
        self._patience = patience
        self.status = substrate.status
        self.close = substrate.close

    async def generate(self, request: Request) -> Generation:
        if request.act is not Act.REPLY:
            return await self._substrate.generate(request)
        asked, *earlier = (material.text for material in request.materials)
        reply = await self._episodes.answer(asked, earlier, self._now(), request.before)
        told = Generation(reply.text.replace("\n", " "), ExtractiveSubstrate.MODEL)
        if self._model and reply.parts:
            try:
                async with asyncio.timeout(self._patience):
                    worded = await in_words(self._substrate, request, reply)
            except TimeoutError:
                worded = replace(told, fallback=f"no words within {self._patience:g} s", cause="late")
            told = replace(worded, text=told.text, model=told.model) if worded.fallback else worded
        cited = tuple(part.perception for part in reply.parts)
        return replace(told, perceptions=cited, trust=reply.trust, confidence=reply.confidence)
