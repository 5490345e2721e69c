"""What may be spent on thinking: a pure ledger over time, and the account that keeps it across restarts.

How a mind's processes share one budget: on one machine they draw on one ledger, in turns. On several the wiring divides
it, and each actor process spends its own share from its own ledger: the total cannot be exceeded whatever the processes
do, without any of them asking another; what one leaves unspent is not spent by the others.

How one ledger cannot be exceeded: the most a request can cost is held *before* it is sent, and saved; what it did not
use is given back after the answer. A crash in between leaves the hold standing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import InitVar, dataclass, field
from typing import Protocol, TypeAlias

from actors.substrate.errors import BudgetSpent
from actors.substrate.settings import BudgetSettings
from environment.clocks import was_wrong
from environment.errors import SubliminalError
from environment.messages import Instant

HOUR = 3600.0
DAY = 86400.0
_BUCKETS = 60


@dataclass(frozen=True, slots=True)
class Limits:
    """The share of a budget that one ledger watches over; None is no limit."""

    tokens_per_hour: float | None = None
    tokens_per_day: float | None = None
    cost_per_day: float | None = None

    @staticmethod
    def share(settings: BudgetSettings, shares: float) -> Limits:
        """As much as goes ``shares`` times into ``settings``."""
        if shares < 1:
            raise ValueError(f"a budget is divided into at least 1 share, not {shares:g}")
        whole = (settings.tokens_per_hour, settings.tokens_per_day, settings.cost_per_day)
        return Limits(*(None if part is None else part / shares for part in whole))

    def bounds(self) -> tuple[float | None, float | None, float | None]:
        """Of each of a ledger's windows."""
        return self.tokens_per_hour, self.tokens_per_day, self.cost_per_day


