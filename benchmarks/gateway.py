"""Durable acknowledgements of the gateway against a bare grpc.aio bidirectional echo of the same bytes, in one run.

How it is measured, and why so:

- Both servers are processes of their own, started at the same time, and driven in turn by the same client code, which
  is a third process. The gateway has real stores in a fresh folder, as the host of a mind opens them: WAL,
  ``synchronous=FULL``. It answers a batch when the commit that holds it is synced.
- A message is a batch of perceptions, each with an idempotency key, all of them new. The echo gets the same messages.
  For both there is one stream (or more), with as many unanswered messages as the gateway lets one caller have: they
  share commits.
- A round is a short run of the echo and then one of the gateway. The ratio is the median of the rounds' ratios: what
  else the machine does then meets both alike. The first round warms up and is not counted. The log grows from round to
  round, so keys are looked up among all those before, and are filed.
- The CPU time that a server spends on a message is printed beside its rate: on a machine that does other work as well
  it is the steadier figure.

    python benchmarks/gateway.py [--json] [--seconds 1.5] [--rounds 7] [--streams 1] [--window 64] [--batch 64]
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
from collections import deque
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from environment.stores.sqlite import open_stores
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.settings import GatewaySettings
from orchestration.pb.submind.v1 import perception_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator

ECHO = "/benchmark.Echo/Both"
PERCEIVE = "/submind.v1.PerceptionService/PerceiveStream"
TARGET = 0.30
TEXT = (
    "Nov 21 07:{:02d}:{:02d} web-{:02d} nginx[231]: upstream timed out (110) while reading response header, request {}"
)


async def serve_echo() -> None:
    """The baseline: every message back as it came."""

    async def both(_: object, context: Any) -> None:
        while (message := await context.read()) is not grpc.aio.EOF:
            await context.write(message)

    service, method = ECHO[1:].split("/")
    server = grpc.aio.server()
    handlers = {method: grpc.stream_stream_rpc_method_handler(both)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


async def serve_gateway(directory: Path) -> None:
    """The gateway on real stores, as a mind's host runs it."""
    stores = await open_stores(directory, "benchmark", apart=True)
    settings = GatewaySettings(listen="127.0.0.1:0")
    intake = Intake(stores.perceptions, settings.intake, time.time)
    server = GatewayServer(intake, {}, settings)
    print(await server.start(), flush=True)
    await asyncio.Event().wait()


@dataclass(frozen=True)
class Server:
    """A server that listens."""

    port: int
    process: psutil.Process

    def cpu(self) -> float:
        """Seconds of CPU time that it has spent."""
        return float(sum(self.process.cpu_times()[:2]))


@dataclass(frozen=True)
class Figures:
    """One round."""

    batches_per_s: float
    p50_ms: float
    p99_ms: float
    server_cpu_us: float
    """CPU time of the server process for one message."""


def messages(count: int, batch: int, round_number: int) -> list[bytes]:
    """Batches of log lines, each perception with a key of its own, serialised."""
    made = []
    for number in range(count):
        request = pb.PerceiveStreamRequest(batch=number)
        for index in range(batch):
            text = TEXT.format(number % 60, index % 60, index % 40, number * batch + index)
            one = request.perceptions.add(source=f"web-{index % 40:02d}", text=text)
            one.key = f"{round_number}-{number}-{index}"
            one.time.seconds = 1_700_000_000 + number
        made.append(request.SerializeToString())
    return made


