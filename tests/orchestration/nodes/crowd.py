"""The speaking mind with some company: enough actors to spread over nodes, each of them cheap.

A wiring module: `python -m tests.orchestration.nodes.crowd DATA_DIR ADDRESS` runs it on a Ray cluster.
"""

import sys

from actors.shell import ActorShell
from orchestration.loading import load_settings
from orchestration.wiring import ActorPlan
from tests.orchestration.runtime import speaking
from tests.orchestration.runtime.tiny import Keeper, live

SITTERS = tuple(f"sitter-{n}" for n in range(3))


class Sitter(Keeper):
    """Is there."""

    def __init__(self, name):
        super().__init__()
        self.name = name


def plan(settings, members=()):
    return (*speaking.plan(settings), *(ActorPlan(name, "cognitive", ("a goal",)) for name in SITTERS))


async def build_shell(actor, settings, stores, driver, embedder, **more):
    if actor.name in speaking_names():
        return await speaking.build_shell(actor, settings, stores, driver, embedder, **more)
    return ActorShell(Sitter(actor.name), stores, driver, settings.shell, embedder=embedder, fence=more.get("fence", 0))


def speaking_names():
    return {"text", "environment", "stream"}


def settings(address):
    given = speaking.settings().model_dump(include={"stream", "gateway", "feed", "shell", "host"})
    runtime = {
        "cluster": {"address": address, "steady_after": 1, "look_every": 0.2},
        "supervision": {"ping_every": 0.5, "backoff": 0.2, "deaths": 1000, "singleton_deaths": 1000},
    }
    sections = {**given, "runtime": runtime}
    return load_settings(flags={section: (section, values) for section, values in sections.items()})


if __name__ == "__main__":
    live(settings(sys.argv[2]), "tests.orchestration.nodes.crowd")
