"""A follower of matters to whom lines are told, and what it has written."""

from __future__ import annotations

import numpy as np

from actors.effects import Commit, Effect, Send
from actors.events import Broadcast, Post, Posted, Salient
from actors.matters.core import MattersCore
from actors.matters.matter import LOOPS, MATTERS, Matter, OpenLoop
from actors.matters.settings import MattersSettings
from environment.messages import Thought, Trace
from tests.actors.making import DIM, entry, thought, trace, unit

NOON = 1_772_539_200.0  # 2026-03-03T12:00:00Z
HOUR = 3600.0


class World:
    """A core, and what it has written."""

    def __init__(self, **settings: object) -> None:
        self.settings = MattersSettings(**settings)
        self.matters: dict[str, Matter] = {}
        self.loops: dict[str, OpenLoop] = {}
        self.effects: list[Effect] = []
        self.answers = True
        """Whether the environment confirms what is posted."""
        self.core = self.born()

    def born(self) -> MattersCore:
        return MattersCore("matters", DIM, self.matters, self.loops, self.settings)

    def tell(self, event: object, now: float) -> list[Thought]:
        """What it posts of that."""
        self.effects = self.core.handle(event, now)
        for effect in self.effects:
            if isinstance(effect, Commit):
                document = effect.write.document
                if document.removed:
                    self.loops.pop(document.key, None)
                    self.matters.pop(document.key, None)
                elif document.collection == "matters":
                    self.matters[document.key] = MATTERS.value(document)
                else:
                    self.loops[document.key] = LOOPS.value(document)
        posts = [e.event for e in self.effects if isinstance(e, Send) and isinstance(e.event, Post)]
        said = [one for post in posts for one in post.thoughts]
        if said and self.answers:
            self.core.handle(Posted("", tuple(one.id for one in said)), now)
        return said

    def line(
        self, text: str, at: float, *terms: str, conscious: int = 0, about: int = 1, **given: object
    ) -> list[Thought]:
        """Somebody says something; it becomes conscious where it has a number."""
        made = trace(thought(text=text, time=at, associations=terms, vector=near(about), **given))
        said = self.tell(Salient((made,)), at)
        if conscious:
            self.tell(Broadcast(entry(conscious, of=made.thought), made), at)
        self.last = made
        return said

    last: Trace


def near(topic: int) -> np.ndarray:
    """About the same as others of that topic, and not the same."""
    vector = unit(topic) + 0.3 * unit(1000 + np.random.default_rng(topic).integers(1 << 30))
    return (vector / np.linalg.norm(vector)).astype(np.float32)
