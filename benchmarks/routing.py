"""What learned routing is worth: against random and all-to-all routing, on the same streams, in the same run.

    python benchmarks/routing.py [--seeds 3] [--messages 720] [--handling 4] [--images docs/images] [--json]

A stream with a hidden structure that shifts halfway (``structure.py``) runs through the real cores in the simulator,
once with each way of routing. A submind needs ``--handling`` seconds for each event, such as a thought it is told. A
message is credited when the receiver's thought that came of it was reinforced, built on or made conscious, within
half an hour. Messages of the last half hour are not counted: they have not had that time. Worn paths and new ones are
compared within the same stretches of time, since paths are worn late in a run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

from curves import Curve, draw
from structure import EVERY, START, settings, stream

from actors.events import Credit, Event, Message, Post, Revise
from actors.submind.connection_registry import LearnedLink
from actors.submind.routing import LEARNED, Routing, RoutingContext
from environment.stores.sqlite import open_stores
from orchestration.simulation.replay import BufferedStores, Replay

SUBMINDS = 18
FAN_OUT = 3
BINS = 16
STRONG, WEAK = 0.6, 0.3
"""Weights from which a path is well worn, and below which it is new."""
HORIZON = 1800.0
"""Seconds that every message has to be credited in: as a submind waits for it (``connections.credit_window``)."""
RECOVERED = 0.9
"""Of the share before the shift: from there on the routing has recovered."""


class RandomRouting:
    """As many as may be told, any of them."""

    def choose(self, it: RoutingContext) -> list[LearnedLink]:
        links: list[LearnedLink] = []
        taken = {*it.exclude, it.owner}
        for _ in range(it.settings.fan_out):
            peer = it.peers.stranger(it.chance, taken)
            if peer is None:
                break
            taken.add(peer.name)
            links.append(_link(peer.name, it))
        return links


class EverybodyRouting:
    """Everybody who listens."""

    def choose(self, it: RoutingContext) -> list[LearnedLink]:
        peers = it.peers.nearest(it.thought.vector, len(it.peers), it.exclude | {it.owner})
        return [_link(peer.name, it) for peer in peers]


def _link(peer: str, it: RoutingContext) -> LearnedLink:
    return LearnedLink(peer, it.settings.initial, ltp=False, last_use=it.now)


ROUTINGS: dict[str, Routing] = {"learned": LEARNED, "random": RandomRouting(), "all-to-all": EverybodyRouting()}


@dataclass
class Ledger:
    """Every message of a run, and what came of it."""

    sent: dict[tuple[str, str], float] = field(default_factory=dict)
    """(receiver, thought) to when."""
    weight: dict[tuple[str, str], float] = field(default_factory=dict)
    """Of the connection that a message went along."""
    of: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    """Thought of a receiver to the messages it came of."""
    made: dict[tuple[str, str], float] = field(default_factory=dict)
    """Message to when the receiver's thought was made."""
    credited: dict[tuple[str, str], float] = field(default_factory=dict)
    """Message to when it was credited first."""
    useful: dict[str, float] = field(default_factory=dict)
    """Thoughts that were credited, and when they were made."""

    def watch(self, now: float, _: str, to: str, event: Event) -> None:
        match event:
            case Message():
                self.sent.setdefault((to, event.thought.id), now)
                self.weight.setdefault((to, event.thought.id), event.weight)
            case Post():
                for thought in event.thoughts:
                    self._made(thought.id, thought.author, thought.parents, now)
            case Revise():
                self._made(event.trace_id, event.by, event.thought.parents, now)
            case Credit():
                messages = [m for m in self.of.get(event.trace_id, ()) if m[0] == event.peer]
                for message in messages:
                    self.credited.setdefault(message, now)
                if messages:
                    self.useful.setdefault(event.trace_id, min(self.made[m] for m in messages))

    def counted(self, since: float, until: float) -> list[tuple[str, str]]:
        """Messages of a stretch of time."""
        return [message for message, at in self.sent.items() if since <= at < until]

    def came_of(self, message: tuple[str, str]) -> bool:
        """Whether it was credited in time."""
        return self.credited.get(message, float("inf")) - self.sent[message] <= HORIZON

    def _made(self, trace: str, author: str, parents: tuple[str, ...], now: float) -> None:
        for parent in parents:
            message = (author, parent)
            if message in self.sent and message not in self.of[trace]:
                self.of[trace].append(message)
                self.made.setdefault(message, now)


