"""How a submind speaks: along the connections of a topic, strongest first, now and then to somebody new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass

import msgspec

from actors.chance import Chance
from actors.effects import Commit, Effect, Send
from actors.events import Credit, Message, Register
from actors.faculty import BuildContext
from actors.growth import Gone, Moved
from actors.handover import HandoverState
from actors.peers import Peer, PeerDirectory
from actors.settings import CognitiveSettings, ConnectionSettings, TopicSettings
from actors.submind.connection_registry import ConnectionRegistry, SavedConnections
from actors.submind.redirects import Redirect, RedirectState, RedirectTable
from actors.submind.routing import LEARNED, Routing, RoutingContext
from actors.submind.topics import SavedTopics, Topic, Topics
from environment.latest import Latest
from environment.messages import Instant, Thought, Vector
from environment.ports import WriteConnections

_ASKED = 1024
_GIVEN = 4
"""Times as many topics as it may hold are remembered that were given away."""


def message_router_of(context: BuildContext) -> MessageRouter:
    """The router of an actor that is built."""
    settings = context.section(CognitiveSettings)
    chance = Chance(context.seed, f"{context.name}/voice")
    routing = context.parts.get("routing", LEARNED)
    return MessageRouter(
        context.name, context.dim, settings.topics, settings.connections, context.peers, chance, routing
    )


@dataclass(eq=False, repr=False)
class MessageRouter:
    """Topics and registries of one submind, and what is said along them.

    ``routing`` chooses whom a thought is sent to.
    """

    _owner: str
    dim: InitVar[int]
    _topic_settings: TopicSettings
    _settings: ConnectionSettings
    _peers: PeerDirectory
    _chance: Chance
    _routing: Routing = LEARNED

    def __post_init__(self, dim: int) -> None:
        self.topics = Topics(dim, self._topic_settings)
        self.registry = ConnectionRegistry(self._owner, self._settings)
        self.given = RedirectTable(self._topic_settings.capacity * _GIVEN)
        # Not in the snapshot: what was asked before a crash may not have arrived, and asked twice it changes nothing.
        self._asked = Latest[tuple[str, str], None](_ASKED)

    def configure(self, settings: CognitiveSettings) -> None:
        """Topics and connections are judged by other settings from now on."""
        self._settings, self._topic_settings = settings.connections, settings.topics
        self.topics.configure(settings.topics)
        self.registry.configure(settings.connections)

    def place(self, vector: Vector, terms: Sequence[str], now: Instant) -> Topic:
        """The topic something belongs to, learning from it; one that was given away teaches nothing."""
        given = self.given_to(vector)
        if given is not None:
            return Topic(given.key, label=given.label)
        topic = self.topics.assign(vector, terms)
        if self.topics.merged or self.topics.dropped:
            self._follow_topics(now)
        return topic

    def speak(self, thought: Thought, now: Instant, exclude: frozenset[str] = frozenset()) -> list[Effect]:
        """Send a thought to those whom the routing chooses; each send is a use of the connection, if there is one."""
        given = self.given_to(thought.vector)
        if given is not None:  # whoever listened to this topic here listens there
            message = Message(thought, self._owner, given.key, given.label, self._settings.initial)
            return [Send(given.holder, message, thought.salience)] if given.holder not in exclude else []
        topic = self.topics.nearest(thought.vector) or self.place(thought.vector, thought.associations, now)
        occasion = RoutingContext(
            self._owner, topic, thought, now, exclude, self.registry, self._peers, self._settings, self._chance
        )
        effects: list[Effect] = []
        for link in self._routing.choose(occasion):
            self.registry.use(topic.key, link.peer, now)
            message = Message(thought, self._owner, topic.key, topic.label, link.weight)
            effects.append(Send(link.peer, message, link.weight * thought.salience))
        return effects

    def credited(self, credit: Credit, now: Instant) -> list[Effect]:
        """A thought that came of a message proved useful; of a topic that was given away, its holder is told."""
        holder = self.given.holder(credit.topic)
        if holder:
            return [Send(holder, credit)]
        self.registry.credit(credit.topic, credit.peer, now, credit.reason)
        return []

    def meet(self, author: str, thought: Thought, now: Instant) -> list[Effect]:
        """A trace of this author was useful: connect to it for its topic, and ask to be registered in return."""
        peer = self._peers.get(author)
        if peer is None or author == self._owner or self.given_to(thought.vector) is not None:
            return []
        topic = self.place(thought.vector, thought.associations, now)
        if peer.listens:
            new = self.registry.open(topic.key, topic.label, author, now, f"met through trace {thought.id}")
        else:  # it listens to nobody, but may tell
            new = (topic.key, author) not in self._asked
            self._asked[(topic.key, author)] = None
        return [Send(author, Register(self._owner, thought.vector, topic.label, thought.id))] if new else []

    def asked(self, request: Register, now: Instant) -> list[Effect]:
        """A peer asks to be told about a topic; refused for topics this submind does not have, and for strangers."""
        given = self.given_to(request.topic_vector)
        if given is not None and given.holder != request.sender:
            return [Send(given.holder, request)]
        topic = self.topics.nearest(request.topic_vector)
        known = request.sender in self._peers and request.sender != self._owner
        if topic is None or not known:
            reason = "not a topic of mine" if known else "nobody I know"
            self.registry.refuse(topic.key if topic else "", request.sender, now, reason, request.label)
        else:
            reason = f"asked, through trace {request.trace_id}"
            self.registry.open(topic.key, topic.label, request.sender, now, reason)
        return []

    def given_to(self, vector: Vector) -> Redirect | None:
        """Whose topic this belongs to, if it was given away and no topic that is left is nearer."""
        if not len(self.given):
            return None
        least = max(self._topic_settings.threshold, self.topics.nearness(vector))
        return self.given.nearest(self.topics.centred(vector), least)

    def give(self, keys: frozenset[str], to: str, now: Instant) -> None:
        """Let go of topics and their connections: they are another's from now on."""
        self.given.add((h for h in self.topics.holdings() if h.key in keys), to)
        self.topics.release(keys)
        for key in sorted(keys):
            self.registry.drop(key, now, f"the topic was given to {to}")

    def take(self, handover: HandoverState, now: Instant) -> None:
        """Take over topics and connections."""
        keys = self.topics.take(handover.topics)
        self.registry.take(handover.connections, handover.uses, keys, now, f"inherited from {handover.owner}")
        if self.topics.merged or self.topics.dropped:
            self._follow_topics(now)

    def tie(self, peer: str, most: int, now: Instant, reason: str) -> None:
        """Open a transient connection to a peer for the busiest topics."""
        for topic in sorted(self.topics.holdings(), key=lambda h: (-h.traffic, h.key))[:most]:
            self.registry.open(topic.key, topic.label, peer, now, reason)

    def moved(self, event: Moved, now: Instant) -> None:
        """What a peer had of a topic is another's: speak to that one."""
        if event.to in self._peers:
            self.registry.move(event.topic, event.peer, event.to, now, f"{event.peer} gave this to {event.to}")

    def born(self, peer: Peer) -> None:
        """There is another peer."""
        if peer.name != self._owner:
            self._peers = self._peers.adding(peer)

    def gone(self, event: Gone, now: Instant) -> None:
        """A peer has ended: its heir is spoken to instead."""
        self._peers = self._peers.without(event.name)
        self.given.gone(event.name, event.heir, self._owner)
        for topic in self.registry.topics_of(event.name):
            reason = f"{event.name} ended and left its topics to {event.heir}"
            self.registry.move(topic, event.name, event.heir or self._owner, now, reason)

    def heir(self, about: Vector) -> str:
        """The peer nearest to what a submind is about; empty where there is none."""
        near = self._peers.nearest(about, 1, frozenset({self._owner}))
        return near[0].name if near else ""

    def tend(self, now: Instant) -> None:
        """Let time pass over the registries."""
        self.registry.tend(now)

    def record(self) -> list[Effect]:
        """What changed in the registries, to be written."""
        kept, gone, changes = self.registry.drain()
        if not (kept or gone or changes):
            return []
        return [Commit(WriteConnections(self._owner, tuple(kept), tuple(gone), tuple(changes)))]

    def _follow_topics(self, now: Instant) -> None:
        for gone, kept in self.topics.merged:
            self.registry.merge(gone, kept, self.topics.label(kept), now)
        for key in self.topics.dropped:
            self.registry.drop(key, now, "its topic made room for another")
        self.topics.merged.clear()
        self.topics.dropped.clear()

    def dump(self) -> RouterState:
        """For a snapshot."""
        return RouterState(self.topics.dump(), self.registry.dump(), self._chance.drawn, self.given.dump())

    def load(self, saved: RouterState) -> None:
        """From a snapshot."""
        self.topics.load(saved.topics)
        self.registry.load(saved.registry)
        self._chance.drawn = saved.drawn
        self.given.load(saved.given, self.topics.dim)


class RouterState(msgspec.Struct):
    """A router as it is saved."""

    topics: SavedTopics
    registry: SavedConnections
    drawn: int
    given: list[RedirectState] = []
