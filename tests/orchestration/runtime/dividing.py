"""A mind of real cores that know topics of two groups from the beginning, and divide when they are told to.

A wiring module: ``python -m tests.orchestration.runtime.dividing DATA_DIR [ADDRESS]`` runs it under a real host, on a
Ray of its own or on a cluster's. What it hears is for a submind: ``divide NAME [STAGE]``, where STAGE is when its
process ends amid that; ``tell NAME LABEL ID``, something of that topic; ``poke NAME``, to report. Who took in what
stands in ``taken.NAME`` in the directory, an id a line. Two cognitive ones share a process.
"""

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from contextlib import asynccontextmanager

import numpy as np

from actors.effects import Divide, Settled
from actors.events import Message, Started, Vitals
from actors.growth import Divided, Pressure
from actors.shell import ActorShell
from environment.messages import SubmindState
from environment.stores.sqlite import open_stores
from orchestration import wiring
from orchestration.links.control import POPULATION
from orchestration.loading import load_settings
from tests.actors.making import thought
from tests.orchestration.living import LivingMind
from tests.orchestration.runtime.growing import Ear, plan  # noqa: F401 - the wiring's
from tests.orchestration.runtime.test_population import WITHIN, Lifecycle
from tests.orchestration.runtime.tiny import live
from tests.orchestration.runtime.tiny import settings as small

PARENTS = ("ash", "elm", "fir", "yew")
GROUPS = ("warm", "cold")
STAGES = ("unproposed", "granted", "told", "unsettled")
"""Before the proposal leaves; once it is granted; when that is heard; when it is done, and nobody knows."""
TOKENS = 1_000_000.0
in_common = wiring.in_common


def labels(parent):
    return [f"{parent}-{group}{n}" for group in GROUPS for n in range(3)]


def something(label, name=""):
    """Of a topic: those of a group are alike, groups are not."""
    group, n = (GROUPS.index(label[-5:-1]), int(label[-1]))
    vector = np.zeros(256, np.float32)
    vector[8 * group], vector[8 * group + 1 + n] = 1.0, 1.4
    given = {"id": name} if name else {}
    of = thought(vector=vector / np.linalg.norm(vector), associations=(label,), salience=0.9, **given)
    return Message(of, "text", label, label, 0.5)


class Divider:
    """A submind that does as it is told, and the end of its process when that is wanted."""

    def __init__(self, core, stage, book):
        self.core, self.name, self._stage = core, core.name, stage
        self._taken = (book / f"taken.{core.name}").open("a", buffering=1)

    def handle(self, event, now):
        match event:
            case Started() if self.name in PARENTS and not self.core.topics:
                effects = self.core.handle(event, now)
                for turn in range(8):
                    for label in labels(self.name):
                        self.core.handle(something(label, f"t-{label}-{turn}"), now)
                return effects
            case Vitals(command):
                verb, *more = command.split()
                if verb == "tell":
                    return self._take(something(*more), now)
                if verb == "poke":
                    return []
                self._stage.append(more[0] if more else "")
                self.core._growing.load.pressed(1.0, now - 10.0)
                return self.core.handle(Pressure(1.0, 0), now)
            case Divided() if self._stage[-1:] == ["told"]:
                os._exit(1)
            case Message():
                return self._take(event, now)
        return self.core.handle(event, now)

    def _take(self, message, now):
        effects = self.core.handle(message, now)
        if not any(getattr(effect, "metric", "") == "messages_passed_on_total" for effect in effects):
            self._taken.write(message.thought.id + "\n")
        return effects

    def __getattr__(self, name):
        return getattr(self.core, name)


class Dying:
    """A driver whose process ends, or stands still, at a stage of a division."""

    def __init__(self, driver, stage):
        self._driver, self._stage = driver, stage

    def propose(self, owner, effect):
        at = self._stage[-1] if self._stage else ""
        if (type(effect), at) in {(Divide, "unproposed"), (Settled, "unsettled")}:
            os._exit(1)
        self._driver.propose(owner, effect)
        if isinstance(effect, Divide) and at == "granted":
            self._halt()

    def _halt(self):
        """Stand still once the proposal has left."""
        if POPULATION in self._driver._links.outboxes._by_peer:
            asyncio.get_running_loop().call_soon(self._halt)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)

    def __getattr__(self, name):
        return getattr(self._driver, name)


async def build_shell(actor, settings, stores, driver, embedder, *, fence=0, **more):
    if actor.name == "text":
        return ActorShell(Ear(), stores, driver, settings.shell, embedder=embedder, fence=fence)
    stage = []
    shell = await wiring.build_shell(actor, settings, stores, Dying(driver, stage), embedder, fence=fence, **more)
    shell.core = Divider(shell.core, stage, stores._stores._executor.path.parent)
    return shell


