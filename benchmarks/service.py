"""What a Service, TLS and a token take off the gateway's durable throughput, against plain loopback, in one run.

How it is measured, and why so:

- Two ways lead to a gateway: plain text over the loopback without a token, and through a Service with TLS and a token.
  Which gateways those are is the caller's to say. Two fronts of one mind have the same behind them, leader and store,
  and the ratio is what callers notice. Two gateways by themselves on SQLite (``--serve DIR``, with settings from the
  environment) have little behind them, and the ratio shows the way itself. `tests/k8s/production.py` makes the pods.
- The client is the project's own: `perceive_many`, batches of 64, so many of them unanswered. A perception counts when
  its receipt came: then it is durable.
- A round is a short run one way and one the other, in turn first. The ratio is the median of the rounds' ratios. The
  first round warms up and is not counted. Between rounds come single batches, one after the other: their latency.
- Nothing of the project is needed but the installed package, so that it runs in a pod from standard input:

    kubectl exec -i POD -- python - --plain 127.0.0.1:50051 --through gateway:50051 --ca CA --token-file TOKEN <THIS
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.access.opening import access_of
from orchestration.access.settings import ClientSettings
from orchestration.client import Credentials, MindClient
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.loading import load_settings

TEXT = (
    "Nov 21 07:{:02d}:{:02d} web-{:02d} nginx[231]: upstream timed out (110) while reading response header, request {}"
)
SINGLE = 10
"""Batches that are sent one by one in each round, each way."""


def perceptions(first: int) -> Iterator[NewPerception]:
    """Log lines without end, all of them new: the client gives each a key of its own."""
    now = time.time()
    number = first
    while True:
        text = TEXT.format(number // 3600 % 60, number // 60 % 60, number % 40, number)
        yield NewPerception(source=f"web-{number % 40:02d}", time=now, received=now, text=text)
        number += 1


def until(end: float, source: Iterator[NewPerception]) -> Iterator[NewPerception]:
    """What comes before a moment."""
    for one in source:
        if time.perf_counter() >= end:
            return
        yield one


async def serve(directory: Path) -> None:
    """A gateway by itself on real stores, which listens and is guarded as the environment says."""
    settings = load_settings()
    stores = await open_stores(directory, settings.mind.name, apart=True)
    intake = Intake(stores.perceptions, settings.gateway.intake, time.time)
    access = access_of(settings)
    server = GatewayServer(intake, {}, settings.gateway, access)
    await server.start()
    await access.keep()


async def rate(mind: MindClient, source: Iterator[NewPerception], arguments: argparse.Namespace) -> float:
    """Durable perceptions a second, over the time until the last receipt. Raises ``ClientError``."""
    began, many = time.perf_counter(), 0
    given = until(began + arguments.seconds, source)
    async for _ in mind.perceive_many(given, batch=arguments.batch, window=arguments.window):
        many += 1
    return many / (time.perf_counter() - began)


async def single(mind: MindClient, source: Iterator[NewPerception], batch: int) -> list[float]:
    """Milliseconds that batches take one after the other. Raises ``ClientError``."""
    taken = []
    for _ in range(SINGLE):
        sent = [next(source) for _ in range(batch)]
        began = time.perf_counter()
        await mind.perceive(sent)
        taken.append((time.perf_counter() - began) * 1000)
    return taken


async def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Rounds, and what they come to. Raises ``ClientError``."""
    certified = Credentials(ClientSettings(ca_file=arguments.ca, token_file=arguments.token_file))
    source = perceptions(int(time.time() * 1000))
    rates: dict[str, list[float]] = {"plain": [], "through": []}
    latencies: dict[str, list[float]] = {"plain": [], "through": []}
    async with MindClient(arguments.plain) as plain, MindClient(arguments.through, credentials=certified) as through:
        ways = [("plain", plain), ("through", through)]
        for _ in range(arguments.rounds + 1):
            for name, mind in ways:
                rates[name].append(await rate(mind, source, arguments))
            for name, mind in ways:
                latencies[name] += await single(mind, source, arguments.batch)
            ways.reverse()
    ratios = [one / other for one, other in zip(rates["through"][1:], rates["plain"][1:], strict=True)]
    return {
        "benchmark": "service",
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "batch": arguments.batch,
        "window": arguments.window,
        "perceptions_per_s": {name: statistics.median(each[1:]) for name, each in rates.items()},
        "single_ms": {name: statistics.median(each[SINGLE:]) for name, each in latencies.items()},
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    ratios, names = result["ratios"], ("plain", "through")
    rows = [f"{name:10}{result['perceptions_per_s'][name]:15.0f}{result['single_ms'][name]:16.1f}" for name in names]
    lines = [f"{'':10}{'perceptions/s':>15}{'one batch, ms':>16}", *rows]
    lines.append(
        f"ratio {result['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds); batches of"
        f" {result['batch']}, {result['window']} unanswered, durable"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain", metavar="HOST:PORT", help="plain text, no token")
    parser.add_argument("--through", metavar="HOST:PORT", help="TLS and a token")
    parser.add_argument("--ca", type=Path, metavar="FILE", help="who signed the certificate there")
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="with the scope perceive")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a run")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batch", type=int, default=64, help="perceptions in a batch")
    parser.add_argument("--window", type=int, default=32, help="unanswered batches")
    parser.add_argument("--serve", type=Path, metavar="DIR", help="be a gateway by itself, with its stores there")
    arguments = parser.parse_args()
    if arguments.serve is not None:
        arguments.serve.mkdir(parents=True, exist_ok=True)
        asyncio.run(serve(arguments.serve))
        return
    if None in (arguments.plain, arguments.through, arguments.ca, arguments.token_file):
        parser.error("--plain, --through, --ca and --token-file say which two ways to compare")
    result = asyncio.run(measure(arguments))
    print(json.dumps(result) if arguments.json else table(result))


if __name__ == "__main__":
    main()
