"""A submind with topics of two groups, for tests of division and apoptosis."""

import numpy as np

from actors.chance import Chance
from actors.effects import Divide, Retire, Send
from actors.events import Message
from actors.growth import Pressure
from actors.handover import Goal
from actors.peers import Peer, PeerDirectory
from actors.settings import ApoptosisSettings, CognitiveSettings, DivisionSettings
from actors.submind.core import SubmindCore
from actors.submind.message_router import MessageRouter
from tests.actors.making import DIM, thought, unit

NAMES = ("own", "cold", "bank", "help")
SETTINGS = CognitiveSettings(
    division=DivisionSettings(sustained=30.0, settle=600.0, cooldown=600.0),
    apoptosis=ApoptosisSettings(idle_for=3600.0),
)


def directory():
    return PeerDirectory(
        [
            *(Peer(name, True, name, unit(700 + i)) for i, name in enumerate(NAMES)),
            Peer("text", False, "read", unit(801)),
        ]
    )


def submind(name="own", settings=SETTINGS, peers=None, goals=None):
    peers = directory() if peers is None else peers
    goals = goals or [Goal("Notice danger.", unit(900))]
    router = MessageRouter(name, DIM, settings.topics, settings.connections, peers, Chance(1, f"{name}/voice"))
    return SubmindCore(name, goals, router, settings, Chance(1, name))


def about(group: int, n: int):
    """Something of topic ``n`` of a group: topics of a group are alike, groups are not."""
    base = np.zeros(DIM, np.float32)
    base[group * 6] = 1.0
    base[group * 6 + 1 + n % 4] = 1.4
    return base / np.linalg.norm(base)


def message(group: int, n: int, sender="text", **given):
    vector = about(group, n)
    of = thought(vector=vector, associations=(f"w{group}{n % 4}",), salience=given.pop("salience", 0.9), **given)
    return Message(of, sender, f"k{group}{n % 4}", f"w{group}{n % 4}", 0.5)


def fed(core, now=0.0, n=64):
    """Tell it of both groups, in turn; when that was over."""
    for i in range(n):
        now += 1.0
        core.handle(message(i % 2, i // 2), now)
    return now


def pressed(core, now, use=0.9, seconds=60.0):
    """Overload it for a while: what it proposed, and when."""
    end = now + seconds
    while now < end:
        now += 15.0
        for effect in core.handle(Pressure(use, 0), now):
            if isinstance(effect, Divide):
                return effect, now
    return None, now


def proposed(effects):
    return [e for e in effects if isinstance(e, Divide | Retire)]


def sent(effects, kind):
    return [(e.to, e.event) for e in effects if isinstance(e, Send) and isinstance(e.event, kind)]
