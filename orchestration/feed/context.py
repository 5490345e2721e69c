"""What the routes of one feed share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from environment.ports import Stores
from orchestration.access.gate import Access
from orchestration.feed.figures import FeedFigures
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.gateway.lifetime import Lifetimes
from orchestration.view.mind import MindView


@dataclass
class FeedContext:
    """The parts a feed is made of, and what it is busy with."""

    view: MindView
    intake: Intake
    stores: Stores
    settings: FeedSettings
    figures: FeedFigures
    access: Access
    more_figures: Callable[[], Mapping[str, float]] = dict
    """Figures of the rest of the host process, for ``/metrics``."""
    streams: int = 0
    """Readers of event streams."""
    age: float = 0.0
    """Seconds that connections and event streams last; 0: as long as who opened them likes."""
    lifetimes: Lifetimes = field(init=False)
    """Of event streams, which end when the server stops."""

    def __post_init__(self) -> None:
        self.lifetimes = Lifetimes(self.access, self.age)
