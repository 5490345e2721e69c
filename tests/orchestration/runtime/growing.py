"""A small mind that grows on command: a text that says ``divide NAME`` has NAME propose it, and so for ``retire``.

A wiring module: ``python -m tests.orchestration.runtime.growing DATA_DIR`` runs it under a real host and a real Ray.
``GROWTH`` in the environment is its section of the settings, as JSON; ``PACK``: cognitive ones to a process.
"""

import json
import os

import numpy as np

from actors.core import Description, Inward
from actors.effects import Divide, Read, Retire, Send, Settled
from actors.events import Perceived, Started, Vitals
from actors.growth import Born, Divided, Gone, GrowthRefused, Inherited, Permitted
from actors.handover import Goal, HandoverState, Holding
from actors.shell import ActorShell
from environment.messages import Modality
from orchestration.loading import load_settings
from orchestration.wiring import ActorPlan, plan_of
from tests.orchestration.runtime.tiny import in_common, live  # noqa: F401 - the wiring's
from tests.orchestration.runtime.tiny import settings as small

AXIS = np.eye(256, dtype=np.float32)
COGNITIVE = ("causes", "people")


class Ear(Inward):
    """Passes commands on."""

    name = "text"

    def __init__(self):
        self.cursor = 0

    def handle(self, event, now):
        match event:
            case Started():
                return [Read(self.cursor, 64, Modality.TEXT)]
            case Perceived(perceptions):
                new = [p for p in perceptions if p.seq > self.cursor]
                self.cursor = max([self.cursor, *(p.seq for p in new)])
                said = [p.text.split() for p in new]
                told = [Send(whom, Vitals(" ".join([verb, *more]), {})) for verb, whom, *more in said]
                return [*told, Read(self.cursor, 64, Modality.TEXT)]
        return []

    def describe(self):
        return Description("perceptual", "hear", (), {"cursor": float(self.cursor)})

    def snapshot(self):
        return json.dumps(self.cursor).encode()

    def restore(self, state):
        self.cursor = json.loads(state)


class Grower(Inward):
    """Proposes what it is told to, and counts what it hears of others."""

    def __init__(self, name):
        self.name = name
        self.asked = 0
        self.figures = {"divided": 0, "refused": 0, "born": 0, "gone": 0, "inherited": 0}
        self.share = 1.0
        self.proposal = None

    def handover(self):
        topic = Holding(f"{self.name}.k1", "pumps", AXIS[1], 9, {})
        return HandoverState(self.name, (Goal("Find out why.", AXIS[0]),), (topic,), AXIS[1], AXIS[2], 9)

    def handle(self, event, now):
        match event:
            case Vitals(command, _):
                self.asked += 1
                growth, words = f"{self.name}/{now}/{self.asked}", command.split()
                if words[0] == "divide":
                    self.proposal = Divide(growth, words[1] if words[1:] else "", self.handover(), "told to")
                    return [self.proposal]
                return [Retire(growth, words[1], self.handover(), "told to")]
            case Divided(_, child, _, share):
                self.share = share
                self.figures["divided"] += 1
                return [Settled(child)]
            case Inherited(name, _, share):
                self.share = share
                self.figures["inherited"] += 1
                return [Settled(name)]
            case GrowthRefused():
                self.figures["refused"] += 1
            case Permitted():
                return [self.proposal] if self.proposal else []
            case Born():
                self.figures["born"] += 1
            case Gone():
                self.figures["gone"] += 1
        return []

    def describe(self):
        told = {name: float(count) for name, count in self.figures.items()}
        return Description("cognitive", "grow", (), told | {"share": self.share})

    def snapshot(self):
        return b"grower"

    def restore(self, state):
        self.figures["restored"] = 1


def plan(settings, members=()):
    configured = tuple(ActorPlan(s.name, s.role, s.goals) for s in settings.mind.subminds)
    return configured + tuple(plan_of(member) for member in members if member.living)


async def build_shell(actor, settings, stores, driver, embedder, *, fence=0, seed=0):
    core = Ear() if actor.name == "text" else Grower(actor.name)
    return ActorShell(core, stores, driver, settings.shell, embedder=embedder, fence=fence)


def settings():
    subminds = [{"name": "text", "role": "perceptual", "goals": ["Hear."]}]
    subminds += [{"name": name, "goals": ["Find out why."]} for name in COGNITIVE]
    bounds = {"cooldown": 0, "births_per_hour": 50, "retirements_per_hour": 50, "ask_again": 0.2}
    flags = {"mind": {"subminds": subminds}, "growth": bounds | json.loads(os.environ.get("GROWTH", "{}"))}
    base = small()
    own = load_settings(flags={section: (section, values) for section, values in flags.items()})
    density = base.runtime.subminds_per_actor.model_copy(update={"cognitive": int(os.environ.get("PACK", "1"))})
    runtime = base.runtime.model_copy(update={"subminds_per_actor": density})
    return base.model_copy(update={"mind": own.mind, "growth": own.growth, "runtime": runtime})


if __name__ == "__main__":
    live(settings(), "tests.orchestration.runtime.growing")
