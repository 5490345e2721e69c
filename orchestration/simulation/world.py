"""The simulated world: virtual time, a network that may misbehave, actors that may crash."""

import heapq
import random
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from actors.effects import Divide, Embed, Generate, Note, Read, Retire, Settled
from actors.events import Credit, Embedded, Event, Generated, Message, Register
from actors.shell import ActorShell
from actors.substrate.lengths import told_apart
from actors.substrate.ports import Embedder, Substrate
from actors.substrate.settings import EmbedderSettings
from environment.errors import StoreUnavailable
from environment.messages import Instant, Modality, Perception
from environment.ports import Stores
from orchestration.simulation.faults import NONE, Faults

T = TypeVar("T")
Watch = Callable[[Instant, str, str, Event], None]
"""Mind time, sender, receiver and event of something that is sent."""
Veil = Callable[[str, str, Event], Event]
"""Sender, receiver and event of something that is sent; gives what arrives in its place."""
Birth = Callable[[str], Awaitable[ActorShell]]
"""Makes an actor's shell anew, its core restored from the stores by ``start``."""

Pace = Callable[[str], float]
"""Seconds of virtual time that an actor of this name takes for one event."""

_HOP = 0.001
_THINKING = 0.2
_RETRY = 1.0
_BUFFER = 8192
_STILL = 7 * 86400.0
"""Seconds of a longer stillness that are lived."""


class Growth(Protocol):
    """Who decides about the population of a world."""

    async def consider(self, owner: str, effect: Divide | Retire | Settled) -> None:
        """A proposal, or word that one is settled, has come from ``owner``."""

    async def returned(self, name: str) -> None:
        """An actor has come back from a crash."""

    def present(self, name: str) -> str:
        """Who has what somebody of this name had."""