async def drive(
    server: Server, method: str, supply: Iterator[bytes], streams: int, window: int, seconds: float
) -> Figures:
    """Keep ``window`` messages unanswered on each of ``streams`` streams, for a while or until there are no more."""
    latencies: list[float] = []
    answered = 0
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        spent, began = server.cpu(), time.perf_counter()
        end = began + seconds

        async def one_stream() -> None:
            nonlocal answered
            call = channel.stream_stream(method)()
            starts: deque[float] = deque()

            async def send() -> bool:
                message = next(supply, None)
                if message is None or time.perf_counter() >= end:
                    return False
                starts.append(time.perf_counter())
                await call.write(message)
                return True

            for _ in range(window):
                await send()
            while starts:
                answer = await call.read()
                if answer is grpc.aio.EOF:
                    raise RuntimeError(f"the stream ended: {await call.details()}")
                latencies.append(time.perf_counter() - starts.popleft())
                answered += 1
                await send()
            await call.done_writing()

        await asyncio.gather(*(one_stream() for _ in range(streams)))
        elapsed = time.perf_counter() - began
        spent = server.cpu() - spent
    latencies.sort()
    return Figures(
        answered / elapsed,
        statistics.median(latencies) * 1000,
        latencies[int(len(latencies) * 0.99)] * 1000,
        spent / answered * 1e6,
    )


@contextmanager
def serving(*arguments: str, script: str = __file__) -> Iterator[Server]:
    """A server in a process of its own: ``script``, which prints its port."""
    process = subprocess.Popen([sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # noqa: S101
        lines = iter(process.stdout.readline, "")
        port = next((line for line in lines if line.strip().isdecimal()), "")
        if not port:
            raise RuntimeError(f"the server ended with {process.wait()}")
        yield Server(int(port), psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait()


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Rounds of echo and gateway in turn."""
    rounds: list[tuple[Figures, Figures]] = []
    size, most = 0, arguments.most
    with (
        tempfile.TemporaryDirectory(dir=arguments.directory) as directory,
        serving("--serve", "echo") as echo,
        serving("--serve", "gateway", "--directory", directory) as gateway,
    ):
        for number in range(arguments.rounds + 1):
            sent = messages(int(arguments.seconds * most), arguments.batch, number)
            size = len(sent[0])
            shape = (arguments.streams, arguments.window, arguments.seconds)
            bare = asyncio.run(drive(echo, ECHO, cycle(sent), *shape))
            rounds.append((bare, asyncio.run(drive(gateway, PERCEIVE, iter(sent), *shape))))
            most = int(2 * rounds[-1][1].batches_per_s) + 100
    del rounds[0]
    names = ("echo", "gateway")
    medians = {
        name: Figures(*map(statistics.median, zip(*(asdict(one[at]).values() for one in rounds), strict=True)))
        for at, name in enumerate(names)
    }
    ratios = [durable.batches_per_s / bare.batches_per_s for bare, durable in rounds]
    return {
        "benchmark": "gateway",
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "target": TARGET,
        "batch": arguments.batch,
        "bytes": size,
        "streams": arguments.streams,
        "window": arguments.window,
        "perceptions_per_s": medians["gateway"].batches_per_s * arguments.batch,
        **{name: asdict(figures) for name, figures in medians.items()},
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [f"{'':10}{'batches/s':>12}{'p50 ms':>10}{'p99 ms':>10}{'CPU us':>10}"]
    for name in ("echo", "gateway"):
        row = result[name]
        lines.append(
            f"{name:10}{row['batches_per_s']:12.0f}{row['p50_ms']:10.2f}{row['p99_ms']:10.2f}{row['server_cpu_us']:10.0f}"
        )
    ratios = result["ratios"]
    lines.append(
        f"ratio {result['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds; wanted:"
        f" {result['target']:.2f}); {result['perceptions_per_s']:.0f} durable perceptions/s, batches of"
        f" {result['batch']} ({result['bytes']} bytes), {result['streams']} streams, {result['window']} unanswered"
        " on each"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a run")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--window", type=int, default=64, help="unanswered batches on each stream")
    parser.add_argument("--batch", type=int, default=64, help="perceptions in a batch")
    parser.add_argument("--most", type=int, default=3000, help="batches a second that are prepared to warm up")
    parser.add_argument("--directory", type=Path, help="where the stores are written")
    parser.add_argument("--serve", choices=["echo", "gateway"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve == "echo":
        asyncio.run(serve_echo())
    elif arguments.serve == "gateway":
        asyncio.run(serve_gateway(arguments.directory))
    else:
        result = measure(arguments)
        print(json.dumps(result) if arguments.json else table(result))


if __name__ == "__main__":
    main()
