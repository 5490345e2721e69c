"""A mind over 1, 2 and 4 raylets: perceptions handled a second as ratios to one, and how soon it is whole again.

All raylets share this machine: with fewer cores than actors the ratios say what spreading costs, not what more machines
would bring. Prints a line for each number of raylets, and one for the loss of a node.

    python benchmarks/nodes.py [--perceptions 40000] [--raylets 1,2,4]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from environment.messages import NewPerception
from orchestration.client import MindClient
from tests.orchestration.living import LivingMind, eventually
from tests.orchestration.nodes.raylets import Raylets

BATCH = 64


async def handled(mind: LivingMind, count: int) -> float:
    """Seconds until the text submind has read, and the environment kept, ``count`` perceptions."""
    async with MindClient(mind.grpc, retry_for=60) as client:
        goal = (await client.status()).perceptions.head + count
        began = time.perf_counter()
        for first in range(0, count, BATCH):
            now = time.time()
            texts = [f"reading {n} of the bench" for n in range(first, min(first + BATCH, count))]
            await client.perceive([NewPerception("bench", now, now, text=text) for text in texts])
        while True:
            reports = {report.name: report for report in await client.subminds()}
            metrics = reports["text"].metrics
            if metrics.get("cursor", 0) >= goal and not metrics.get("pending", 1):
                return time.perf_counter() - began
            await asyncio.sleep(0.05)


def measured(nodes: int, count: int) -> tuple[float, float | None]:
    """Perceptions a second, and seconds to be whole again after the loss of a node where there are others."""
    raylets = Raylets().add(*(f"n{number}" for number in range(nodes)))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        mind = LivingMind(
            Path(folder) / "data",
            lambda place: [sys.executable, "-m", "tests.orchestration.nodes.crowd", str(place), raylets.address],
        )
        try:
            mind.start(running=False)
            mind.running(seconds=300)
            everybody = set(raylets.actors())
            asyncio.run(handled(mind, count // 4))
            took = min(asyncio.run(handled(mind, count)) for _ in range(2))
            recovery = None
            if nodes > 1:
                at = raylets.kill("n0")
                eventually(lambda: set(raylets.actors()) == everybody, 180)
                recovery = time.monotonic() - at
            mind.stop()
            return count / took, recovery
        finally:
            mind.end()
            raylets.end()


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--perceptions", type=int, default=40_000)
    asked.add_argument("--raylets", default="1,2,4")
    given = asked.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {given.perceptions} perceptions")
    first = None
    for nodes in (int(number) for number in given.raylets.split(",")):
        rate, recovery = measured(nodes, given.perceptions)
        first = first or rate
        lost = "" if recovery is None else f"; a lost node's actors live elsewhere after {recovery:.1f} s"
        print(f"{nodes} raylets: {rate:7.0f} perceptions/s, {rate / first:.2f} of one{lost}", flush=True)


if __name__ == "__main__":
    main()
