"""A month in the simulator, and whether anything grows that should not.

    python benchmarks/soak.py [--days 30] [--per-second 1] [--json]

One perception a second on average: busy days and quiet nights, a flood of equal lines every day, now and then something
that nobody has seen before. After each day of mind time it is counted how many traces are live, how many connections
there are, what a perception cost (CPU time of this process), how much memory the process has, and by how much the
stores grew. Flat is judged by the last quarter against the second quarter.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import psutil

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import BufferedStores, Replay

START = 1_700_000_000.0 // 86_400 * 86_400
DAY = 86_400.0
SERVICES = ("checkout", "search", "billing", "login", "stock", "mail", "reports", "gateway")
SHAPES = (
    "{s} request {n} took {m} ms",
    "{s} cache refreshed, {n} entries",
    "{s} retry {m} of request {n} after timeout",
    "user {n} signed in to {s}",
    "{s} queue length {m}",
    "{s} worker {m} restarted after out of memory",
    "order {n} left {s} with {m} items",
    "{s}: certificate expires in {m} days",
)
SYLLABLES = ("ka", "mo", "ri", "tel", "su", "van", "ber", "dor", "lin", "pes", "qua", "zu")


def history(days: int, per_second: float, seed: int) -> Iterator[NewPerception]:
    """What a small company's systems say, in order of time."""
    chance = random.Random(seed)
    at = START
    flood = START + chance.uniform(0.3, 0.6) * DAY
    while True:
        busy = 1.0 - 0.8 * math.cos(2 * math.pi * (at % DAY) / DAY)
        flooded = flood <= at < flood + 600
        at += chance.expovariate(per_second * (busy + 10.0 * flooded) * 0.935)
        if at >= START + days * DAY:
            return
        if at >= flood + 600:
            flood = (at // DAY + 1) * DAY + chance.uniform(0.3, 0.6) * DAY
        service = chance.choice(SERVICES)
        if flooded and chance.random() < 0.9:
            text = "disk /dev/sda1 read error, sector unreadable"
        elif chance.random() < 0.002:
            name = "".join(chance.choice(SYLLABLES) for _ in range(4))
            text = f"{service}: {name} failed because {chance.choice(SYLLABLES)}{chance.choice(SYLLABLES)} was gone"
        else:
            text = chance.choice(SHAPES).format(s=service, n=chance.randrange(10**6), m=chance.randrange(1, 400))
        yield NewPerception(f"{service}-{chance.randrange(4)}", at, at, text=text, trust=0.5)


async def soak(days: int, per_second: float, seed: int) -> list[dict[str, float]]:
    """Figures of each day."""
    found: list[dict[str, float]] = []
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        stores = BufferedStores(await open_stores(Path(folder), "soak", inline=True, synchronous="OFF"))
        replay = Replay(Settings(), stores, seed=seed)
        count, spent, size = 0, time.process_time(), 0.0

        def counted(perceptions: Iterable[NewPerception]) -> Iterator[NewPerception]:
            nonlocal count
            for perception in perceptions:
                count += 1
                yield perception

        async def close_day() -> None:
            nonlocal count, spent, size
            cpu = time.process_time()
            kept = await stores.statistics()
            grown = sum(value for name, value in kept.items() if name.endswith("_bytes"))
            found.append(
                {
                    "perceptions": count,
                    "live_traces": kept["traces_live_rows"],
                    "connections": kept["connections_rows"],
                    "us_each": 1e6 * (cpu - spent) / max(1, count),
                    "memory_mb": process.memory_info().rss / 2**20,
                    "stored_mb": (grown - size) / 2**20,
                    "stream": await stores.stream.head(),
                }
            )
            if sys.stderr.isatty():
                print(f"\rday {len(found)} of {days}", end="", file=sys.stderr)
            count, spent, size = 0, time.process_time(), grown

        for _, of_day in groupby(history(days, per_second, seed), key=lambda p: p.time // DAY):
            async for _ in replay.feed(counted(of_day)):
                pass
            await close_day()
        await stores.close()
    return found


def flatness(days: list[dict[str, float]]) -> dict[str, float]:
    """The last quarter over the second."""
    quarter = max(1, len(days) // 4)
    second, last = days[quarter : 2 * quarter] or days[:1], days[-quarter:]
    return {
        key: statistics.mean(d[key] for d in last) / max(1e-9, statistics.mean(d[key] for d in second))
        for key in ("live_traces", "connections", "us_each", "memory_mb", "stored_mb")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=30, help="of mind time")
    parser.add_argument("--per-second", type=float, default=1.0, help="perceptions, on average")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    days = asyncio.run(soak(args.days, args.per_second, args.seed))
    flat = flatness(days)
    if args.json:
        print(json.dumps({"benchmark": "soak", "days": days, "flat": flat}))
        return
    names = list(days[0])
    print(f"{'day':>4}" + "".join(f"{name:>14}" for name in names))
    for number, day in enumerate(days, 1):
        print(f"{number:>4}" + "".join(f"{day[name]:>14.4g}" for name in names))
    print("last quarter over the second: " + ", ".join(f"{key} {value:.2f}" for key, value in flat.items()))


if __name__ == "__main__":
    main()