class Window:
    """A sum over the last ``span`` seconds, in buckets of a sixtieth of it.

    Guarantee: an amount counts for at least ``span`` seconds, so no interval that long holds more than
    ``limit``.
    """

    def __init__(self, span: float, limit: float | None) -> None:
        self.span = span
        self.limit = limit
        self._width = span / _BUCKETS
        self._buckets: dict[int, float] = {}

    def bucket(self, now: Instant) -> int:
        """The bucket that an amount spent now belongs to."""
        return int(now // self._width)

    def spent(self, now: Instant) -> float:
        """What counts now."""
        for old in [b for b in self._buckets if (b + 1) * self._width + self.span <= now]:
            del self._buckets[old]
        return max(0.0, sum(self._buckets.values()))

    def wait(self, amount: float, now: Instant) -> float:
        """Seconds until there is room for ``amount``: 0 when there is now, the whole span when there never is."""
        if self.limit is None:
            return 0.0
        excess = self.spent(now) + amount - self.limit
        if excess <= 0:
            return 0.0
        for bucket in sorted(self._buckets):
            excess -= self._buckets[bucket]
            if excess <= 0:
                return max(0.0, (bucket + 1) * self._width + self.span - now)
        return self.span

    def add(self, bucket: int, amount: float) -> None:
        """Count ``amount`` in ``bucket``; a negative one is given back, where the bucket still counts."""
        if amount >= 0 or bucket in self._buckets:
            self._buckets[bucket] = max(0.0, self._buckets.get(bucket, 0.0) + amount)

    def set_back(self, seconds: float) -> None:
        """The clock was set back: what was spent so many seconds ahead counts from now on, no shorter than it would."""
        self._buckets = {bucket - int(seconds // self._width): amount for bucket, amount in self._buckets.items()}

    def merge(self, other: Window, but: Mapping[str, float]) -> None:
        """What counts there counts here as well, without what ``but`` says of it."""
        for bucket, amount in other._buckets.items():
            more = max(0.0, amount - float(but.get(str(bucket), 0.0)))
            self._buckets[bucket] = self._buckets.get(bucket, 0.0) + more

    def dump(self) -> dict[str, float]:
        """The buckets, for saving."""
        return {str(bucket): amount for bucket, amount in self._buckets.items()}

    def load(self, buckets: dict[str, float]) -> None:
        """Put back what ``dump`` gave."""
        self._buckets = {int(bucket): max(0.0, float(amount)) for bucket, amount in buckets.items()}


@dataclass(frozen=True, slots=True)
class Hold:
    """What was set aside for one request."""

    tokens: float
    cost: float
    buckets: tuple[int, int, int]


@dataclass(slots=True)
class Ledger:
    """Three windows: tokens an hour, tokens a day, cost a day. Pure: every method is told the time.

    Time that runs backwards stands still here; where the clock was set back, what was spent is as old as it was.
    """

    limits: Limits
    _latest: Instant = 0.0
    _windows: tuple[Window, Window, Window] = field(init=False)
    _took: dict[str, Instant] = field(default_factory=dict)
    """Ledgers that this one has taken over, and when."""
    _copied: tuple[str, list[dict[str, float]]] | None = None
    """Whose ledger this one began as a copy of, and what that had spent then."""

    def __post_init__(self) -> None:
        self._windows = (
            Window(HOUR, self.limits.tokens_per_hour),
            Window(DAY, self.limits.tokens_per_day),
            Window(DAY, self.limits.cost_per_day),
        )

    def limit(self, limits: Limits) -> None:
        """From now on these are the limits; what was spent still counts."""
        self.limits = limits
        for window, bound in zip(self._windows, limits.bounds(), strict=True):
            window.limit = bound

    def hold(self, tokens: float, cost: float, now: Instant) -> Hold:
        """Set aside the most a request can use. Raises ``BudgetSpent``, nothing set aside, where there is no room."""
        now = self._forward(now)
        names = ("tokens an hour", "tokens a day", "cost a day")
        for window, name, amount in zip(self._windows, names, (tokens, tokens, cost), strict=True):
            if wait := window.wait(amount, now):
                raise BudgetSpent(f"budget spent: {window.limit:g} {name}", wait)
        hold = Hold(tokens, cost, (self._at(0, now), self._at(1, now), self._at(2, now)))
        self._add(hold, tokens, cost)
        return hold

    def settle(self, hold: Hold, tokens: float, cost: float) -> None:
        """Replace what was held by what was used. Never called, the hold stands: nothing is given back by mistake."""
        self._add(hold, tokens - hold.tokens, cost - hold.cost)

    def left(self, now: Instant) -> dict[str, float]:
        """What remains, by limit; limits that are not set are not there."""
        now = self._forward(now)
        names = ("tokens_left_hour", "tokens_left_day", "cost_left_day")
        return {
            name: max(0.0, window.limit - window.spent(now))
            for name, window in zip(names, self._windows, strict=True)
            if window.limit is not None
        }

    def absorb(self, name: str, state: bytes | None, now: Instant, own: str = "") -> None:
        """What the ledger called ``name`` has spent is spent here as well; once, however often it is said.

        ``state``: its snapshot; None where it never spent anything. What it had taken over is taken over by that. What
        it began with as a copy is not, where it was the copy of this one (called ``own``) or of one that this has
        taken over: that is here already.
        """
        now = self._forward(now)
        if not self._first(name, now) or state is None:
            return
        other = Ledger(self.limits)
        other.restore(state)
        other._forward(now)
        of, before = other._copied or ("", [])
        known = before if of and (of == own or of in self._took) else [{}, {}, {}]
        for mine, theirs, copied in zip(self._windows, other._windows, known, strict=True):
            mine.merge(theirs, copied)
        self._took = other._took | self._took

    def take(self, key: str, state: bytes | None, part: Limits, rest: Limits, now: Instant) -> None:
        """A ``part`` of another ledger's limits is this one's from now on, it keeps the ``rest``; once for a ``key``.

        ``state``: the other's, as it was after it was told. What it had spent beyond its rest it had spent of the part.
        """
        now = self._forward(now)
        if not self._first(key, now) or state is None:
            return
        other = Ledger(rest)
        other.restore(state)
        for mine, theirs, bound in zip(self._windows, other._windows, part.bounds(), strict=True):
            if bound is not None and theirs.limit is not None:
                spent = min(bound, theirs.spent(now) - theirs.limit)
                mine.add(mine.bucket(now), max(0.0, spent))

    def _first(self, name: str, now: Instant) -> bool:
        """Whether that was not taken over yet; it is from now on."""
        if name in self._took:
            return False
        self._took = {one: at for one, at in self._took.items() if at + 2 * DAY > now} | {name: now}
        return True

    def snapshot(self) -> bytes:
        """The state as JSON, to be given to ``restore``. Limits are not in it: they come from the configuration."""
        windows = [w.dump() for w in self._windows]
        saved = {"latest": self._latest, "windows": windows, "took": self._took}
        return json.dumps(saved | ({"copied": self._copied} if self._copied else {})).encode()

    def restore(self, state: bytes) -> None:
        """Take up a state. Raises ``ValueError`` when it is none."""
        try:
            saved = json.loads(state)
            for window, buckets in zip(self._windows, saved["windows"], strict=True):
                window.load(buckets)
            self._latest = float(saved["latest"])
            self._took = {str(name): float(at) for name, at in saved.get("took", {}).items()}
            self._copied = (str(saved["copied"][0]), list(saved["copied"][1])) if "copied" in saved else None
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a ledger's state: {error!r}") from error

    def _at(self, window: int, now: Instant) -> int:
        return self._windows[window].bucket(now)

    def _add(self, hold: Hold, tokens: float, cost: float) -> None:
        for window, bucket, amount in zip(self._windows, hold.buckets, (tokens, tokens, cost), strict=True):
            window.add(bucket, amount)

    def _forward(self, now: Instant) -> Instant:
        if was_wrong(self._latest, now):
            for window in self._windows:
                window.set_back(self._latest - now)
            self._latest = now
        self._latest = max(self._latest, now)
        return self._latest


def copied(state: bytes, of: str) -> bytes:
    """A ledger's state as another begins with it, that remembers it is a copy ``of`` that."""
    saved = json.loads(state)
    return json.dumps(saved | {"copied": (of, saved["windows"])}).encode()


class LedgerStore(Protocol):
    """Where ledgers outlive their process."""

    async def load_ledger(self, name: str) -> bytes | None:
        """The state last saved under ``name``."""

    async def save_ledger(self, name: str, state: bytes) -> None:
        """Replace the state, durably when this returns."""


Turns: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
"""Has everybody else who does so wait."""


@dataclass(eq=False, repr=False)
class Account:
    """A ledger with a clock and a place to be saved.

    Guarantee: what a request may cost is saved before ``hold`` returns. An error of the store is raised and the request
    must not be sent. Where it is kept ``in_turns``, that is so of all processes that keep it together.
    """

    name: str
    """What its ledger is saved under."""
    limits: InitVar[Limits]
    _now: Callable[[], Instant]
    _store: LedgerStore | None = None
    _in_turns: Turns | None = None

    def __post_init__(self, limits: Limits) -> None:
        self._ledger = Ledger(limits)
        self._loaded = self._store is None
        self._owed: list[str] = []
        self._taking: dict[str, tuple[str, Limits, Limits]] = {}
        self._lock = asyncio.Lock()
        self.left_name = "budget_left" if self._in_turns is None else "budget_left_of_all"
        """The figure that says what is left of it."""

    async def hold(self, tokens: float, cost: float) -> Hold:
        """Set aside and save. Raises ``BudgetSpent``, or whatever the store raises."""
        async with self._turn():
            await self._load()
            hold = self._ledger.hold(tokens, cost, self._now())
            try:
                await self._save()
            except SubliminalError:
                self._ledger.settle(hold, 0, 0.0)  # it will not be sent
                raise
            return hold

    async def settle(self, hold: Hold, tokens: float, cost: float) -> None:
        """Replace what was held by what was used, and save; where that fails, the saved state keeps the hold."""
        async with self._turn():
            with suppress(SubliminalError):
                if self._in_turns is not None:
                    await self._load()
                self._ledger.settle(hold, tokens, cost)
                await self._save()

    def limit(self, limits: Limits) -> None:
        """From now on these are the limits; what was spent still counts."""
        self._ledger.limit(limits)

    def inherit(self, names: Iterable[str]) -> None:
        """What these accounts have spent is this one's before it spends anything more: they spend no more themselves.

        Each counts once, however often it is said, in this life and the next.
        """
        self._owed += [name for name in names if name not in self._owed and name != self.name]

    def take(self, key: str, name: str, part: Limits, rest: Limits) -> None:
        """A ``part`` of the limits of the account ``name`` is this one's (``Ledger.take``) before it spends more."""
        if name != self.name:
            self._taking.setdefault(key, (name, part, rest))

    async def settle_in(self) -> None:
        """Have what others spent counted and saved, where it is not: who is told of this account next counts it.

        Raises whatever the store raises; may be called again.
        """
        async with self._lock:
            if self._owed or self._taking:
                await self._load()
                await self._save()

    def left(self) -> dict[str, float]:
        """What remains now, by limit."""
        return self._ledger.left(self._now())

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Nobody else changes the ledger meanwhile; where others do at other times, it is read anew."""
        async with self._lock:
            if self._in_turns is None:
                yield
                return
            async with self._in_turns():
                self._loaded = self._store is None
                yield

    async def _load(self) -> None:
        """Take up what was saved, and what others left. What fails is tried again before anything is spent."""
        if self._store is None:
            return
        if not self._loaded:
            state = await self._store.load_ledger(self.name)
            if state is not None:
                self._ledger.restore(state)
            self._loaded = True
        while self._owed:
            state = await self._store.load_ledger(self._owed[0])
            self._ledger.absorb(self._owed[0], state, self._now(), self.name)
            del self._owed[0]
        for key, (name, part, rest) in tuple(self._taking.items()):
            self._ledger.take(key, await self._store.load_ledger(name), part, rest, self._now())
            del self._taking[key]

    async def _save(self) -> None:
        if self._store is not None:
            await self._store.save_ledger(self.name, self._ledger.snapshot())
