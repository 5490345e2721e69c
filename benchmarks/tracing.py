"""What tracing costs: a mind's work with it off and on, in the same run.

    python benchmarks/tracing.py [--rounds 5] [--lines 300] [--json]

The example's day is lived through by all actors of a mind, in virtual time and in one process: as they are, and looked
at for traces, of which a tenth, or all, are sent to a real receiver (OTLP over gRPC, in a process of its own).
Printed is the processor time of this process, threads that send included, against that without tracing; medians over
rounds that take turns. The first two are the same code, so their ratio is the noise of the machine. Then the same for
the acceptance of batches of a thousand perceptions into an embedded store's log.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.gateway.intake import Intake
from orchestration.gateway.settings import IntakeSettings
from orchestration.runtime.worker.observed import ObservedCore, ObservedDriver
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.export import otlp
from orchestration.telemetry.tracing.intake_spans import IntakeSpans
from orchestration.telemetry.tracing.span_recorder import SpanRecorder
from orchestration.telemetry.tracing.spans import Recorder

DAY = Path(__file__).resolve().parent.parent / "examples" / "day.jsonl"
SHARES = {"off": None, "off again": None, "a tenth": 0.1, "all": 1.0}
RECEIVER = """
import sys
from concurrent.futures import ThreadPoolExecutor
import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    def Export(self, request, context):
        return trace_service_pb2.ExportTraceServiceResponse()
server = grpc.server(ThreadPoolExecutor(2))
trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Receiver(), server)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
sys.stdin.read()
"""


class Looked(Replay):
    """A replay whose actors are looked at."""

    def __init__(self, *args, recorder: Recorder | None, **kwargs) -> None:
        super().__init__(*args, finish=False, **kwargs)
        self._recorder = recorder

    async def _be_born(self, name: str):
        shell = await super()._be_born(name)
        if self._recorder is not None:
            journey = SpanRecorder(name, self._recorder)
            shell.core = ObservedCore(shell.core, journey)
            shell._driver = ObservedDriver(shell._driver, journey)  # noqa: SLF001 - as the runtime hands it over
        return shell


def day(lines: int) -> list[NewPerception]:
    found = []
    for line in DAY.read_text("utf-8").splitlines()[:lines]:
        said = json.loads(line)
        at = datetime.fromisoformat(said["time"]).timestamp()
        found.append(NewPerception(said["source"], at, at, said.get("text"), said.get("telemetry"), key=said["key"]))
    return found


async def live(history: list[NewPerception], recorder: Recorder | None) -> int:
    """The mind's work; how many entries came of it."""
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        world = Looked(Settings(), stores, seed=1, recorder=recorder)
        count = len([entry async for entry in world.run(history)])
        await stores.close()
    return count


async def accept(batches: int, recorder: Recorder | None) -> int:
    """The acceptance of so many batches of a thousand."""
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", synchronous="OFF")
        accepted = IntakeSpans(recorder).accepted if recorder is not None else None
        intake = Intake(stores.perceptions, IntakeSettings(per_second=0), time.time, accepted=accepted)
        now = time.time()
        batch = [NewPerception(f"s-{n % 20}", now, now, f"line {n} of something that was said") for n in range(1000)]
        for _ in range(batches):
            await intake.submit(batch)
        await intake.close()
        await stores.close()
    return batches * 1000


def measured(endpoint: str, share: float | None, work: Callable) -> tuple[float, dict[str, float]]:
    """Processor seconds of the work, and what became of its spans."""
    recorder = None
    if share is not None:
        settings = TracingSettings(endpoint=endpoint, sample=share, every=0.5)
        recorder = Recorder("mind", settings, otlp(settings, "mind", "bench", "0"), time.time_ns)
        recorder.start()
    began = time.process_time()
    asyncio.run(work(recorder))
    if recorder is not None:
        recorder.close(30)
    return time.process_time() - began, dict(recorder.figures()) if recorder is not None else {}


def compare(endpoint: str, rounds: int, work: Callable) -> dict[str, dict[str, float]]:
    measured(endpoint, 1.0, work)  # whatever is loaded once
    taken: dict[str, list[float]] = {name: [] for name in SHARES}
    told: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, share in SHARES.items():
            seconds, told[name] = measured(endpoint, share, work)
            taken[name].append(seconds)
    base = statistics.median(taken["off"])
    return {
        name: {
            "cpu_s": statistics.median(each),
            "ratio": statistics.median(each) / base,
            "lowest": min(each) / base,
            "highest": max(each) / base,
            **told[name],
        }
        for name, each in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    receiver = subprocess.Popen([sys.executable, "-c", RECEIVER], stdin=-1, stdout=-1, text=True)
    assert receiver.stdout is not None  # noqa: S101
    endpoint = f"http://127.0.0.1:{receiver.stdout.readline().strip()}"
    history = day(args.lines)
    found = {
        f"thinking about {len(history)} perceptions": compare(endpoint, args.rounds, lambda r: live(history, r)),
        f"accepting {args.batches} batches": compare(endpoint, args.rounds, lambda r: accept(args.batches, r)),
    }
    receiver.kill()
    if args.json:
        print(json.dumps(found))
        return
    for title, shares in found.items():
        print(title)
        for name, figures in shares.items():
            spans = f"{figures['spans_sent_total']:.0f} spans sent, " if "spans_sent_total" in figures else ""
            lost = f"{figures['spans_dropped_total']:.0f} dropped" if spans else ""
            print(
                f"  {name:10} {figures['cpu_s']:7.2f} s  {figures['ratio']:.2f} "
                f"({figures['lowest']:.2f} to {figures['highest']:.2f})  {spans}{lost}"
            )


if __name__ == "__main__":
    main()
