"""What machines ask a front: is it alive, is it ready, what are its figures."""

from collections.abc import Callable, Mapping

from fastapi import APIRouter

from environment.errors import SubliminalError
from orchestration.feed.context import FeedContext
from orchestration.feed.figures import Rendering
from orchestration.feed.probes import Readiness, probing
from orchestration.view.status import MindState

PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


def front_probes(no_leader: Callable[[], str]) -> Callable[[FeedContext], APIRouter]:
    """What machines ask a front. ``no_leader``: why no leader takes anything in, if so."""

    def probes(feed: FeedContext) -> APIRouter:
        async def ready() -> Readiness:
            """Ready: the stores can be read. Whether anybody leads is told and does not count.

            A front without a leader has callers wait, and says when to come back; nobody would, were it taken out of
            service.
            """
            found = Readiness(ready=True)
            try:
                status = await feed.view.status()
                found.state, found.reasons = status.state.value, list(status.reasons)
                await feed.stores.perceptions.head()
            except SubliminalError as error:
                found.state, found.ready = MindState.DOWN.value, False
                found.reasons.insert(0, f"the store cannot be read: {error}")
            if why := no_leader():
                found.reasons.insert(0, f"no leader takes perceptions in: {why}")
            return found

        async def shown(more: Mapping[str, float]) -> Rendering:
            """Prometheus figures of this process. Those of the mind are its host's to show: fronts are many."""
            return feed.figures.show_own(more, feed.intake.now())

        return probing(feed, ready, shown)

    return probes