async def measured(routing: str, seed: int, messages: int, handling: float) -> Ledger:
    ledger = Ledger()

    def pace(actor: str) -> float:
        return handling if actor.startswith("desk") else 0.0

    chosen = settings(  # noqa: S604 - a section of that name
        SUBMINDS,
        seed,
        submind={"connections": {"fan_out": FAN_OUT}, "binding": {"least_fit": 0.16, "interest": 0.2}},
        perception={"speak_at": 0.0},
        shell={"batch": 1, "mailbox": 64},
    )
    with tempfile.TemporaryDirectory() as folder:
        stores = BufferedStores(await open_stores(Path(folder), "bench", inline=True, synchronous="OFF"))
        replay = Replay(chosen, stores, seed=seed, routing=ROUTINGS[routing], pace=pace, watch=ledger.watch)
        async for _ in replay.run(stream(messages, seed)):
            pass
        await stores.close()
    return ledger


def run(task: tuple[str, int, int, float]) -> dict[str, object]:
    """One run, as figures."""
    ledger = asyncio.run(measured(*task))
    _, _, messages, _ = task
    length = EVERY * messages
    bins = [ledger_between(ledger, *stretch) for stretch in stretches(length)]
    shares = [share for share, _ in bins]
    shift = next(i for i, (since, _) in enumerate(stretches(length)) if since >= START + length / 2)
    before = _mean(shares[shift // 2 : shift])
    counted = ledger.counted(START, START + length - HORIZON)
    worn = {m for m in counted if ledger.weight[m] >= STRONG}
    new = {m for m in counted if ledger.weight[m] < WEAK}
    of_worn, of_new = alike(ledger, worn, new, length)
    return {
        "messages": len(ledger.sent),
        "credited": sum(map(ledger.came_of, counted)) / max(1, len(counted)),
        "useful": len(ledger.useful),
        "per_useful": len(ledger.sent) / max(1, len(ledger.useful)),
        "before": before,
        "just_after": _mean(shares[shift : shift + 2]),
        "at_the_end": _mean(shares[-BINS // 4 :]),
        "recovered": recovered(shares[shift:], RECOVERED * before, length),
        "wait": _wait(ledger, set(ledger.made)),
        "worn_credited": of_worn,
        "new_credited": of_new,
        "worn_wait": _wait(ledger, worn),
        "new_wait": _wait(ledger, new),
        "shares": shares,
        "spent": [spent for _, spent in bins],
    }


def ledger_between(ledger: Ledger, since: float, until: float) -> tuple[float, float]:
    """Share of the messages of a stretch that were credited, and messages for each useful thought."""
    sent = ledger.counted(since, until)
    useful = sum(since <= at < until for at in ledger.useful.values())
    return sum(map(ledger.came_of, sent)) / max(1, len(sent)), len(sent) / max(1, useful)


def stretches(length: float) -> list[tuple[float, float]]:
    """The stretches of a stream of which every message had its time, all as long."""
    step = (length - HORIZON) / BINS
    return [(START + step * i, START + step * (i + 1)) for i in range(BINS)]


def alike(
    ledger: Ledger, worn: set[tuple[str, str]], new: set[tuple[str, str]], length: float
) -> tuple[float | None, float | None]:
    """Shares credited of worn and of new paths; each stretch of time counts as often as it has worn ones."""
    weights, of_worn, of_new = 0, 0.0, 0.0
    for stretch in stretches(length):
        both = [[m for m in ledger.counted(*stretch) if m in these] for these in (worn, new)]
        if all(both):
            weights += len(both[0])
            shares = [sum(map(ledger.came_of, these)) / len(these) for these in both]
            of_worn, of_new = of_worn + len(both[0]) * shares[0], of_new + len(both[0]) * shares[1]
    return (of_worn / weights, of_new / weights) if weights else (None, None)


def recovered(shares: Sequence[float], wanted: float, length: float) -> float | None:
    """Minutes from the shift until two stretches on end are as good as wanted; None where none are."""
    for i in range(len(shares) - 1):
        if min(shares[i : i + 2]) >= wanted:
            return i * (length - HORIZON) / BINS / 60
    return None


def _wait(ledger: Ledger, messages: set[tuple[str, str]]) -> float | None:
    """Median seconds from a message to the receiver's thought, where one came of it."""
    waits = [ledger.made[m] - ledger.sent[m] for m in messages if m in ledger.made]
    return statistics.median(waits) if waits else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


_TOLD = {
    "messages": "messages",
    "credited": "share credited",
    "useful": "useful thoughts",
    "per_useful": "messages for each",
    "before": "share, 2nd quarter",
    "just_after": "share, just after the shift",
    "at_the_end": "share, last quarter",
    "recovered": "minutes to 0.9 of that before",
    "wait": "median wait, s",
    "worn_credited": "share credited, worn paths",
    "new_credited": "share credited, new paths",
    "worn_wait": "median wait, worn paths, s",
    "new_wait": "median wait, new paths, s",
}


def _summary(runs: Sequence[dict[str, object]], key: str) -> tuple[float, float] | None:
    values = [float(r[key]) for r in runs if r[key] is not None]  # type: ignore[arg-type]  # figures
    return (_mean(values), statistics.pstdev(values)) if values else None


def _curves(found: dict[str, list[dict[str, object]]], key: str) -> list[Curve]:
    made = []
    for name, runs in found.items():
        columns = list(zip(*(r[key] for r in runs), strict=True))  # type: ignore[call-overload]  # lists
        made.append(Curve(name, [_mean(c) for c in columns], [min(c) for c in columns], [max(c) for c in columns]))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="streams, each with a structure of its own")
    parser.add_argument("--messages", type=int, default=720, help="perceptions of a stream, one a minute")
    parser.add_argument("--handling", type=float, default=4.0, help="seconds a submind needs for each event")
    parser.add_argument("--processes", type=int, default=2, help="runs at a time")
    parser.add_argument("--images", type=Path, help="write the curves here")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    tasks = [(name, seed, args.messages, args.handling) for seed in range(1, args.seeds + 1) for name in ROUTINGS]
    found: dict[str, list[dict[str, object]]] = defaultdict(list)
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as pool:
        for task, figures in zip(tasks, pool.map(run, tasks), strict=True):
            found[task[0]].append(figures)
    if args.images:
        hours = (args.messages * EVERY - HORIZON) / 3600
        shift = ("the structure shifts", 0.5 * args.messages * EVERY / 3600 / hours)
        text = draw("Share of messages credited", _curves(found, "shares"), hours, shift)
        (args.images / "routing-credited.svg").write_text(text, "utf-8")
        text = draw("Messages for each useful thought", _curves(found, "spent"), hours, shift)
        (args.images / "routing-spent.svg").write_text(text, "utf-8")
    if args.json:
        print(json.dumps(found))
        return
    print(f"{args.seeds} streams of {args.messages} perceptions, {SUBMINDS} subminds: mean (standard deviation)")
    print(f"  {'':<30}" + "".join(f"{name:>20}" for name in found))
    for key, told in _TOLD.items():
        cells = (_summary(runs, key) for runs in found.values())
        print(f"  {told:<30}" + "".join(f"{f'{c[0]:.3g} ({c[1]:.2g})' if c else '-':>20}" for c in cells))


if __name__ == "__main__":
    main()
