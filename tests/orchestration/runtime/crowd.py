"""Subminds that share a process: some are calm, one cannot bear what it hears, one never comes to an end with it."""

import json

from actors.core import Description, Inward
from actors.events import Reinforce

TOLD = Reinforce("nothing", "text", 0.1)
"""What they hear: any event will do."""

CALM = ("calm-1", "calm-2", "calm-3")


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
    return {"doomed": Doomed, "stuck": Stuck}.get(name, Calm)(name)
