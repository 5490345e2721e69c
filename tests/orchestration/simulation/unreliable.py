"""Stores that now and then do not take what they are given."""

import random
from collections.abc import Sequence

from environment.errors import StoreUnavailable
from environment.ports import Stores, Write
from environment.stores.forwarding import ForwardingStores
from orchestration.simulation.faults import Faults


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
