"""What happens to connections: read in pages, and followed."""

from dataclasses import dataclass

from environment.messages import ChangeKind, ConnectionChange, Instant
from environment.ports import RegistryStore
from orchestration.view.settings import ChangesSettings, TailSettings
from orchestration.view.tail import Tail


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """Which changes a reader wants. Every condition must hold; the defaults let everything through."""

    owner: str = ""
    """Of this submind's connections. Empty: of all."""
    topic: str = ""
    """The topic's key, or part of what people call it, whatever the case. Empty: any."""
    kinds: frozenset[ChangeKind] = frozenset()
    """Empty: all kinds."""
    since: Instant | None = None
    """Mind time at or after. None: any."""

    def matches(self, change: ConnectionChange) -> bool:
        """Whether the reader wants this change."""
        return (
            (not self.owner or change.owner == self.owner)
            and (not self.kinds or change.kind in self.kinds)
            and (self.since is None or change.at >= self.since)
            and (not self.topic or self.topic == change.topic or self.topic.casefold() in change.label.casefold())
        )


ANY_CHANGE = ChangeFilter()


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Some of the history."""

    changes: tuple[ConnectionChange, ...]
    """Newest first."""
    older: str
    """What to ask for next, as ``before``; empty when there is nothing older."""


async def read_page(
    registry: RegistryStore, wants: ChangeFilter, limit: int, before: str, settings: ChangesSettings
) -> ChangePage:
    """At most ``limit`` changes that are wanted, newest first, of those behind ``before`` (empty: of all).

    Looks at ``scan`` changes at most: a page may hold fewer than ``limit``, even none, and yet have an ``older``.
    Raises ``ValueError`` for a ``before`` that is no mark.
    """
    found: list[ConnectionChange] = []
    left = settings.scan
    while left > 0:
        asked = min(settings.batch, left)
        batch = await registry.history(wants.owner or None, asked, since=wants.since, before=before)
        left -= len(batch)
        for change in batch:
            before = change.mark
            if wants.matches(change):
                found.append(change)
                if len(found) == limit:
                    return ChangePage(tuple(found), before)
        if len(batch) < asked:
            return ChangePage(tuple(found), "")
    return ChangePage(tuple(found), before)


class ChangeTail(Tail[ConnectionChange, str]):
    """What happens to one mind's connections, in the order in which the store took it in; marks are the store's."""

    def __init__(self, registry: RegistryStore, settings: ChangesSettings) -> None:
        """The history is kept for a while only (``RegistryStore.written``)."""
        every = settings.every
        pace = TailSettings(fast=every, idle=every, batch=settings.batch, recent=settings.recent)
        super().__init__(registry.last_written, registry.written, "mark", pace)
