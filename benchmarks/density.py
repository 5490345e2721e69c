"""What a resident idle submind costs, and how the coordinating parts grow with the number of subminds.

``python benchmarks/density.py [--subminds 10 100 1000 10000] [--per-actor 5000] [--seconds 30]``

For each size a real mind on this machine, its cognitive subminds packed: memory of all its processes (USS) and
processor time while idle, both beside the smallest size of the same run; then each submind is sent a thought over the
links of the mind and must report that it had it. Then the parts by themselves: the directory, what attention asks
of it for one broadcast, the status and the list of subminds. A slope is that of a line through the logarithms: 0 does
not grow, 1 grows with the number of subminds, 2 with its square.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import yaml

from actors.chance import Chance
from actors.events import Reinforce
from actors.peers import Peer, PeerDirectory
from environment.stores.sqlite import open_stores
from orchestration.client import MindClient
from orchestration.host.directories import run_base
from orchestration.links.addresses import Endpoint, machine_of, socket_path
from orchestration.links.links import Links
from orchestration.links.settings import LinkSettings
from orchestration.runtime import processes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.start_idle import idle, of_mind

THINGS = "harbour pump valve engine weather invoice customer delivery alarm ticket tide crane ship door battery".split()


def settings(subminds: int, per_actor: int) -> dict[str, object]:
    """A mind of so many subminds that think about the world, and what it needs besides."""
    goals = [
        f"Notice when the {THINGS[i % 15]} {i} and the {THINGS[i // 15 % 15]} change"
        for i in range(min(subminds, 2000))
    ]
    return {
        "mind": {
            "subminds": [
                {"name": "text", "role": "perceptual", "goals": ["Hear what is said."]},
                {"name": "scout", "count": subminds, "goals": goals},
            ]
        },
        "gateway": {"listen": "127.0.0.1:0"},
        "feed": {"listen": "127.0.0.1:0"},
        "telemetry": {"stderr": "off"},
        "host": {"start_within": 1800, "stop_within": 120},
        "runtime": {"subminds_per_actor": {"cognitive": per_actor}, "supervision": {"settle": 60}},
    }


MIND = """
import asyncio, sys
from pathlib import Path
import yaml
from orchestration.host.run import run_host
from orchestration.settings import Settings
settings = Settings.model_validate(yaml.safe_load(Path(sys.argv[2]).read_text()))
async def beside(host):
    while host.supervisor.report.state != "running":
        await asyncio.sleep(0.05)
    print("running", host.addresses.grpc, flush=True)
