"""Everything that could exceed the bounds of growth at once: none of it does.

Several processes decide through stores of their own on the same files, all at the same time, while operators freeze,
thaw, approve and reject, clocks stand still and jump, and processes die and begin anew. What came of it is judged by
the log alone, by checks that share no code with the policy. ``SUBMIND_GROWTH_EXAMPLES`` asks for more of it.
"""

import asyncio
import os
import random
import shutil
from collections import Counter
from itertools import pairwise

from environment.population import GrowthKind, read_growth, read_members
from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.growth.errors import GrowthError
from orchestration.growth.log import GrowthLog
from orchestration.growth.proposals import GrowthAct, GrowthProposal
from orchestration.growth.settings import Approval, GrowthSettings

NOON = 1_772_539_200.0
CONFIGURED = {"text": "perceptual", "causes": "cognitive", "people": "cognitive", "things": "cognitive"}
COGNITIVE = ("causes", "people", "things")
PROCESSES = 3
EXAMPLES = int(os.environ.get("SUBMIND_GROWTH_EXAMPLES", "25"))

WISHES = ["divide"] * 6 + ["retire"] * 4 + ["replay", "forge"]
ORDERS = ["freeze"] + ["thaw"] * 4 + ["approve"] * 7 + ["reject"]
JUMPS = [0.0, 1.0, 400.0, 2000.0, 3700.0, 3700.0, 90_000.0, -25.0]
BACK = [*JUMPS, -5000.0, -90_000.0]
"""With clocks that were wrong: what these dated counts anew, so the log does not tell the bounds that are times."""


def some_bounds(chance):
    return GrowthSettings(
        ceiling=chance.randint(3, 9),
        births_per_hour=chance.randint(1, 4),
        retirements_per_hour=chance.randint(1, 3),
        generations=chance.randint(1, 3),
        least_share=chance.choice([0.125, 0.25, 0.5]),
        cooldown=chance.choice([0.0, 0.0, 300.0, 1800.0]),
        settle=chance.choice([0.0, 60.0, 3600.0]),
        approval=chance.choice(list(Approval)),
        approval_holds=chance.choice([60.0, 7200.0]),
    )


def some_steps(chance, jumps):
    for _ in range(20):
        yield "clock", chance.choice(jumps)
        if chance.random() < 0.15:
            yield "restart", chance.randrange(PROCESSES)
        kinds = chance.choices([WISHES, ORDERS], [3, 1], k=chance.randint(1, 8))
        yield "at once", [(chance.choice(kind), chance.randrange(1000), chance.randrange(1000)) for kind in kinds]


class World:
    """Processes that decide, each with its own opening of the same files."""

    def __init__(self, directory, bounds):
        self.directory, self.bounds, self.now = directory, bounds, NOON
        self.logs, self.opened, self.made = [None] * PROCESSES, [None] * PROCESSES, []
        self.names = [*CONFIGURED, "nobody"]
        self.born = []

    async def begin(self, process):
        if self.opened[process] is not None:
            await self.opened[process].close()
        stores = await open_stores(self.directory, "alpha", synchronous="OFF", busy_timeout=60.0)
        self.opened[process] = stores
        self.logs[process] = GrowthLog(stores, self.bounds, CONFIGURED, lambda: self.now)

    def name(self, number):
        """Mostly of somebody who might."""
        names = self.names if number % 10 == 0 else [*COGNITIVE, *self.born]
        return names[number % len(names)]

    def number(self, log, one, other):
        """Of something that waits, as this process knows it; sometimes any number."""
        waiting = sorted(log.policy.waiting)
        return waiting[one % len(waiting)] if waiting and other % 5 else other

    async def do(self, number, step):
        what, one, other = step
        log = self.logs[number % PROCESSES]
        proposal = None
        match what:
            case "divide":
                growth = f"{one}/{len(self.made)}"
                proposal = GrowthProposal(GrowthAct.DIVIDE, self.name(one), growth, goals=("Look.",), topics=("t",))
            case "retire":
                gone = self.born[one % len(self.born)] if self.born else self.name(one)
                proposal = GrowthProposal(GrowthAct.RETIRE, gone, f"{one}/{len(self.made)}", heir=self.name(other))
            case "replay" if self.made:
                proposal = self.made[one % len(self.made)]
            case "forge" if self.made:  # the word of another's proposal
                proposal = self.made[one % len(self.made)]
                proposal = GrowthProposal(
                    proposal.act, self.name(other), proposal.growth, ("Look.",), ("t",), heir="causes"
                )
        if proposal is not None:
            self.made.append(proposal)
            await log.consider(proposal, lambda member: [WriteState(member.name, member.growth.encode())])
            return
        try:
            match what:
                case "freeze":
                    await log.freeze("ann", "")
                case "thaw":
                    await log.thaw("ann", "")
                case "approve":
                    await log.approve(self.number(log, one, other), "ann")
                case "reject":
                    await log.reject(self.number(log, one, other), "ann")
        except GrowthError:
            pass  # an operator who is told so

    async def run(self, steps):
        for process in range(PROCESSES):
            await self.begin(process)
        try:
            for kind, given_ in steps:
                if kind == "clock":
                    self.now += given_
                elif kind == "restart":
                    await self.begin(given_)
                else:
                    await asyncio.gather(*(self.do(n, step) for n, step in enumerate(given_)))
                    members = await read_members(self.opened[0].collections)
                    self.names = [*CONFIGURED, "nobody", *(m.name for m in members)]
                    self.born = [m.name for m in members if m.living]
            return (
                await read_growth(self.opened[0].collections, 0, 10_000),
                await read_members(self.opened[0].collections),
                {name: await self.opened[0].registry.state(name) for name in self.names},
            )
        finally:
            for stores in self.opened:
                await stores.close()


