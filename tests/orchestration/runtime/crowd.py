"""A mind whose subminds share a process: some are calm, one cannot bear what it hears, one never comes to an end.

A wiring module, as ``tiny`` is. ``tell NAME`` is passed on to the submind called so.
"""

import json

from actors.core import Description, Inward
from actors.effects import Send
from actors.events import Perceived, Reinforce
from actors.shell import ActorShell
from orchestration.wiring import ActorPlan
from tests.orchestration.runtime.tiny import Counter, Keeper

TOLD = Reinforce("nothing", "text", 0.1)
"""What is passed on: any event will do."""

CALM = ("calm-1", "calm-2", "calm-3")


class Teller(Counter):
    """Counts, and passes on what is for somebody."""

    def handle(self, event, now):
        effects = super().handle(event, now)
        told = event.perceptions if isinstance(event, Perceived) else ()
        names = [p.text.split()[1] for p in told if p.text.startswith("tell ")]
        return [*effects, *(Send(name, TOLD) for name in names)]


class Calm(Inward):
    """Counts what it is told. What it counted survives it."""

    def __init__(self, name):
        self.name = name
        self.heard = 0

    def handle(self, event, now):
        if event == TOLD:
            self.hear()
        return []

    def hear(self):
        self.heard += 1

    def describe(self):
        return Description("cognitive", "be calm", (), {"heard": float(self.heard)})

    def snapshot(self):
        return json.dumps(self.heard).encode()

    def restore(self, state):
        self.heard = json.loads(state)


class Doomed(Calm):
    """Dies of what it is told."""

    def hear(self):
        raise RuntimeError("I cannot bear it")


class Stuck(Calm):
    """Never comes to an end with what it is told."""

    def hear(self):
        while True:
            pass


def core_of(name):
    match name:
        case "text":
            return Teller()
        case "environment":
            return Keeper()
        case "doomed":
            return Doomed(name)
        case "stuck":
            return Stuck(name)
    return Calm(name)


def plan(settings, members=()):
    alone = (ActorPlan("text", "perceptual", ("count",)), ActorPlan("environment", "environment", ("keep",)))
    return alone + tuple(ActorPlan(name, "cognitive", ("be",)) for name in (*CALM, "doomed", "stuck"))


async def in_common(settings, stores, embedder):
    return {"shared": object()}


async def build_shell(actor, settings, stores, driver, embedder, *, fence=0, seed=0, shared=None):
    assert (shared is not None) == (actor.role == "cognitive")
    return ActorShell(core_of(actor.name), stores, driver, settings.shell, embedder=embedder, fence=fence)