sys.exit(run_host(settings, Path(sys.argv[1]), beside=beside))
"""


@dataclass
class Living:
    """What was measured of one mind."""

    subminds: int
    start: float
    memory: float
    """MB of all processes."""
    idle: float
    """Per cent of a core."""
    roles: dict[str, float]
    answered: int
    reach: float
    status: float
    reports: float


async def reach(run_dir: Path, data_dir: Path, subminds: int, within: float) -> tuple[int, float]:
    """Send an event to each submind; how many reported that they had it, and after how many seconds all that did."""
    directory = Endpoint(machine_of(run_dir), socket_path(run_dir, "~mind"))
    links = Links("bench", "bench", directory, run_dir, LinkSettings(), random.Random(1))
    await links.open()
    stores = await open_stores(data_dir, "mind")
    names = [f"scout-{number + 1}" for number in range(subminds)]
    began = time.perf_counter()
    had = 0
    try:
        while time.perf_counter() - began < within:
            told = {report.name: report for report in await stores.registry.reports()}
            missing = [name for name in names if told[name].metrics.get("messages_received_total", 0) < 1]
            had = subminds - len(missing)
            if not missing:
                break
            for start in range(0, len(missing), 1000):
                for name in missing[start : start + 1000]:
                    links.outboxes.put(name, Reinforce("nothing", "bench", 0.1), 1.0)
                await asyncio.sleep(0.1)
            await asyncio.sleep(5)
    finally:
        await links.close()
        await stores.close()
    return had, time.perf_counter() - began


async def asked(grpc: str, data_dir: Path) -> tuple[float, float]:
    """Seconds for a status, and for all reports from the store."""
    async with MindClient(grpc, timeout=60) as client:
        await client.status()
        began = time.perf_counter()
        for _ in range(3):
            await client.status()
        status = (time.perf_counter() - began) / 3
    stores = await open_stores(data_dir, "mind")
    began = time.perf_counter()
    await stores.registry.reports()
    reports = time.perf_counter() - began
    await stores.close()
    return status, reports


def live(subminds: int, per_actor: int, seconds: float, settle: float) -> Living:
    """One mind from start to stop."""
    with tempfile.TemporaryDirectory(prefix="density", ignore_cleanup_errors=True) as folder:
        data_dir = Path(folder).resolve()
        configured = data_dir / "mind.yaml"
        configured.write_text(yaml.safe_dump(settings(subminds, per_actor)))
        mark = processes.mark_of(data_dir)
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", MIND, str(data_dir), str(configured)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            line = process.stdout.readline().split() if process.stdout else []
            if line[:1] != ["running"]:
                raise RuntimeError(f"the mind did not start: {data_dir / 'submind.log'}")
            start = time.perf_counter() - began
            time.sleep(settle)
            share, _, memory, roles = idle(partial(of_mind, process.pid, mark, run_base(mark)), seconds)
            (run_dir,) = (path for path in run_base(mark).iterdir() if path.is_dir())
            answered, took = asyncio.run(reach(run_dir, data_dir, subminds, 300.0))
            status, reports = asyncio.run(asked(line[1], data_dir))
        finally:
            process.terminate()
            try:
                process.wait(150)
            except subprocess.TimeoutExpired:
                process.kill()
    return Living(subminds, start, memory, share, roles, answered, took, status, reports)


def parts(subminds: int, rounds: int = 200) -> dict[str, float]:
    """Microseconds of what one conscious thought or one birth asks of the directory."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((subminds, 256)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    began = time.perf_counter()
    directory = PeerDirectory(Peer(f"s{i}", True, "goal", row) for i, row in enumerate(rows))
    directory.nearest(rows[0], 3)
    made = (time.perf_counter() - began) * 1e6
    chance = Chance(1, "bench")
    measured = {"directory made": made}
    for name, work in (
        ("broadcast: whom it concerns", lambda i: directory.nearest(rows[i % subminds], 3)),
        ("a stranger drawn", lambda _: directory.stranger(chance, {"s1", "s2", "s3"})),
    ):
        times = []
        for i in range(rounds):
            began = time.perf_counter()
            work(i)
            times.append((time.perf_counter() - began) * 1e6)
        measured[name] = statistics.median(times)
    return measured


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Of a line through the logarithms."""
    if len(sizes) < 2:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subminds", type=int, nargs="+", default=[10, 100, 1000, 10_000])
    parser.add_argument("--per-actor", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to be idle")
    parser.add_argument("--settle", type=float, default=30.0, help="seconds between the start and being idle")
    options = parser.parse_args()
    sizes = options.subminds
    print("the parts by themselves, microseconds")
    measured = [parts(size) for size in sizes]
    for name in measured[0]:
        values = [one[name] for one in measured]
        print(f"  {name:28}", *(f"{v:10.1f}" for v in values), f"  slope {slope(sizes, values):.2f}", flush=True)
    lives: list[Living] = []
    for size in sizes:
        one = live(size, options.per_actor, options.seconds, options.settle)
        lives.append(one)
        print(f"{size} subminds: running after {one.start:.1f} s, {one.memory:.0f} MB, idle {one.idle:.2f} % of a core")
        print(
            "  " + ", ".join(f"{role} {value:.2f} %" for role, value in sorted(one.roles.items(), key=lambda r: -r[1]))
        )
        print(
            f"  {one.answered} of {size} reached, after {one.reach:.1f} s; status {one.status * 1e3:.0f} ms, "
            f"all reports {one.reports * 1e3:.0f} ms",
            flush=True,
        )
    first, last = lives[0], lives[-1]
    if last.subminds > first.subminds:
        more = last.subminds - first.subminds
        print(f"each submind: {1000 * (last.memory - first.memory) / more:.1f} KB")
        for name in ("start", "status", "reports", "reach"):
            print(f"  {name}: slope {slope(sizes, [getattr(one, name) for one in lives]):.2f}")


if __name__ == "__main__":
    main()
