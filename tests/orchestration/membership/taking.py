"""``python -m tests.orchestration.membership.taking ADDRESS MIND SECONDS CAPACITY PER_SECOND``: takes all it can get.

Several take at once within it. Says when it is ready, waits for a line on standard input, and says at the end when it
was granted how much: between which instants.
"""

from __future__ import annotations

import asyncio
import json
import sys

from orchestration.clock import wall
from orchestration.membership.opening import open_coordination
from orchestration.membership.ports import Allowance


async def main(address: str, mind: str, seconds: float, allowance: Allowance) -> None:
    async with open_coordination(address, mind) as coordination:
        print("ready", flush=True)  # noqa: T201 - to who started this
        await asyncio.to_thread(sys.stdin.readline)
        end = wall() + seconds
        granted: list[tuple[float, float, float]] = []

        async def take(amount: float) -> None:
            while (now := wall()) < end:
                if (await coordination.quotas.take("tokens", amount, allowance, now)).granted:
                    granted.append((now, wall(), amount))

        await asyncio.gather(take(1), take(2), take(0.5))
        print(json.dumps(granted), flush=True)  # noqa: T201 - to who started this


if __name__ == "__main__":
    _, address, mind, seconds, capacity, per_second = sys.argv
    asyncio.run(main(address, mind, float(seconds), Allowance(float(capacity), float(per_second))))
