"""A mind of real cores, of which the cognitive ones take their time, and write down what they take in.

A wiring module: ``python -m tests.orchestration.runtime.busy DATA_DIR`` runs it under a real host and a real Ray. Who
told what and who took it in stands in ``told.NAME`` and ``taken.NAME`` in the directory ``BOOK``, an id a line. So many
cognitive ones as ``PACK`` says share a process.
"""

import os
import sys
import time
from pathlib import Path

from actors.effects import Send
from actors.events import Message
from orchestration import wiring
from orchestration.loading import load_settings
from tests.orchestration.runtime.tiny import settings as small

TAKES = 0.05
"""Seconds for a message."""
in_common = wiring.in_common
plan = wiring.plan


class Unhurried:
    """A core that takes its time over messages, and the book that is kept of it."""

    def __init__(self, core, slow):
        self.core, self.name, self._slow = core, core.name, slow
        self._told = (Path(os.environ["BOOK"]) / f"told.{core.name}").open("a", buffering=1)
        self._taken = (Path(os.environ["BOOK"]) / f"taken.{core.name}").open("a", buffering=1)

    def handle(self, event, now):
        effects = self.core.handle(event, now)
        passed_on = any(getattr(effect, "metric", "") == "messages_passed_on_total" for effect in effects)
        if isinstance(event, Message) and self._slow:
            time.sleep(TAKES)
            if not passed_on:
                self._taken.write(event.thought.id + "\n")
        for effect in effects:
            if isinstance(effect, Send) and isinstance(effect.event, Message):
                self._told.write(effect.event.thought.id + "\n")
        return effects

    def __getattr__(self, name):
        return getattr(self.core, name)


async def build_shell(actor, *given, **more):
    shell = await wiring.build_shell(actor, *given, **more)
    if actor.role in {"cognitive", "perceptual"}:
        shell.core = Unhurried(shell.core, slow=actor.role == "cognitive")
    return shell


def settings():
    base = small()
    given = {
        "mind": {
            "subminds": [
                {"name": "text", "role": "perceptual", "goals": ["Hear what is said."]},
                {"name": "association", "goals": ["Connect things that different sources say."]},
            ]
        },
        "shell": {"mailbox": 64, "batch": 2, "pressure_every": 1.0, "save_every": 0.3},
        "perception": {"speak_at": 0.0},
        "submind": {
            "topics": {"merge": 1.0, "capacity": 512},
            "binding": {"per_hour": 600},
            "division": {"sustained": 3.0, "cooldown": 600.0, "answer_within": 5.0, "silhouette": 0.02},
            "apoptosis": {"idle_for": 45.0},
            "connections": {"explore": 0.0},
        },
        "growth": {"cooldown": 1.0, "births_per_hour": 1, "ask_again": 1.0},
    }
    own = load_settings(flags={section: (section, values) for section, values in given.items()})
    link = base.runtime.link.model_copy(update={"window": 16, "batch": 8})  # what has no room waits with its sender
    density = base.runtime.subminds_per_actor.model_copy(update={"cognitive": int(os.environ.get("PACK", "1"))})
    runtime = base.runtime.model_copy(update={"link": link, "subminds_per_actor": density})
    return base.model_copy(update={"runtime": runtime} | {name: getattr(own, name) for name in given})


def main():
    from orchestration.host.run import run_host

    return run_host(settings(), Path(sys.argv[1]), wiring="tests.orchestration.runtime.busy")


if __name__ == "__main__":
    sys.exit(main())
