"""An actor, alive: a shell in a process of its own, its mail, its clock, its store."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol

import structlog

from actors.effects import Divide, Embed, Generate, Note, Read, Retire, Settled
from actors.events import Configured, Embedded, Event, Generated
from actors.shell import ActorShell, Driver
from actors.substrate.errors import SubstrateUnavailable
from actors.substrate.ports import Embedder, Substrate
from environment.errors import FencedOut, Outlived, StoreUnavailable
from environment.messages import Perception, SubmindState, Vector
from orchestration.backoff import backoff
from orchestration.clock import Clock, wall
from orchestration.links.control import Alive, Left
from orchestration.links.frames import Envelope
from orchestration.links.links import Links
from orchestration.runtime.settings import RuntimeSettings
from orchestration.runtime.worker.lives import InPopulation
from orchestration.runtime.worker.meter import LiveMeter
from orchestration.runtime.worker.overdue import Overdue, WatchedCore
from orchestration.runtime.worker.save_schedule import ActorHealth, SaveSchedule
from orchestration.runtime.worker.watch import LogWatch
from orchestration.settings import SettingsUpdate
from orchestration.tasks import log_failure

_log = structlog.get_logger(__name__)
_CROWDED, _RELIEVED = 0.5, 0.25
"""Load of the mailbox at which senders hold back, for there is more on its way, and at which they go on."""
_OWN_WORDS = frozenset({"event", "level", "logger", "time"})


class Ending(StrEnum):
    """How a life ended, where it did not end in an error."""

    STOPPED = "stopped"
    """It was asked to stop, and saved."""
    FENCED_OUT = "fenced out"
    """Another run of the mind has taken over."""
    OUTLIVED = "outlived"
    """A later life of this process has begun elsewhere, in the same run."""


class Birth(Protocol):
    """Makes the shell around a core, which reads what it needs of the stores. May raise ``StoreUnavailable``."""

    def __call__(self, driver: Driver) -> Awaitable[ActorShell]: ...


@dataclass(eq=False, repr=False)
class LiveActor:
    """One actor: ``live`` is its life, from birth to ``stop``.

    Guarantees: the core handles one event at a time, in the shell's order; a step that the store refuses is finished
    before anything else happens, with growing pauses, while mail waits in the bounded mailbox. An error in the core
    ends the life: the next one begins from the saved state. It is its shell's ``Driver``.

    ``apply`` has changed settings hold for the process; what the core is to be told of them.

    ``overdue`` watches the core.

    ``watch`` opens the log for one that reads it. ``meter``: another meter than one that tells of the substrate.
    Saves keep to the ``schedule``, and so do wake-ups that have leeway. ``population``: its word with the
    population; without one nobody decides on what it proposes.
    """

    _birth: Birth
    _clock: Clock
    _links: Links
    _open_watch: Callable[[], LogWatch]
    _substrate: Substrate
    _embedder: Embedder
    _settings: RuntimeSettings
    _schedule: SaveSchedule
    _chance: random.Random
    apply: Callable[[SettingsUpdate], Iterable[Configured]] = lambda _: ()
    _: KW_ONLY
    overdue: Overdue | None = None
    meter: Callable[[], LiveMeter] | None = None
    population: InPopulation | None = None

    def __post_init__(self) -> None:
        self._watch: LogWatch | None = None
        self.shell: ActorShell | None = None
        """The shell, once it is born."""
        self._bell = asyncio.Event()
        self._stopped = asyncio.Event()
        self._early: list[Envelope] = []
        self._crowded = False
        self._reader: asyncio.Task[None] | None = None
        self._found: list[Perception] = []
        self._failure: BaseException | None = None
        self._thinking: set[asyncio.Task[None]] = set()
        self._save_at: float | None = 0.0
        self._saved = 0.0
        self._refusals = 0
        self._meter = self.meter or partial(LiveMeter, self._substrate)
        self._configured: SettingsUpdate | None = None
        self._obeyed = 0
        self._population = self.population or InPopulation("", self._links)

    def deliver(self, envelopes: Sequence[Envelope]) -> bool:
        """Take mail in; whether there is room for more. Never waits; what comes before birth waits for it."""
        envelopes = [envelope for envelope in envelopes if not self._population.takes(envelope[0])]
        if self.shell is None:
            room = max(0, self._settings.link.outbox - len(self._early))
            self._early.extend(envelopes[:room])
            self._links.counters["messages_dropped_total"] += len(envelopes[room:])
            self._crowded = self._crowded or 2 * len(self._early) > self._settings.link.outbox
            return not self._crowded
        now = self._clock.now()
        for event, priority in envelopes:
            self.shell.offer(event, priority, now)
        self.shell.counters["messages_received_total"] += len(envelopes)
        self._bell.set()
        if not self._crowded and self.shell.mailbox.load > _CROWDED:
            self._crowded = True
            self.shell.hold_back(now, held=True)
        return not self._crowded

    def succeed(self, former: LiveActor) -> None:
        """Take the place of one that died: whom that had no room for is let in again once there is some."""
        self._crowded = former._crowded

    def configure(self, event: SettingsUpdate) -> None:
        """Settings were changed: the core is told before it does anything else. An older change than the last is none.

        May come before birth.
        """
        if self._configured is None or event.version > self._configured.version:
            self._configured = event
            self._bell.set()

    def health(self) -> Mapping[str, float]:
        """How it is: what waits where."""
        own = self.own_health()._asdict()
        return {"outbox": float(self._links.outboxes.waiting), **{name: float(value) for name, value in own.items()}}

    def own_health(self) -> ActorHealth:
        """How it is by itself."""
        shell = self.shell
        waiting = len(shell.mailbox) if shell else 0
        return ActorHealth(shell is not None, waiting, len(self._thinking), self._refusals, self._obeyed)

    def stop(self) -> None:
        """Ask it to finish what it began, save and end; ``live`` returns then."""
        self._stopped.set()
        self._bell.set()

    async def live(self, restarts: int = 0) -> Ending:
        """Be born, work until ``stop``. Raises what the core raises: the caller decides about another life."""
        try:
            shell = await self._born(restarts)
            if shell is not None:
                await self._work(shell)
                await self._settle(shell)
        except Outlived as error:
            _log.warning("outlived", reason=str(error))
            return Ending.OUTLIVED
        except FencedOut as error:
            _log.warning("fenced_out", reason=str(error))
            return Ending.FENCED_OUT
        finally:
            await self._release()
        return Ending.STOPPED

    # --- the life ---

    async def _born(self, restarts: int) -> ActorShell | None:
        """Read from the store what the core needs; None when stopped before that was possible."""
        while not self._stopped.is_set():
            try:
                shell = await self._birth(self)
                shell.counters["restarts_total"] = float(restarts)
                shell.meter = self._meter()
                if self.overdue is not None:
                    shell.core = WatchedCore(shell.core, self.overdue)
                await shell.start(self._clock.now())
            except StoreUnavailable as error:
                await self._refused(error)
                continue
            self._refusals = 0
            self.shell = shell
            shell.hold_back(self._clock.now(), held=self._crowded)
            self._population.say(Alive(shell.name))
            self.deliver(self._early)
            self._early.clear()
            return shell
        return None

    async def _work(self, shell: ActorShell) -> None:
        while not self._stopped.is_set():
            self._bell.clear()
            if self._failure is not None:
                raise self._failure
            try:
                await self._obey(shell)
                if self._population.heir:
                    await self._leave(shell)
                    return
                handled = await shell.step(self._clock.now())
                self._relieve(shell)
                await self._save(shell)
                handled += await self._perceive(shell)
            except StoreUnavailable as error:
                await self._refused(error)
                continue
            except SubstrateUnavailable as error:  # an embedder on a server: the perceptions wait
                await self._pause(max(error.retry_after, self._settings.store_retry))
                continue
            self._refusals = 0
            if handled:
                await asyncio.sleep(0)
            elif not len(shell.mailbox) and not self._found:
                await self._wait(shell)

    def _relieve(self, shell: ActorShell) -> None:
        """Let mail in again once there is room for it."""
        if self._crowded and shell.mailbox.load <= _RELIEVED:
            self._crowded = False
            shell.hold_back(self._clock.now(), held=False)
            self._links.relieved(shell.name)

    async def _obey(self, shell: ActorShell) -> None:
        """Hand the core what was configured last, once."""
        event = self._configured
        if event is None or event.version <= self._obeyed:
            return
        await shell.finish()  # what may raise before the core is told
        self._obeyed = event.version  # a step that the store refuses after that is kept by the shell
        await shell.configure(self.apply(event), self._clock.now())
        _log.info("configured", version=event.version)

    async def _leave(self, shell: ActorShell) -> None:
        """Hand on what came last, say so, and wait to be ended."""
        await shell.bequeath(self._population.heir, self._clock.now())
        self._population.say(Left(shell.name))
        await self._stopped.wait()

    async def _perceive(self, shell: ActorShell) -> int:
        """Hand the core what the log had for it. What it was handed once is not handed again."""
        if not self._found:
            return 0
        found = self._found
        handled = shell.counters["perceptions_processed_total"]
        self._found = []
        try:
            await shell.perceive(found, self._clock.now(), self._watch.looks if self._watch else {})
        except SubstrateUnavailable:
            if shell.counters["perceptions_processed_total"] == handled:
                self._found = found
            raise
        return len(found)

    async def _save(self, shell: ActorShell) -> None:
        """Save what changed when it is due by the schedule: all that changes until then is saved once."""
        if not shell.unsaved:
            return
        now = asyncio.get_running_loop().time()
        self._save_at = self._schedule.due(now, self._saved) if self._save_at is None else self._save_at
        if now < self._save_at:
            return
        for name, value in self._links.counters.items():
            shell.counters[name] += value
        self._links.counters.clear()
        await shell.save(wall())
        self._save_at, self._saved = None, now

    async def _wait(self, shell: ActorShell) -> None:
        """Sleep until mail, the core's wake-up or, if anything changed, the time to save."""
        delays, now = [], asyncio.get_running_loop().time()
        if shell.wake_at is not None and shell.wake_by is not None:
            at, by = self._clock.wall_delay(shell.wake_at), self._clock.wall_delay(shell.wake_by)
            delays.append(self._schedule.within(now + at, now + by) - now)
        if shell.unsaved:
            delays.append(max(0.0, (self._save_at or now) - now))
        with suppress(TimeoutError):
            async with asyncio.timeout(min(delays) if delays else None):
                await self._bell.wait()

    async def _settle(self, shell: ActorShell) -> None:
        """Finish what was begun and save, for as long as one may take."""
        deadline = asyncio.get_running_loop().time() + self._settings.supervision.settle / 2
        while True:
            try:
                await shell.finish()
                await shell.save(wall(), SubmindState.STOPPED)
            except StoreUnavailable as error:
                if asyncio.get_running_loop().time() > deadline:
                    _log.error("not_saved", reason=str(error))
                    return
                await asyncio.sleep(self._settings.store_retry)
            else:
                return

    async def _release(self) -> None:
        tasks = [*self._thinking, *([self._reader] if self._reader else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._watch is not None:
            self._watch.close()

    async def _refused(self, error: StoreUnavailable) -> None:
        settings = self._settings
        pause = backoff(self._refusals, settings.store_retry, settings.store_retry_most, self._chance)
        if self._refusals == 0:
            _log.warning("store_unavailable", reason=str(error))
        self._refusals += 1
        await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        """Sleep, unless it is time to stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()

    # --- the driver of its shell ---

    def send(self, sender: str, to: str, event: Event, priority: float) -> None:  # noqa: ARG002 - a Driver's signature
        self._links.outboxes.put(self._population.present(to), event, priority)

    def generate(self, owner: str, effect: Generate | Embed) -> None:
        if len(self._thinking) >= self._settings.generations:
            self._links.counters["limit_hits:generations"] += 1
            _log.warning("too_many_generations", limit=self._settings.generations)
            return
        task = asyncio.create_task(self._generate(effect), name=f"generate-{owner}")
        self._thinking.add(task)
        task.add_done_callback(self._thinking.discard)
        task.add_done_callback(log_failure)

    def read(self, owner: str, effect: Read) -> None:
        if self._reader is not None:
            self._reader.cancel()
        if self._watch is None:
            self._watch = self._open_watch()
        self._reader = asyncio.create_task(self._read(self._watch, effect), name=f"read-{owner}")
        self._reader.add_done_callback(self._heard)

    def note(self, owner: str, effect: Note) -> None:
        fields = {f"{key}_" if key in _OWN_WORDS else key: value for key, value in effect.fields.items()}
        level = effect.level if effect.level in {"debug", "info", "warning", "error"} else "info"
        getattr(_log, level)(effect.event, submind=owner, **fields)

    def propose(self, owner: str, effect: Divide | Retire | Settled) -> None:
        self._population.propose(owner, effect)

    async def _generate(self, effect: Generate | Embed) -> None:
        if isinstance(effect, Embed):
            answer: Event = Embedded(await self._embed(effect.texts))
        else:
            told = await self._substrate.generate(effect.request)
            answer = Generated(effect.token, told, (await self._embed([told.text]))[told.text])
        if self.shell is not None:
            self.shell.offer(answer, 1.0, self._clock.now())
            self._bell.set()

    async def _embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        attempt = 0
        while True:
            try:
                return dict(zip(texts, await self._embedder.embed(texts), strict=True))
            except SubstrateUnavailable as error:
                await asyncio.sleep(max(error.retry_after, backoff(attempt, 1.0, 60.0, self._chance)))
                attempt += 1

    def _heard(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            self._failure = task.exception()
        self._bell.set()

    async def _read(self, watch: LogWatch, effect: Read) -> None:
        self._found = await watch.next(effect.after, effect.limit, effect.modality)
