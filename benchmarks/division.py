"""What dividing is worth: one overloaded submind with topics of two worlds, that may divide, and that may not.

    python benchmarks/division.py [--lines 1600] [--apart 2] [--pace 4] [--seeds 3] [--json]

The simulator runs a mind of real cores with one cognitive submind that takes ``--pace`` seconds of virtual time for
each event, on a made-up stream about two worlds that have nothing to do with each other, in which stories are hidden:
two sources that name the same thing ten to twenty-five minutes apart. Each seed is run three times: ``fixed`` (growth
is not allowed), ``divides`` (at most ``--children`` may be born), and ``unhurried`` (handling takes no time: what the
same mind could do). Reported over the last half of the stream, when who is to be born has been:

- percepts taken in, each counted once, and messages handled, which count a percept once for everybody it was sent to;
- messages dropped by full mailboxes, and how long one waits (median, 95 %, seconds);
- stories bound (an insight rests on both lines), and stories of which the stream of consciousness tells anything, or
  the whole (one thought rests on both lines):
  it may have 30 thoughts an hour here, for at the default rate it has one to three in half a run, whatever happens;
- for ``divides``: seconds from the first reading of a mailbox more than half full to the first birth, and from there
  until the parent's is less than a quarter full for a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from worlds import Story, history

from actors.attention.settings import AttentionSettings
from actors.events import Event, Message
from actors.growth import Pressure
from actors.settings import BindingSettings, CognitiveSettings, DivisionSettings, ShellSettings
from actors.shell import ActorShell
from actors.submind.core import SubmindCore
from environment.messages import NewPerception, ThoughtKind
from environment.population import GrowthKind, read_growth
from environment.stores.sqlite import open_stores
from orchestration.growth.settings import GrowthSettings
from orchestration.settings import Settings, SubmindSettings
from orchestration.simulation.replay import Replay

PARENT = "association"
OVERLOAD, RELIEF = 0.5, 0.25
MINUTE = 60.0
STORIES = 60
PER_HOUR = 30.0
"""Thoughts that may become conscious: at the default of 6 the second half of a run has one to three of them."""


@dataclass
class Watch:
    """What is seen of the mailboxes of cognitive subminds, from outside."""

    begins: float
    half: float
    came: dict[tuple[str, str], float] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    use: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    handled: int = 0
    taken: set[str] = field(default_factory=set)
    dropped: int = 0

    def shell(self, shell: ActorShell) -> ActorShell:
        """The same shell, watched."""
        if isinstance(shell.core, SubmindCore):
            shell.offer = self._offer(shell)  # type: ignore[method-assign]
            shell.core.handle = self._handle(shell.core)  # type: ignore[method-assign]
        return shell

    def _offer(self, shell: ActorShell) -> Callable[[Event, float, float], None]:
        offer = shell.offer

        def watched(event: Event, priority: float, now: float) -> None:
            before = shell.mailbox.dropped
            if isinstance(event, Message):
                self.came[shell.name, event.thought.id] = now
            offer(event, priority, now)
            if now >= self.half:
                self.dropped += shell.mailbox.dropped - before

        return watched

    def _handle(self, core: SubmindCore) -> Callable[[Event, float], list]:
        handle = core.handle

        def watched(event: Event, now: float) -> list:
            if isinstance(event, Pressure):
                self.use[core.name].append((now, event.use))
            if isinstance(event, Message) and now >= self.half:
                self.handled += 1
                self.taken.add(event.thought.id)
                self.waits.append(now - self.came.get((core.name, event.thought.id), now))
            return handle(event, now)

        return watched

    def overloaded(self, name: str, before: float) -> float | None:
        """When the overload began that lasted until ``before``."""
        since: float | None = None
        for at, use in self.use[name]:
            if at > before:
                break
            since = None if use < RELIEF else at if since is None and use >= OVERLOAD else since
        return since

    def relieved(self, name: str, after: float) -> float | None:
        """When the mailbox had been less than a quarter full for a minute."""
        since: float | None = None
        for at, use in self.use[name]:
            since = None if use >= RELIEF or at < after else at if since is None else since
            if since is not None and at - since >= MINUTE:
                return at
        return None


class Watched(Replay):
    """A replay whose shells are watched."""

    watch: Watch

    async def _be_born(self, name: str) -> ActorShell:
        return self.watch.shell(await super()._be_born(name))


def settings(divides: bool, children: int, settle: float) -> Settings:
    base = Settings()
    others = tuple(s for s in base.mind.subminds if s.role != "cognitive")
    goals = ("Connect things that different sources say at different times about the same thing or cause.",)
    one = SubmindSettings(name=PARENT, goals=goals)
    ceiling = len(others) + 1 + (children if divides else 0)
    return base.model_copy(
        update={
            "mind": base.mind.model_copy(update={"subminds": (*others, one)}),
            "shell": ShellSettings(mailbox=64, batch=4),
            "submind": CognitiveSettings(
                binding=BindingSettings(per_hour=600),
                division=DivisionSettings(overload=OVERLOAD, relief=RELIEF, settle=settle),
            ),
            "growth": GrowthSettings(ceiling=ceiling, settle=settle),
            "attention": AttentionSettings(per_hour=PER_HOUR),
        }
    )


async def lived(
    lines: list[NewPerception],
    stories: list[Story],
    seed: int,
    *,
    divides: bool,
    pace: float,
    children: int,
    settle: float,
) -> dict[str, float | None]:
    watch = Watch(lines[0].time, lines[0].time + (lines[-1].time - lines[0].time) / 2)
    others = {"environment", "stream", "attention", "thinking"}
    config = settings(divides, children, settle)
    others |= {s.name for s in config.mind.subminds if s.name != PARENT}
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        world = Watched(config, stores, seed=seed, pace=lambda name: 0.0 if name in others else pace)
        world.watch = watch
        entries = [e async for e in world.run(lines)]
        keys = {p.id: p.key or "" for p in await stores.perceptions.read(0, 10**6)}
        bound: list[set[str]] = []
        at = 0
        while True:
            reached, traces = await stores.traces.changes(at, 10_000)
            bound += [
                {keys[p.id] for p in t.thought.perceptions} for t in traces if t.thought.kind is ThoughtKind.INSIGHT
            ]
            if not traces or reached == at:
                break
            at = reached
        events = await read_growth(stores.collections, 0, 10_000)
        await stores.close()
    late = [s for s in stories if next(p.time for p in lines if p.key == s.keys[0]) >= watch.half]
    told = {keys[p.id] for e in entries for p in e.perceptions}
    conscious = [e for e in entries if e.at >= watch.half]
    rests = [{keys[p.id] for p in e.perceptions} for e in entries]
    of_stories = {key for s in stories for key in s.keys}
    births = [e.at for e in events if e.kind is GrowthKind.DIVIDED]
    overload = watch.overloaded(PARENT, births[0]) if births else None
    relieved = watch.relieved(PARENT, births[0]) if births else None
    waits = sorted(watch.waits) or [0.0]
    return {
        "taken_in": len(watch.taken),
        "handled": watch.handled,
        "dropped": watch.dropped,
        "drop_share": watch.dropped / max(1, watch.handled + watch.dropped),
        "wait_p50": waits[len(waits) // 2],
        "wait_p95": waits[int(len(waits) * 0.95)],
        "stories_bound": sum(any(set(s.keys) <= b for b in bound) for s in late) / max(1, len(late)),
        "stories_told": sum(bool(told & set(s.keys)) for s in late) / max(1, len(late)),
        "conscious": len(conscious),
        "conscious_of_stories": sum(any(keys[p.id] in of_stories for p in e.perceptions) for e in conscious),
        "stories_told_whole": sum(any(set(s.keys) <= each for each in rests) for s in late) / max(1, len(late)),
        "births": len(births),
        "overload_to_birth_s": births[0] - overload if overload is not None else None,
        "birth_to_relief_s": relieved - births[0] if relieved is not None else None,
        "overload_to_relief_s": relieved - overload if relieved is not None and overload else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1600, help="lines of the stream")
    parser.add_argument("--apart", type=float, default=2.0, help="mean seconds between two lines")
    parser.add_argument("--pace", type=float, default=4.0, help="seconds a cognitive submind takes for an event")
    parser.add_argument("--children", type=int, default=3, help="how many may be born")
    parser.add_argument("--settle", type=float, default=300.0, help="seconds from one division to the next")
    parser.add_argument("--seeds", type=int, default=3, help="streams")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    ways = {
        "fixed": {"divides": False, "pace": args.pace},
        "divides": {"divides": True, "pace": args.pace},
        "unhurried": {"divides": False, "pace": 0.0},
    }
    runs: dict[str, list[dict[str, float | None]]] = {way: [] for way in ways}
    begun = time.perf_counter()
    for seed in range(args.seeds):
        lines, stories = history(args.lines, args.apart, seed, STORIES)
        for way, how in ways.items():
            runs[way].append(
                asyncio.run(lived(lines, stories, seed, children=args.children, settle=args.settle, **how))
            )
    figures = {
        way: {name: _median([run[name] for run in rows]) for name in rows[0]} for way, rows in runs.items() if rows
    }
    if args.json:
        print(json.dumps({"runs": runs, "median": figures}))
        return
    print(f"median of {args.seeds} streams of {args.lines} lines, second half ({time.perf_counter() - begun:.0f} s)")
    print(f"  {'':<22}" + "".join(f"{way:>12}" for way in ways))
    for name in figures["fixed"]:
        row = [figures[way][name] for way in ways]
        print(f"  {name:<22}" + "".join(f"{'-' if v is None else format(v, '.2f'):>12}" for v in row))
    fixed, divides = figures["fixed"], figures["divides"]
    for name in ("taken_in", "wait_p50", "stories_bound"):
        if fixed[name] and divides[name] is not None:
            print(f"  {name}, divides over fixed: {divides[name] / fixed[name]:.2f}")


def _median(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


if __name__ == "__main__":
    main()
