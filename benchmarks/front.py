"""Durable acknowledgements through a front against straight to the leader, in one run.

How it is measured, and why so:

- The leader is the gateway of ``gateway.py`` on real stores in a fresh folder; the front is a gateway of its own
  process, whose log is the leader's (``orchestration/front``). Both check every batch. The client is that of
  ``gateway.py``, with one stream (or more) and as many unanswered messages as the gateway lets one caller have.
- A round is a short run straight to the leader and then one through the front; both write to the same log. The ratio
  is the median of the rounds' ratios. The first round warms up and is not counted.
- ``--fronts 2`` has the same client drive so many fronts at once, each with as many streams. On a machine with fewer
  cores than processes that tells little: the CPU time for a message, of leader and fronts, is printed beside it.
- ``--keyless`` leaves the idempotency keys out, so that the front makes them, and the leader, asked directly, has none.

    python benchmarks/front.py [--json] [--seconds 1.5] [--rounds 5] [--fronts 1] [--batch 64] [--keyless]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import secrets
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gateway import PERCEIVE, Server, drive, messages, serving

from orchestration.front.leaders import Leaders
from orchestration.front.relay import RelayedLog
from orchestration.front.settings import FrontSettings
from orchestration.front.upstream import Upstream
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.settings import GatewaySettings
from orchestration.pb.submind.v1 import perception_pb2 as pb

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


async def serve_front(leader: str) -> None:
    """A front, as ``submind serve`` runs it, without the readers."""
    settings, front = GatewaySettings(listen="127.0.0.1:0"), FrontSettings(leader=leader)
    leaders = Leaders(leader)
    upstream = Upstream(leaders, front, message_bytes=settings.message_bytes, token_file=None)
    relay = RelayedLog(
        leaders,
        upstream,
        front,
        message_bytes=settings.message_bytes,
        per_second=0.0,
        token=lambda: secrets.token_urlsafe(12),
        chance=random.Random(1),
    )
    server = GatewayServer(Intake(relay, settings.intake, time.time), {}, settings)
    print(await server.start(), flush=True)
    await relay.run()


def serving_front(leader: Server) -> AbstractContextManager[Server]:
    """A front in a process of its own."""
    return serving("--serve", f"127.0.0.1:{leader.port}", script=__file__)


@dataclass(frozen=True)
class Round:
    """One round: batches a second, and CPU time for one in microseconds."""

    straight: float
    through: float
    leader_straight_us: float
    leader_through_us: float
    fronts_us: float
    p50_straight_ms: float
    p50_through_ms: float


def keyless(message: bytes) -> bytes:
    """The same without keys."""
    request = pb.PerceiveStreamRequest.FromString(message)
    for one in request.perceptions:
        one.ClearField("key")
    return request.SerializeToString()


async def one_round(leader: Server, fronts: list[Server], sent: list[bytes], arguments: argparse.Namespace) -> Round:
    """Straight, then through all fronts at once; no message is sent twice."""
    supply = iter(sent)
    shape = (arguments.streams, arguments.window, arguments.seconds)
    straight = await drive(leader, PERCEIVE, supply, *shape)
    spent = leader.cpu()
    through = await asyncio.gather(*(drive(front, PERCEIVE, supply, *shape) for front in fronts))
    rate = sum(one.batches_per_s for one in through)
    batches = rate * arguments.seconds
    return Round(
        straight.batches_per_s,
        rate,
        straight.server_cpu_us,
        (leader.cpu() - spent) / batches * 1e6,
        statistics.mean(one.server_cpu_us for one in through),
        straight.p50_ms,
        statistics.median(one.p50_ms for one in through),
    )


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Rounds, and what they come to."""
    rounds: list[Round] = []
    most = arguments.most
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(dir=arguments.directory))
        leader = stack.enter_context(serving("--serve", "gateway", "--directory", directory))
        fronts = [stack.enter_context(serving_front(leader)) for _ in range(arguments.fronts)]
        for number in range(arguments.rounds + 1):
            sent = messages(int(2 * arguments.seconds * most), arguments.batch, number)
            if arguments.keyless:
                sent = [keyless(message) for message in sent]
            rounds.append(asyncio.run(one_round(leader, fronts, sent, arguments)))
            most = int(1.5 * max(rounds[-1].straight, rounds[-1].through)) + 100
    del rounds[0]
    ratios = [one.through / one.straight for one in rounds]
    columns = zip(*(vars(one).values() for one in rounds), strict=True)
    return {
        "benchmark": "front",
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "batch": arguments.batch,
        "fronts": arguments.fronts,
        "keyless": arguments.keyless,
        **dict(zip(vars(rounds[0]), map(statistics.median, columns), strict=True)),
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    ratios = result["ratios"]
    return "\n".join(
        [
            f"{'':10}{'batches/s':>12}{'p50 ms':>10}{'leader CPU us':>16}{'front CPU us':>15}",
            (
                f"{'straight':10}{result['straight']:12.0f}{result['p50_straight_ms']:10.2f}"
                f"{result['leader_straight_us']:16.0f}{'':15}"
            ),
            (
                f"{'through':10}{result['through']:12.0f}{result['p50_through_ms']:10.2f}"
                f"{result['leader_through_us']:16.0f}{result['fronts_us']:15.0f}"
            ),
            (
                f"ratio {result['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds);"
                f" batches of {result['batch']}, {result['fronts']} front(s)"
                f"{', without keys' if result['keyless'] else ''}"
            ),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--seconds", type=float, default=1.5, help="length of a run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fronts", type=int, default=1)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--window", type=int, default=64, help="unanswered batches on each stream")
    parser.add_argument("--batch", type=int, default=64, help="perceptions in a batch")
    parser.add_argument("--keyless", action="store_true", help="leave idempotency keys out")
    parser.add_argument("--most", type=int, default=2000, help="batches a second that are prepared to warm up")
    parser.add_argument("--directory", type=Path, help="where the stores are written")
    parser.add_argument("--serve", metavar="LEADER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve_front(arguments.serve))
        return
    result = measure(arguments)
    print(json.dumps(result) if arguments.json else table(result))


if __name__ == "__main__":
    main()
