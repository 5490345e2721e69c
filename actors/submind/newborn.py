"""The first state of a child: the ordinary snapshot of a core that holds what its parent gave."""

from actors.chance import Chance
from actors.handover import HandoverState
from actors.peers import PeerDirectory
from actors.settings import CognitiveSettings
from actors.submind.core import SubmindCore
from actors.submind.message_router import MessageRouter
from environment.messages import Instant


def first_state(name: str, handover: HandoverState, settings: CognitiveSettings, now: Instant) -> bytes:
    """What a child called ``name`` is restored from in its first life; the same for the same arguments.

    Its draws of chance begin with its first life: they depend on its name, and on the seed of the mind.
    """
    chance = Chance(0, name)
    router = MessageRouter(name, len(handover.mean), settings.topics, settings.connections, PeerDirectory(), chance)
    core = SubmindCore(name, handover.goals, router, settings, chance)
    core.begin(handover, now)
    return core.snapshot()
