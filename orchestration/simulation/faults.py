"""What may go wrong in a simulated mind, drawn from one seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from environment.errors import StoreUnavailable
from environment.ports import Stores, Write
from environment.stores.forwarding import ForwardingStores


@dataclass(frozen=True, slots=True)
class Faults:
    """Chances of each fault, 0..1; all zero means a perfect world."""

    loss: float = 0.0
    """A message is lost."""
    doubling: float = 0.0
    """A message arrives twice."""
    delay: float = 0.0
    """A message is late, by up to ``late`` seconds: it may overtake and be overtaken."""
    late: float = 20.0
    crash: float = 0.0
    """After handling something, an actor dies and comes back with what it had saved."""
    blackout: float = 0.0
    """After somebody handled something, all actors die at once."""
    unanswered: float = 0.0
    """The substrate never answers."""
    refusal: float = 0.0
    """The store refuses a commit."""
    torn: float = 0.0
    """A refused commit had gone through all the same: its answer was lost."""

    @property
    def any(self) -> bool:
        """True when anything may go wrong."""
        return any((self.loss, self.doubling, self.delay, self.crash, self.blackout, self.unanswered, self.refusal))


NONE = Faults()
ROUGH = Faults(
    loss=0.05, doubling=0.05, delay=0.15, crash=0.004, blackout=0.0005, unanswered=0.1, refusal=0.03, torn=0.3
)
"""A rough day: what the invariants are tested under."""


class UnreliableStores(ForwardingStores):
    """Stores that refuse some commits, before or after doing them."""

    def __init__(self, stores: Stores, faults: Faults, chance: random.Random) -> None:
        super().__init__(stores)
        self._faults = faults
        self._chance = chance
        self.calm = False
        """True: no more faults, so that a run can come to rest."""

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:
        """As the real one, but now and then ``StoreUnavailable``."""
        if not self.calm and self._chance.random() < self._faults.refusal:
            if self._chance.random() < self._faults.torn:
                await self._stores.commit(writes, fence)
            raise StoreUnavailable("a simulated refusal", 1.0)
        await self._stores.commit(writes, fence)