class Judge:
    """What was promised, by the log alone."""

    def __init__(self, bounds, *, timed):
        self.bounds, self.timed = bounds, timed
        self.living, self.parents = set(CONFIGURED), {}
        self.shares = dict.fromkeys(CONFIGURED, 1.0)
        self.depth = dict.fromkeys(CONFIGURED, 0)
        self.frozen, self.proposed, self.approved, self.acted = False, {}, {}, {}
        self.births, self.retirements, self.granted = [], [], set()

    def take(self, event):
        match event.kind:
            case GrowthKind.FROZEN | GrowthKind.THAWED:
                assert self.frozen != (event.kind is GrowthKind.FROZEN)
                self.frozen = event.kind is GrowthKind.FROZEN
            case GrowthKind.PROPOSED:
                self.proposed[event.seq] = event
            case GrowthKind.REJECTED:
                assert self.proposed.pop(event.proposal).submind == event.submind
            case GrowthKind.APPROVED:
                assert not self.frozen
                assert self.proposed.pop(event.proposal).submind == event.submind
                self.approved[event.proposal] = event
            case GrowthKind.DIVIDED:
                self.granting(event)
                self.born(event)
            case GrowthKind.RETIRED:
                self.granting(event)
                self.ended(event)

    def granting(self, event):
        assert not self.frozen
        assert {event.submind} <= self.living
        assert (event.submind, event.growth) not in self.granted
        self.granted.add((event.submind, event.growth))
        wanted = self.bounds.approval
        if wanted is Approval.ALL or (wanted is Approval.DIVISIONS and event.kind is GrowthKind.DIVIDED):
            permit = self.approved.pop(event.proposal)
            assert (permit.submind, permit.act) == (event.submind, event.act)
            assert event.at < permit.at + self.bounds.approval_holds or not self.timed
        if not self.timed:
            return
        before, last = self.acted.get(event.submind, (-1e9, None))
        again = event.kind is last is GrowthKind.DIVIDED
        settle = min(self.bounds.settle, self.bounds.cooldown)
        assert event.at >= before + (settle if again else self.bounds.cooldown)
        self.acted |= {event.submind: (event.at, event.kind), event.other: (event.at, event.kind)}

    def born(self, event):
        child, parent = event.other, event.submind
        assert child not in self.shares  # nobody ever had this name
        self.shares[parent] /= 2
        self.shares[child] = self.shares[parent]
        self.depth[child] = self.depth[parent] + 1
        self.living.add(child)
        self.births.append(event.at)
        assert len(self.living) <= max(self.bounds.ceiling, len(CONFIGURED))
        assert self.depth[child] <= self.bounds.generations
        assert self.shares[child] >= self.bounds.least_share
        assert sum(self.shares.values()) <= len(CONFIGURED) + 1e-9

    def ended(self, event):
        gone, heir = event.submind, event.other
        assert gone not in CONFIGURED
        assert heir in self.living - {gone}
        self.living.remove(gone)
        self.shares[heir] += self.shares[gone]
        self.shares[gone] = 0.0
        assert sum(self.shares.values()) == len(CONFIGURED)  # powers of two: nothing is rounded
        self.retirements.append(event.at)

    def close(self, members, states):
        for times, most in (
            (self.births, self.bounds.births_per_hour),
            (self.retirements, self.bounds.retirements_per_hour),
        ):
            for at in times:
                assert sum(at <= other < at + 3600 for other in times) <= most or not self.timed
        assert {m.name for m in members if m.living} == self.living - set(CONFIGURED)
        assert {m.name for m in members} == set(self.depth) - set(CONFIGURED)
        # One commit: who was born has a first state, and nobody else has any.
        assert {name for name, state in states.items() if state} == {m.name for m in members}


def test_no_path_leads_beyond_the_bounds(tmp_path):
    seen: Counter = Counter()
    for seed in range(EXAMPLES):
        chance = random.Random(seed)
        timed = seed % 2 == 0
        bounds, steps = some_bounds(chance), list(some_steps(chance, JUMPS if timed else BACK))
        directory = tmp_path / str(seed)
        events, members, states = asyncio.run(World(directory, bounds).run(steps))
        assert [event.seq for event in events] == list(range(1, len(events) + 1)), seed
        assert all(earlier.at <= later.at for earlier, later in pairwise(events)) or not timed, seed
        judge = Judge(bounds, timed=timed)
        for event in events:
            judge.take(event)
        judge.close(members, states)
        seen.update(event.kind for event in events)
        shutil.rmtree(directory)
    assert set(seen) == set(GrowthKind), seen  # or this proves little
    assert min(seen[GrowthKind.DIVIDED], seen[GrowthKind.RETIRED]) >= EXAMPLES, seen
