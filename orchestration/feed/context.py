"""What the routes of one feed share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random, SystemRandom

from environment.ports import Stores
from orchestration.access.gate import Access
from orchestration.feed.figures import FeedFigures
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.view.mind import MindView
from orchestration.view.tail import StreamTail


@dataclass
class FeedContext:
    """The parts a feed is made of, and what it is busy with."""

    view: MindView
    tail: StreamTail
    intake: Intake
    stores: Stores
    settings: FeedSettings
    figures: FeedFigures
    access: Access
    more_figures: Callable[[], Mapping[str, float]] = dict
    """Figures of the rest of the host process, for ``/metrics``."""
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stops: event streams end."""
    streams: int = 0
    """Readers of event streams."""
    age: float = 0.0
    """Seconds that connections and event streams last; 0: as long as who opened them likes."""
    chance: Random = field(default_factory=SystemRandom)

    def lasts(self) -> float | None:
        """Seconds that one of them lasts, give or take a tenth, so that not all go at once; None: without end."""
        return self.age * self.chance.uniform(0.9, 1.1) if self.age else None
