"""A live mind under steady load: how long from acknowledgement to trace, and to the stream.

    python benchmarks/live.py [--rate 200] [--seconds 60] [--json]

Starts `submind run` on free ports in a directory of its own, sends ``--rate`` perceptions a second (unlike lines from
twenty sources, in batches of a tenth of a second) and takes the time of each acknowledgement. Trace latency is from
there until the trace can be read from the store; stream latency until a watching client holds the thought. A thought
waits for a better one by design (``attention.hold``), so stream latency is printed with that hold set to zero as well
as with the default. Bare loopback round trips in the same run stand beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import socket
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.client import ClientError, MindClient

WORDS = [
    f"{a}{b}" for a in ("ka", "mo", "ri", "tel", "su", "van", "ber", "lo") for b in ("do", "lin", "mar", "to", "x")
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def batch(chance: random.Random, size: int, number: int) -> list[NewPerception]:
    now = time.time()
    return [
        NewPerception(
            source=f"source-{chance.randrange(20)}",
            time=now,
            received=now,
            text=" ".join(chance.choice(WORDS) for _ in range(12)),
            key=f"{number}/{i}",
        )
        for i in range(size)
    ]


async def tell(client: MindClient, rate: int, seconds: float, acknowledged: dict[str, float]) -> list[float]:
    """Send at a steady rate; round trips in seconds."""
    chance, trips = random.Random(1), []
    begun = time.time()
    for number in range(int(seconds * 10)):
        await asyncio.sleep(max(0.0, begun + number / 10 - time.time()))
        sent = time.time()
        receipts = await client.perceive(batch(chance, rate // 10, number))
        now = time.time()
        trips.append(now - sent)
        acknowledged.update((r.id, now) for r in receipts)
    return trips


async def follow_traces(data: Path, seen: dict[str, float]) -> None:
    """Note when each perception's trace can be read."""
    stores = await open_stores(data, "mind")
    at = await stores.traces.head()
    while True:
        at, traces = await stores.traces.changes(at, 10_000)
        now = time.time()
        for trace in traces:
            for p in trace.thought.perceptions:
                seen.setdefault(p.id, now)
        await asyncio.sleep(0.02)


async def follow_stream(client: MindClient, seen: dict[str, float]) -> None:
    """Note when each conscious thought reaches a client, by its focus."""
    async for entry in client.watch(1):
        if entry.focus and entry.perceptions:
            seen.setdefault(entry.perceptions[0].id, time.time())


async def up(target: str, data: Path) -> None:
    """Wait until the mind runs."""
    for _ in range(600):
        with contextlib.suppress(OSError, ValueError, KeyError):
            if json.loads((data / "runtime.json").read_text())["state"] == "running":
                return
        await asyncio.sleep(0.1)
    raise SystemExit(f"no mind at {target} within a minute")


async def measure(rate: int, seconds: float, hold: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        data, target = Path(folder) / "data", f"127.0.0.1:{free_port()}"
        settings = Path(folder) / "mind.yaml"
        settings.write_text(f"attention: {{per_hour: 600, hold: {hold}}}\n")
        command = [sys.executable, "-m", "orchestration.cli", "run", "--data-dir", str(data), "--grpc", target]
        command += ["--http", "127.0.0.1:0", "--mind", str(settings), "--quiet"]
        mind = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
        try:
            await up(target, data)
            acknowledged: dict[str, float] = {}
            traced: dict[str, float] = {}
            conscious: dict[str, float] = {}
            async with MindClient(target) as client:
                followers = [
                    asyncio.create_task(follow_traces(data, traced)),
                    asyncio.create_task(follow_stream(client, conscious)),
                ]
                trips = await tell(client, rate, seconds, acknowledged)
                await asyncio.sleep(hold + 5)
                status = await client.status()
                for task in followers:
                    task.cancel()
                with contextlib.suppress(asyncio.CancelledError, ClientError):
                    await asyncio.gather(*followers)
        finally:
            mind.terminate()
            await mind.wait()
    to_trace = [traced[i] - at for i, at in acknowledged.items() if i in traced]
    to_stream = [conscious[i] - at for i, at in acknowledged.items() if i in conscious]
    return {
        "acknowledged": len(acknowledged),
        "ack_p50_ms": 1000 * float(np.median(trips)),
        "traced_share": len(to_trace) / max(1, len(acknowledged)),
        "trace_p50_ms": 1000 * float(np.median(to_trace)) if to_trace else float("nan"),
        "trace_p95_ms": 1000 * float(np.quantile(to_trace, 0.95)) if to_trace else float("nan"),
        "thoughts": len(to_stream),
        "stream_p50_ms": 1000 * float(np.median(to_stream)) if to_stream else float("nan"),
        "stream_p95_ms": 1000 * float(np.quantile(to_stream, 0.95)) if to_stream else float("nan"),
        "live_traces": float(status.traces.live),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=int, default=200, help="perceptions a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = {f"hold {hold:g} s": asyncio.run(measure(args.rate, args.seconds, hold)) for hold in (0.0, 5.0)}
    if args.json:
        print(json.dumps(figures))
        return
    for name, f in figures.items():
        print(f"{args.rate} a second for {args.seconds:g} s, {name}: {f['acknowledged']:.0f} acknowledged")
        print(f"  round trip p50 {f['ack_p50_ms']:.1f} ms")
        print(f"  acknowledgement to trace p50 {f['trace_p50_ms']:.0f} ms, p95 {f['trace_p95_ms']:.0f} ms")
        print(f"  to stream p50 {f['stream_p50_ms']:.0f} ms, p95 {f['stream_p95_ms']:.0f} ms")
        print(f"  {f['thoughts']:.0f} thoughts, {f['live_traces']:.0f} live traces")


if __name__ == "__main__":
    main()
