"""How loaded a submind is: sustained overload, with hysteresis, and where its traffic comes from."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.settings import DivisionSettings
from environment.messages import Deadline, Instant

_SLOWEST = 8
"""Rounds beyond which damping grows no further."""
_MOST = 8192
"""Topics whose traffic is known; twice as many as a submind may hold. Of more, those met last."""
_REMEMBERED = 4
"""A round is forgotten after this many times the pause it imposed, and the idle time that ended it."""


class Load:
    """Overload and its pauses.

    Guarantees: ``due`` is never true within a cool-down, which is short (``settle``) for topics that have never come
    back; each round of dividing and merging makes the next one longer by ``damping``, up to a bound, and is forgotten
    when it stays the last for long.
    """

    def __init__(self, settings: DivisionSettings, idle_for: float) -> None:
        self._settings = settings
        self._idle_for = idle_for
        self._since: Instant | None = None
        self._not_before: Instant = float("-inf")
        self._refused_until: Instant = float("-inf")
        self._rounds = 0
        self._merged_at: Instant = float("-inf")
        self._traffic: dict[str, tuple[float, Instant]] = {}

    def configure(self, settings: DivisionSettings, idle_for: float) -> None:
        """From the next figure on; a pause that began stays as long as it was."""
        self._settings = settings
        self._idle_for = idle_for

    @property
    def overloaded(self) -> bool:
        """Whether the mailbox was last too full, and not relieved since."""
        return self._since is not None

    def pressed(self, use: float, now: Instant) -> None:
        """How full the mailbox was lately."""
        if use >= self._settings.overload:
            self._since = now if self._since is None else self._since
        elif use < self._settings.relief:
            self._since = None

    def due(self, now: Instant) -> bool:
        """Whether the overload has lasted, and no pause is on."""
        lasting = self._since is not None and now - self._since >= self._settings.sustained
        return lasting and now >= max(self._not_before, self._refused_until)

    def pause(self, until: Instant) -> None:
        """Not before then."""
        self._not_before = max(self._not_before, until)

    def refused(self, until: Instant) -> None:
        """Not before then, unless somebody permits it."""
        self._refused_until = until

    def permitted(self) -> None:
        """What was refused may be proposed."""
        self._refused_until = float("-inf")

    def rounds(self, now: Instant) -> int:
        """How often topics were given away and came back lately."""
        lasting = _REMEMBERED * (self._idle_for + self._settings.cooldown) * self._settings.damping**self._rounds
        if now - self._merged_at > lasting:
            self._rounds = 0
        return self._rounds

    def divided(self, now: Instant) -> None:
        """Something changed: its effect is waited for."""
        self._since = None
        settings = self._settings
        again = self.rounds(now) > 0
        self.pause(now + (self.slowed(settings.cooldown, now) if again else min(settings.settle, settings.cooldown)))

    def merged(self, rounds: int, now: Instant) -> None:
        """Topics came back that had been through ``rounds`` such rounds before."""
        self._rounds = min(max(self.rounds(now), rounds) + 1, _SLOWEST)
        self._merged_at = now
        self.divided(now)

    def began(self, rounds: int, now: Instant) -> None:
        """A life begins with topics that have been through some rounds."""
        self._rounds, self._merged_at = min(rounds, _SLOWEST), now
        self.divided(now)

    def slowed(self, pause: float, now: Instant) -> float:
        """A pause as damping makes it."""
        return pause * float(self._settings.damping ** self.rounds(now))

    def met(self, topic: str, now: Instant) -> None:
        """Something of this topic had to be handled."""
        self._traffic[topic] = (self._faded(topic, now) + 1.0, now)
        if (
            len(self._traffic) > _MOST
        ):  # topics come and go, and nobody asks for their traffic while there is no overload
            latest = sorted(self._traffic.items(), key=lambda each: each[1][1])
            self._traffic = dict(latest[_MOST // 2 :])

    def _faded(self, topic: str, now: Instant) -> float:
        value, at = self._traffic.get(topic, (0.0, now))
        return float(value * 0.5 ** (max(0.0, now - at) / self._settings.traffic_half_life))

    def traffic(self, topics: Iterable[str], now: Instant) -> NDArray[np.float64]:
        """Recent traffic of these topics; what is not among them is forgotten."""
        keys = list(topics)
        self._traffic = {key: (self._faded(key, now), now) for key in keys}
        return np.asarray([self._traffic[key][0] for key in keys], np.float64)

    def dump(self) -> LoadState:
        """For a snapshot."""
        pauses = self._not_before, self._refused_until
        return LoadState(self._since, pauses[0], self._rounds, self._merged_at, self._traffic, pauses[1])

    def load(self, state: LoadState) -> None:
        """From a snapshot."""
        self._since, self._not_before = state.since, state.not_before
        self._rounds, self._merged_at, self._traffic = state.rounds, state.merged_at, state.traffic
        self._refused_until = state.refused_until


class LoadState(msgspec.Struct):
    """A load as it is saved."""

    since: Instant | None
    not_before: Deadline
    rounds: int
    merged_at: Instant
    traffic: dict[str, tuple[float, Instant]]
    refused_until: Deadline = float("-inf")
