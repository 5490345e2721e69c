"""Whom a thought is sent to."""

from actors.chance import Chance
from actors.effects import Send
from actors.peers import Peer, PeerDirectory
from actors.settings import ConnectionSettings, TopicSettings
from actors.submind.connection_registry import LearnedLink
from actors.submind.message_router import MessageRouter
from actors.submind.routing import LEARNED, Routing, RoutingContext
from tests.actors.making import DIM, thought, unit

PEERS = PeerDirectory(Peer(name, True, name, unit(700 + i)) for i, name in enumerate("abcdef"))
ABOUT = thought(vector=unit(1), associations=("rain",))


class Everybody:
    def choose(self, occasion: RoutingContext) -> list[LearnedLink]:
        near = occasion.peers.nearest(occasion.thought.vector, 9, occasion.exclude | {occasion.owner})
        return [LearnedLink(peer.name, 0.5, ltp=False, last_use=occasion.now) for peer in near]


def told(router: MessageRouter, exclude: frozenset[str] = frozenset(), now: float = 0.0) -> list[str]:
    return [effect.to for effect in router.speak(ABOUT, now, exclude) if isinstance(effect, Send)]


def router(routing: Routing = LEARNED, **given: float) -> MessageRouter:
    connections = ConnectionSettings(**{"explore": 0.0, **given})
    return MessageRouter("a", DIM, TopicSettings(), connections, PEERS, Chance(1, "a/voice"), routing)


def test_a_voice_speaks_to_whom_its_routing_chooses() -> None:
    it = router(Everybody())
    assert sorted(told(it, frozenset("c"))) == ["b", "d", "e", "f"]
    assert len(it.registry) == 0


def test_weak_paths_are_left_out_beside_a_strong_one_where_so_asked() -> None:
    for follow, count in ((0.0, 3), (0.5, 1)):
        it = router(follow=follow)
        topic = it.place(ABOUT.vector, ABOUT.associations, 0.0)
        for peer in "bcd":
            it.registry.open(topic.key, topic.label, peer, 0.0, "test")
        for now in range(8):
            it.registry.use(topic.key, "c", float(now))
            it.registry.credit(topic.key, "c", float(now), "built on")
        assert it.registry.peers(topic.key)[0].ltp
        chosen = told(it, now=8.0)
        assert (chosen[0], len(chosen)) == ("c", count)
