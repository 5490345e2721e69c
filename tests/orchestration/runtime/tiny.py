"""The smallest mind worth killing: one actor that perceives, one that keeps, one that cannot bear what it hears.

A wiring module: `python -m tests.orchestration.runtime.tiny DATA_DIR` runs it under a real host and a real Ray.
"""

import json
import os
import sys
from itertools import islice
from pathlib import Path

import numpy as np

from actors.chance import Chance
from actors.core import Description, Inward
from actors.effects import Commit, Count, Read, Send, WakeAt
from actors.events import Perceived, Post, Posted, Started, Tick, Vitals
from actors.shell import ActorShell
from environment.messages import Level, Modality, PerceptionRef, Thought, ThoughtKind, Trace
from environment.ports import WriteTrace
from orchestration.loading import load_settings
from orchestration.wiring import ActorPlan

POISON = "poison"
RESEND, AT_ONCE, PENDING = 0.3, 64, 512
VECTOR = np.zeros(256, np.float32)


def thought_of(perception, now):
    ref = PerceptionRef(perception.id, perception.time, perception.source)
    return Thought(
        id=f"t-{perception.id.removeprefix('p-')}",
        author="text",
        kind=ThoughtKind.PERCEPT,
        text=perception.text,
        time=perception.time,
        at=now,
        vector=VECTOR,
        salience=0.5,
        confidence=0.5,
        trust=perception.trust,
        perceptions=(ref,),
        parents=(perception.id,),
    )


class Counter(Inward):
    """Reads every text once and posts it until the keeper has it. What it counted survives it.

    It reads no further than the keeper follows, and posts again when the keeper is silent, the oldest first: on a slow
    machine it would else say everything again and again to who cannot keep up as it is.
    """

    name = "text"

    def __init__(self):
        self.cursor = self.counted = 0
        self.pending = {}
        self.safe = (0, 0)
        self.reading = self.answered = False

    def handle(self, event, now):
        match event:
            case Started() | Tick():
                oldest = () if self.answered else tuple(islice(self.pending.values(), AT_ONCE))
                posts = [Send("environment", Post("text", oldest))] if oldest else []
                self.answered = False
                if isinstance(event, Started):
                    self.reading = False
                return [*posts, *self._read(), *([WakeAt(now + RESEND)] if self.pending else [])]
            case Perceived(perceptions):
                self.reading = False
                new = [p for p in perceptions if p.seq > self.cursor]
                self.cursor = max([self.cursor, *(p.seq for p in new)])
                self.counted += len(new)
                thoughts = tuple(thought_of(p, now) for p in new)
                self.pending |= {t.id: t for t in thoughts}
                return [
                    Send("environment", Post("text", thoughts)),
                    *(Send("doomed", Vitals("text", {})) for p in new if p.text == POISON),
                    Count("counted_total", len(new)),
                    *self._read(),
                    WakeAt(now + RESEND),
                ]
            case Posted(_, ids):
                self.answered = True
                for thought_id in ids:
                    self.pending.pop(thought_id, None)
                if not self.pending:
                    self.safe = (self.cursor, self.counted)
                return self._read()
        return []

    def _read(self):
        if self.reading or len(self.pending) >= PENDING:
            return []
        self.reading = True
        return [Read(self.cursor, 64, Modality.TEXT)]

    def describe(self):
        figures = {"cursor": float(self.cursor), "counted": float(self.counted), "pending": float(len(self.pending))}
        return Description("perceptual", "count", (), figures)

    def snapshot(self):
        return json.dumps(self.safe).encode()  # what is pending is read again

    def restore(self, state):
        self.cursor, self.counted = self.safe = tuple(json.loads(state))


class Keeper(Inward):
    """Makes traces of what is posted and says so."""

    name = "environment"

    def __init__(self):
        self.kept = 0

    def handle(self, event, now):
        if not isinstance(event, Post):
            return []
        self.kept += len(event.thoughts)
        level = Level(0.5, now, 3600.0)
        return [
            *(Commit(WriteTrace(Trace(t, 1, level, authors=(t.author,)))) for t in event.thoughts),
            Send(event.sender, Posted(event.token, tuple(t.id for t in event.thoughts))),
        ]

    def describe(self):
        return Description("environment", "keep", (), {"kept": float(self.kept)})

    def snapshot(self):
        return b""

    def restore(self, state):
        raise AssertionError


class Doomed(Keeper):
    """Dies of anything it is told."""

    name = "doomed"

    def handle(self, event, now):
        match event:
            case Vitals():
                raise RuntimeError("I cannot bear it")
        return []


CORES = {"text": Counter, "environment": Keeper, "doomed": Doomed}
ROLES = {"text": "perceptual", "environment": "environment", "doomed": "cognitive"}


def plan(settings, members=()):
    return tuple(ActorPlan(name, role, ("a goal",)) for name, role in ROLES.items())


async def in_common(settings, stores, embedder):
    return {}


async def build_shell(actor, settings, stores, driver, embedder, *, fence=0, seed=0):
    Chance(seed, actor.name)
    return ActorShell(CORES[actor.name](), stores, driver, settings.shell, embedder=embedder, fence=fence)


def settings():
    """Small and quick; the environment says where it is kept and coordinated, as it does for any mind."""
    sections = {
        "gateway": {"listen": "127.0.0.1:0", "drain": 0.05},
        "feed": {"listen": "127.0.0.1:0"},
        "shell": {"save_every": 0.2},
        "runtime": {"supervision": {"deaths": 2, "backoff": 2.0, "ping_every": 0.5}},
        "host": {"restart": 0.1},
    }
    return load_settings(flags={section: (section, values) for section, values in sections.items()})


def live(settings, wiring):
    """Be the host of a mind that lives in the directory named on the command line, and end with its exit code."""
    from orchestration.host.run import run_host

    sys.exit(run_host(settings, Path(sys.argv[1]), wiring=wiring))


if __name__ == "__main__":
    live(settings(), os.environ.get("TINY", "tests.orchestration.runtime.tiny"))