class Prefetched:
    """An embedder that was told ahead of time: same vectors, one batch instead of many single calls."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, NDArray[np.float32]] = {}

    @property
    def dim(self) -> int:
        return self._embedder.dim

    async def tell_apart(self, settings: EmbedderSettings, stores: Stores) -> None:
        """Take the length that its vectors have in this mind (``actors/substrate/lengths.py``)."""
        self._embedder, said = await told_apart(self._embedder, settings, stores.collections)
        if said:
            await stores.commit(said, 0)

    async def prefetch(self, texts: Sequence[str]) -> None:
        """Embed what will be asked for next, and forget what was told before."""
        wanted = list(dict.fromkeys(texts))
        self._known = dict(zip(wanted, await self._embedder.embed(wanted), strict=True)) if wanted else {}

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [t for t in texts if t not in self._known]
        fresh = dict(zip(missing, await self._embedder.embed(missing), strict=True)) if missing else {}
        return np.stack([self._known[t] if t in self._known else fresh[t] for t in texts])


@dataclass(eq=False, repr=False)
class World:
    """Runs the actors of one mind in virtual time.

    Guarantee: with one seed, the same input gives the same events in the same order; nothing here reads a clock.

    ``pace``: how long actors take; without it they handle all that has come at once.

    For measurements: ``watch`` sees sends, ``veil`` hides part of them from who receives them.
    """

    _stores: Stores
    _substrate: Substrate
    _embedder: Embedder
    _birth: Birth
    seed: InitVar[int]
    faults: Faults = NONE
    pace: Pace | None = None
    _watch: Watch | None = None
    _veil: Veil | None = None

    def __post_init__(self, seed: int) -> None:
        self.now: Instant = 0.0
        self.shells: dict[str, ActorShell] = {}
        self.crashes = 0
        self.calm = not self.faults.any
        self.growth: Growth | None = None
        """Without one the population stays as it began."""
        self.tally: dict[str, float] = {}
        """Counters of actors that died, which their successors do not know."""
        self._chance = random.Random(seed)  # noqa: S311  # faults, not secrets
        self._heap: list[tuple[Instant, int, Callable[[], Awaitable[None]]]] = []
        self._number = 0
        self._arrived: dict[Modality | None, deque[Perception]] = {m: deque(maxlen=_BUFFER) for m in (None, *Modality)}
        self._arrived_seq = 0
        self._readers: dict[str, Read] = {}
        self._due: dict[str, Instant] = {}
        self._busy: dict[str, Instant] = {}

    async def begin(self, names: Sequence[str], now: Instant) -> None:
        """Give birth to every actor."""
        self.now = now
        for name in names:
            await self._be_born(name)

    async def join(self, name: str) -> None:
        """Somebody is born."""
        await self._be_born(name)

    async def leave(self, name: str, heir: str) -> bool:
        """Somebody ends and hands on what it has; False while the store refuses: then it has not ended yet."""
        shell = self.shells[name]
        try:
            await shell.bequeath(heir, self.now)
        except StoreUnavailable:
            return False
        self._bury(shell)
        del self.shells[name]
        self._due.pop(name, None)
        return True

    def later(self, seconds: float, action: Callable[[], Awaitable[None]]) -> None:
        """Have something happen."""
        self._at(self.now + seconds, action)

    async def arrive(self, perceptions: Sequence[Perception]) -> None:
        """Perceptions are in the log now: wake whoever reads it."""
        for perception in perceptions:
            for modality in (None, perception.modality):
                self._arrived[modality].append(perception)
            self._arrived_seq = max(self._arrived_seq, perception.seq)
        wanted = {None, *(p.modality for p in perceptions)}
        for name, read in self._readers.items():
            if read.modality in wanted:
                self._at(self.now, lambda name=name, read=read: self._read(name, read))  # type: ignore[misc]

    async def run_until(self, time: Instant) -> None:
        """Let everything due up to ``time`` happen."""
        while self._heap and self._heap[0][0] <= time:
            due, _, action = heapq.heappop(self._heap)
            self.now = max(self.now, due)
            await action()
        self.now = max(self.now, time)

    async def run_on(self, time: Instant) -> None:
        """``run_until``, while nothing arrives: of a long stillness only the beginning is lived.

        What was to happen in the rest of it happens once, at its end: years without a word cost no more than a week,
        and what evaporates is computed from its age anyhow.
        """
        if time - self.now > _STILL:
            await self.run_until(self.now + _STILL)
            self.now = time
        await self.run_until(time)

    # --- the driver of every shell ---

    def send(self, sender: str, to: str, event: Event, priority: float) -> None:
        if self._resident(to) in self.shells:
            if self._watch is not None:
                self._watch(self.now, sender, to, event)
            if self._veil is not None:
                event = self._veil(sender, to, event)
            self._travel(lambda: self._deliver(to, event, priority))

    def _travel(self, arrival: Callable[[], Awaitable[None]]) -> None:
        """What is on its way may be lost, doubled and late."""
        chance, faults = self._chance, self.faults
        if self.calm:
            self._at(self.now + _HOP, arrival)
            return
        copies = 0 if chance.random() < faults.loss else 2 if chance.random() < faults.doubling else 1
        for _ in range(copies):
            late = chance.random() * faults.late if chance.random() < faults.delay else 0.0
            self._at(self.now + _HOP + late, arrival)

    def _resident(self, name: str) -> str:
        """Who has the mail of a name: mail for one that ended is its heir's."""
        return name if name in self.shells or self.growth is None else self.growth.present(name)

    def generate(self, owner: str, effect: Generate | Embed) -> None:
        if not self.calm and self._chance.random() < self.faults.unanswered:
            return
        self._at(self.now + _THINKING, lambda: self._answer(owner, effect))

    def read(self, owner: str, effect: Read) -> None:
        self._readers[owner] = effect
        if self._arrived_seq > effect.after:
            self._at(self.now, lambda: self._read(owner, effect))

    def note(self, owner: str, effect: Note) -> None:
        """Log lines are for the living."""

    def propose(self, owner: str, effect: Divide | Retire | Settled) -> None:
        growth = self.growth
        if growth is not None:
            self._travel(lambda: growth.consider(owner, effect))

    # --- what the events do ---

    def _at(self, time: Instant, action: Callable[[], Awaitable[None]]) -> None:
        self._number += 1
        heapq.heappush(self._heap, (time, self._number, action))

    async def _deliver(self, to: str, event: Event, priority: float) -> None:
        shell = self.shells.get(to)
        if shell is None:  # it ended while this was on its way
            to = self._resident(to)
            shell = self.shells.get(to) if isinstance(event, Message | Credit | Register) else None
        if shell is not None:
            shell.offer(event, priority, self.now)
            self._schedule(to, self.now)

    def _schedule(self, name: str, time: Instant) -> None:
        """Have an actor step at ``time``; one step is pending at most, the earliest."""
        time = max(time, self._busy.get(name, time))
        pending = self._due.get(name)
        if pending is not None and pending <= time:
            return
        self._due[name] = time
        self._at(time, lambda: self._step(name, time))

    async def _step(self, name: str, time: Instant) -> None:
        if self._due.get(name) != time:
            return
        del self._due[name]
        shell = self.shells[name]
        handled = await self._guard(shell, shell.step(self.now))
        if self.pace is not None:
            self._busy[name] = self.now + self.pace(name) * (handled or 0)
        if self.shells.get(name) is shell:
            self._follow(shell)

    def _follow(self, shell: ActorShell) -> None:
        """See to it that what the shell still has to do will be done."""
        if shell.unfinished:
            self._schedule(shell.name, self.now + _RETRY)
        elif len(shell.mailbox):
            self._schedule(shell.name, self.now)
        elif shell.wake_at is not None:
            self._schedule(shell.name, max(shell.wake_at, self.now))

    async def _guard(self, shell: ActorShell, work: Awaitable[T]) -> T | None:
        """Do some work of an actor; the store may refuse, the actor may die of it."""
        done: T | None = None
        with suppress(StoreUnavailable):  # the step is kept; the actor may die with it
            done = await work
        if not self.calm:
            await self._wear(shell)
        return done

    async def _wear(self, shell: ActorShell) -> None:
        """Save now and then, die now and then."""
        draw, faults = self._chance.random(), self.faults
        if draw < faults.crash:
            await self._die(shell)
        elif draw < faults.crash + faults.blackout:
            for each in list(self.shells.values()):
                await self._die(each)
        elif draw < faults.crash + faults.blackout + 0.05:  # about every twentieth step
            try:
                await shell.save(self.now)
            except StoreUnavailable:
                return

    async def _die(self, shell: ActorShell) -> None:
        """Die, and come back with what was saved."""
        self.crashes += 1
        self._bury(shell)
        await self._be_born(shell.name)
        if self.growth is not None:
            await self.growth.returned(shell.name)

    def _bury(self, shell: ActorShell) -> None:
        for key, value in shell.counters.items():
            self.tally[key] = self.tally.get(key, 0.0) + value

    async def _be_born(self, name: str) -> None:
        """Start an actor, trying again while the store refuses."""
        self._due.pop(name, None)
        self._readers.pop(name, None)
        shell = await self._birth(name)
        self.shells[name] = shell
        try:
            await shell.start(self.now)
        except StoreUnavailable:
            if not shell.unfinished:
                self._at(self.now + _RETRY, lambda: self._try_birth(name))
                return
        self._follow(shell)

    async def _try_birth(self, name: str) -> None:
        if name in self.shells:  # else it has ended meanwhile
            await self._be_born(name)

    async def _answer(self, owner: str, effect: Generate | Embed) -> None:
        if isinstance(effect, Embed):
            vectors = await self._embedder.embed(effect.texts)
            await self._deliver(owner, Embedded(dict(zip(effect.texts, vectors, strict=True))), 1.0)
            return
        generation = await self._substrate.generate(effect.request)
        vector = (await self._embedder.embed([generation.text]))[0]
        await self._deliver(owner, Generated(effect.token, generation, vector), 1.0)

    async def _read(self, name: str, read: Read) -> None:
        if self._readers.get(name) is not read:  # it was answered, or its reader died meanwhile
            return
        perceptions = await self._perceptions(read)
        if not perceptions:
            return
        shell = self.shells[name]  # who reads the log is configured, and never ends
        if shell.unfinished:
            self._at(self.now + _RETRY, lambda: self._read(name, read))
            return
        del self._readers[name]
        await self._guard(shell, shell.perceive(perceptions, self.now))
        if self.shells.get(name) is shell:
            self._follow(shell)

    async def _perceptions(self, read: Read) -> list[Perception]:
        """What has arrived beyond the cursor: from memory where it reaches back far enough, else from the log."""
        recent = self._arrived[read.modality]
        if recent and recent[0].seq <= read.after + 1:
            found: list[Perception] = []
            for perception in reversed(recent):
                if perception.seq <= read.after:
                    break
                found.append(perception)
            return found[::-1][: read.limit]
        logged = await self._stores.perceptions.read(read.after, read.limit, read.modality)
        return [p for p in logged if p.seq <= self._arrived_seq]

    def figures(self) -> Mapping[str, float]:
        """All counters of all actors, dead ones included."""
        total = dict(self.tally)
        for shell in self.shells.values():
            for key, value in shell.counters.items():
                total[key] = total.get(key, 0.0) + value
        return total
