"""What a mind answers with: from what was perceived, by rule, and in a model's words where there is one."""

import asyncio
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace

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


@dataclass(eq=False, repr=False)
class AnsweringSubstrate:
    """A ``Substrate`` that answers ``Act.REPLY`` from an index of the perception log, and hands on all else.

    Unlike others it raises ``StoreUnavailable`` where the log cannot be read; ask again.

    ``model``: whether the substrate has better words than the rule for what was found.

    ``patience``: seconds of wall time that it has for them; None where nobody waits by the wall.
    """

    _substrate: Substrate
    _episodes: EpisodeFollower
    _now: Callable[[], Instant]
    _: KW_ONLY
    model: bool
    patience: float | None = PATIENCE

    def __post_init__(self) -> None:
        self.status = self._substrate.status
        self.close = self._substrate.close

    async def generate(self, request: Request) -> Generation:
        if request.act is not Act.REPLY:
            return await self._substrate.generate(request)
        asked, *earlier = (material.text for material in request.materials)
        reply = await self._episodes.answer(asked, earlier, self._now(), request.before)
        told = Generation(reply.text.replace("\n", " "), ExtractiveSubstrate.MODEL)
        if self.model and reply.parts:
            try:
                async with asyncio.timeout(self.patience):
                    worded = await in_words(self._substrate, request, reply)
            except TimeoutError:
                worded = replace(told, fallback=f"no words within {self.patience:g} s", cause="late")
            told = worded if worded.by_model else replace(worded, text=told.text, model=told.model)
        cited = tuple(part.perception for part in reply.parts)
        return replace(told, perceptions=cited, trust=reply.trust, confidence=reply.confidence)