def settings(address=""):
    base = small()
    subminds = [{"name": "text", "role": "perceptual", "goals": ["Hear."]}]
    subminds += [{"name": name, "goals": ["Know the weather."]} for name in PARENTS]
    calm = {"ping_every": 0.5, "backoff": 0.2, "deaths": 1000}
    cluster = {"address": address, "steady_after": 1, "look_every": 0.2} if address else {}
    given = {
        "mind": {"subminds": subminds},
        "submind": {"division": {"sustained": 1.0, "answer_within": 2.0}, "apoptosis": {"idle_for": 86400.0}},
        "growth": {"births_per_hour": 50, "cooldown": 0.0, "settle": 0.0, "ask_again": 0.2},
        "runtime": {"subminds_per_actor": {"cognitive": 2}, "supervision": calm, "cluster": cluster},
        "substrate": {
            "kind": "openai",
            "server": {"base_url": "http://127.0.0.1:9/v1"},
            "fast": {"name": "nobody"},
            "budget": {"tokens_per_hour": TOKENS, "tokens_per_day": TOKENS},
        },
    }
    own = load_settings(flags={section: (section, values) for section, values in given.items()})
    return base.model_copy(update={name: getattr(own, name) for name in given})


@asynccontextmanager
async def dividing(directory, *address):
    command = [sys.executable, "-m", "tests.orchestration.runtime.dividing"]
    mind = LivingMind(directory / "mind", lambda data_dir: [*command, str(data_dir), *address])
    stores = None
    try:
        await asyncio.to_thread(mind.start, running=False)
        await asyncio.to_thread(mind.running, seconds=WITHIN)
        stores = await open_stores(mind.data_dir, "mind")
        yield Dividing(mind, stores)
    finally:
        await asyncio.to_thread(mind.end)
        if stores is not None:
            await stores.close()


class Dividing(Lifecycle):
    """The mind, its stores, and the book that is kept beside them."""

    def __init__(self, mind, stores):
        super().__init__(mind, stores)
        self._told = 0

    async def child(self, parent):
        """Who was born of a parent; empty as long as nobody was."""
        born = [event.other for event in await self.events("divided") if event.submind == parent]
        assert len(born) <= 1
        return born[0] if born else ""

    async def apart(self):
        """What is not as it should be: everybody lives and is settled, each topic has one holder, shares add up."""
        living = await self.members()
        if living is None:
            return "somebody has yet to let go"
        reports = {name: r for name, r in (await self.reports(SubmindState.RUNNING)).items() if name != "text"}
        if set(reports) != {*PARENTS, *living}:
            return f"{sorted(reports)} run"
        held = Counter(label for report in reports.values() for label in report.topics)
        if held != Counter(label for parent in PARENTS for label in labels(parent)):
            return f"held: { ({name: r.topics for name, r in reports.items()}) }"
        shares = {name: report.metrics["share"] for name, report in reports.items()}
        left = {name: r.metrics.get("budget_left_of_all", TOKENS) for name, r in reports.items()}
        if sum(shares.values()) != len(PARENTS) or set(left.values()) != {TOKENS}:
            return f"shares {shares}, budgets {left}"
        return ""

    async def right(self):
        """Wait until nothing is amiss, and see that each of those who live works for its own topics."""
        until, wrong = time.monotonic() + WITHIN, "nothing was looked at"
        while wrong:
            assert time.monotonic() < until, wrong
            await self.say(*(f"poke {name}" for name in await self.reports() if name != "text"))
            for _ in range(10):
                await asyncio.sleep(0.1)
                if not (wrong := await self.apart()):
                    break
        told = {}
        for parent in PARENTS:
            for label in labels(parent):
                self._told += 1
                told[f"m-{self._told}"] = label
                await self.say(f"tell {parent} {label} m-{self._told}")
        await self._until(lambda: set(told) <= set(self._taken()))
        assert not [name for name in told if len(self._taken()[name]) > 1], "twice"
        topics = {name: report.topics for name, report in (await self.reports()).items()}
        assert not [(name, label) for name, label in told.items() if label not in topics[self._taken()[name][0]]]

    async def _until(self, what):
        until = time.monotonic() + WITHIN
        while not what():
            assert time.monotonic() < until, self._taken()
            await asyncio.sleep(0.05)

    def _taken(self):
        """Who took in what."""
        found = {}
        for path in self.mind.data_dir.glob("taken.*"):
            for name in path.read_text("ascii").split():
                found.setdefault(name, []).append(path.name.partition(".")[2])
        return found


if __name__ == "__main__":
    live(settings(*sys.argv[2:]), "tests.orchestration.runtime.dividing")
