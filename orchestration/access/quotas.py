"""How much each token may: perceptions and bytes a second, streams at a time.

Counted by whoever takes perceptions in; a front, which hands them on, asks there. Streams are counted where they are
open.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from environment.latest import Latest
from orchestration.access.caller import Caller
from orchestration.access.errors import OverAllowance
from orchestration.access.settings import QuotaSettings

PERCEPTIONS = "access.quotas.perceptions_per_second"
BYTES = "access.quotas.bytes_per_second"
STREAMS = "access.quotas.streams"
NAMES = (PERCEPTIONS, BYTES, STREAMS)

_KNOWN = 4096
"""Callers remembered; of more, the one silent for longest begins anew."""
_STREAM_AGAIN = 1.0
"""Seconds after which a caller who has as many streams as it may is asked to come back."""


@dataclass(slots=True)
class TokenBucket:
    """A token bucket that may go below zero: what is larger than the bucket passes when it is full, and is paid off."""

    rate: float
    most: float
    level: float
    at: float

    def fill(self, now: float) -> None:
        self.level = min(self.most, self.level + max(0.0, now - self.at) * self.rate)
        self.at = now

    def wait(self, amount: float) -> float:
        """Seconds until ``amount`` may pass, as far as it was filled."""
        return max(0.0, (min(amount, self.most) - self.level) / self.rate)


class Quotas:
    """What every caller has left. Who was let in without a token is not counted, nor who was elsewhere."""

    def __init__(self, settings: QuotaSettings, clock: Callable[[], float]) -> None:
        """``clock``: seconds that never go back."""
        self._settings = settings
        self._clock = clock
        self._buckets = Latest[tuple[str, str], TokenBucket](_KNOWN)
        self._streams: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()
        """How often each quota was met, by its name in the configuration."""

    async def admit(self, caller: Caller, perceptions: int, size: int) -> None:
        """Count what comes in, wherever that is counted. Raises ``OverAllowance``, and then nothing was counted."""
        self.take(caller, perceptions, size)

    def grant(self, caller: Caller, perceptions: int, size: int, ahead: Mapping[str, float]) -> dict[str, float]:
        """Count what comes in elsewhere, and what of ``ahead`` is left, by the name of the quota; as much as that was.

        Raises ``OverAllowance``, and then nothing was counted.
        """
        wait = self.wait(caller, perceptions, size)
        if wait is not None:
            raise OverAllowance(caller.name, *wait)
        granted: dict[str, float] = {}
        for amount, (name, bucket) in self._of(caller, perceptions, size):
            granted[name] = float(int(max(0.0, min(ahead.get(name, 0.0), bucket.level - amount))))
            bucket.level -= amount + granted[name]
        return granted

    def rates(self, caller: Caller) -> dict[str, float]:
        """What bounds this caller, a second, by the name of the quota."""
        return {name: bucket.rate for _, (name, bucket) in self._of(caller, 0, 0)}

    def take(self, caller: Caller, perceptions: int, size: int) -> None:
        """Count what comes in. Raises ``OverAllowance``, and then nothing was counted."""
        wait = self.wait(caller, perceptions, size)
        if wait is not None:
            name, allowed, seconds = wait
            self.hits[name] += 1
            raise OverAllowance(caller.name, name, allowed, seconds)
        for amount, bucket in self._of(caller, perceptions, size):
            bucket[1].level -= amount

    def wait(self, caller: Caller, perceptions: int, size: int) -> tuple[str, float, float] | None:
        """Which quota does not let this through, what it allows, and for how many seconds; None where all do."""
        longest: tuple[str, float, float] | None = None
        for amount, (name, bucket) in self._of(caller, perceptions, size):
            seconds = bucket.wait(amount)
            if seconds > 0 and (longest is None or seconds > longest[2]):
                longest = (name, bucket.rate, seconds)
        return longest

    def _of(self, caller: Caller, perceptions: int, size: int) -> Iterator[tuple[float, tuple[str, TokenBucket]]]:
        if not caller.counted:
            return
        own, common, now = caller.quota, self._settings, self._clock()
        for name, amount, its, rate in (
            (PERCEPTIONS, perceptions, own.perceptions_per_second, common.perceptions_per_second),
            (BYTES, size, own.bytes_per_second, common.bytes_per_second),
        ):
            allowed = rate if its is None else its
            if allowed <= 0:
                continue
            bucket = self._buckets.get((caller.key, name))
            if bucket is None or bucket.rate != allowed:
                most = allowed * common.burst
                bucket = TokenBucket(allowed, most, most, now)
            self._buckets[caller.key, name] = bucket
            bucket.fill(now)
            yield float(amount), (name, bucket)

    @contextmanager
    def stream(self, caller: Caller) -> Iterator[None]:
        """One more open stream. Raises ``OverAllowance``."""
        if not caller.counted:
            yield
            return
        most = self._settings.streams if caller.quota.streams is None else caller.quota.streams
        if 0 < most <= self._streams[caller.key]:
            self.hits[STREAMS] += 1
            raise OverAllowance(caller.name, STREAMS, most, _STREAM_AGAIN)
        self._streams[caller.key] += 1
        try:
            yield
        finally:
            self._streams[caller.key] -= 1
            if not self._streams[caller.key]:
                del self._streams[caller.key]
