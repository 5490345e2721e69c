"""Whom a thought is sent to. What is learned can be measured against what is not: a router is given its routing."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from actors.chance import Chance
from actors.peers import PeerDirectory
from actors.settings import ConnectionSettings
from actors.submind.connection_registry import ConnectionRegistry, LearnedLink
from actors.submind.topics import Topic
from environment.messages import Instant, Thought

_SEEDS = 2


@dataclass(frozen=True, slots=True)
class RoutingContext:
    """A thought that is to be told, and what its owner has to choose by."""

    owner: str
    topic: Topic
    thought: Thought
    now: Instant
    exclude: frozenset[str]
    """Who must not be told."""
    registry: ConnectionRegistry
    peers: PeerDirectory
    settings: ConnectionSettings
    chance: Chance


class Routing(Protocol):
    """A way of choosing; it keeps nothing, so that all state is the registry's."""

    def choose(self, occasion: RoutingContext) -> list[LearnedLink]:
        """Along what the thought is sent; each peer once, the owner and the excluded never."""


class LearnedRouting:
    """Along the connections of the topic: strong ones first, now and then one that has yet to prove itself."""

    def choose(self, occasion: RoutingContext) -> list[LearnedLink]:
        """Who is worth it: see ``ConnectionSettings``."""
        it, settings = occasion, occasion.settings
        links = _listeners(it)
        if not links:
            self._seed(it)
            links = _listeners(it)
        worth = [link for link in links if link.weight >= settings.follow * links[0].weight]
        chosen = worth[: settings.fan_out]
        if it.chance.uniform() < settings.explore:
            known = {link.peer for link in links}
            self._explore(it, it.exclude | known)
            new = [link for link in _listeners(it) if link.peer not in known]
            chosen = [*chosen[: settings.fan_out - len(new)], *new]
        return chosen

    def _seed(self, it: RoutingContext) -> None:
        """A new topic knows nobody: begin with those whose goals are nearest to it, one of each line of descent.

        A submind divided so that each handles part of what it heard: told to both, it would be handled twice.
        """
        for peer in it.peers.apart(it.thought.vector, _SEEDS, it.exclude | {it.owner}):
            it.registry.open(it.topic.key, it.topic.label, peer.name, it.now, "its goal is near this topic")

    def _explore(self, it: RoutingContext, exclude: Collection[str]) -> None:
        stranger = it.peers.stranger(it.chance, {*exclude, it.owner})
        if stranger is not None:
            it.registry.open(it.topic.key, it.topic.label, stranger.name, it.now, "exploring: nobody tried it before")


LEARNED = LearnedRouting()


def _listeners(it: RoutingContext) -> list[LearnedLink]:
    """Connected peers that are there, strongest first."""
    return [x for x in it.registry.peers(it.topic.key) if x.peer not in it.exclude and x.peer in it.peers]
