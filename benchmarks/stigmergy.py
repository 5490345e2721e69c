"""What the shared environment is worth: stories that need two subminds who have never heard of each other.

    python benchmarks/stigmergy.py [--seeds 3] [--stories 24] [--json]

A story is two reports of one case, ten minutes apart, each about a subject of its own; who listens to the one
subject is not told of the other. It is found when a thought rests on both. The same stream runs through the real cores
in the simulator in three ways:

- without crawling: of what it meets in the environment a submind sees only what it was told or thought itself;
- with crawling, as a mind is;
- with crawling for the first half only: what is found later comes along connections that crawling left.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from structure import START, SUBJECTS, name_of

from actors.events import Crawl, Event, Found, Message, Post, Revise
from environment.messages import NewPerception, Thought
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import BufferedStores, Replay

APART = 600.0
BETWEEN = 300.0
ASKED, MANY = 8, 1000
"""Traces that a crawl asks for; and where most of those are hidden, so that as many remain."""
WAYS = ("without crawling", "with crawling", "first half only")


def settings() -> Settings:
    """Two subminds for each subject, who try nobody by chance."""
    desks = [{"name": f"desk-{i}", "goals": [SUBJECTS[i // 2]]} for i in range(2 * len(SUBJECTS))]
    text = {"name": "text", "role": "perceptual", "goals": ["Read what people say."]}
    return Settings.model_validate(
        {
            "mind": {"name": "bench", "goals": ["Notice what matters."], "subminds": [text, *desks]},
            "submind": {"connections": {"explore": 0.0, "fan_out": 3}, "binding": {"interest": 0.0, "least_fit": 0.0}},
            "perception": {"speak_at": 0.0},
        }
    )


def stream(stories: int, seed: int) -> Iterator[NewPerception]:
    """The reports of ``stories``; subjects go in pairs, the same throughout."""
    chance = random.Random(seed)
    order = list(range(len(SUBJECTS)))
    chance.shuffle(order)
    for n in range(stories):
        case, pair = name_of(chance), order[2 * n % len(order) :][:2]
        for part, subject in enumerate(pair):
            words = chance.sample(SUBJECTS[subject].split(), 4)
            text = f"{case}: {words[0]} and {words[1]}, {words[2]} with {words[3]} at {case}."
            time = START + n * (APART + BETWEEN) + part * APART
            yield NewPerception(f"source-{subject}", time, time, text=text, key=f"{n}/{part}", trust=0.8)


@dataclass
class Ledger:
    """Who was told of what, and what was made of it."""

    told: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Receiver to the thoughts that came to it along a connection, or are its own."""
    thoughts: list[Thought] = field(default_factory=list)
    """Those that rest on several perceptions."""
    first: dict[str, str] = field(default_factory=dict)
    """Perception to the thought that was first made of it."""

    def watch(self, _: float, sender: str, to: str, event: Event) -> None:
        match event:
            case Message(thought):
                self.told[to].add(thought.id)
            case Post(thoughts=thoughts):
                for thought in thoughts:
                    self._made(sender, thought)
            case Revise(thought=thought):
                self._made(sender, thought)

    def _made(self, author: str, thought: Thought) -> None:
        self.told[author].add(thought.id)
        if len(thought.perceptions) > 1:
            self.thoughts.append(thought)
        for perception in thought.perceptions:
            self.first.setdefault(perception.id, thought.id)


@dataclass
class Outcome:
    """Of each story of a run."""

    found: list[bool]
    """A thought rests on both reports."""
    told: list[bool]
    """Somebody was told of both along connections."""


async def measured(way: str, stories: int, seed: int) -> Outcome:
    """One run."""
    ledger = Ledger()
    half = START + stories / 2 * (APART + BETWEEN)

    def veil(sender: str, to: str, event: Event) -> Event:
        blind = way == WAYS[0] or (way == WAYS[2] and replay.world.now >= half)
        if blind and isinstance(event, Crawl) and sender.startswith("desk"):
            return replace(event, k=MANY)
        if not (blind and isinstance(event, Found) and to.startswith("desk")):
            return event
        known = [n for n, trace in enumerate(event.traces) if trace.thought.id in ledger.told[to]][:ASKED]
        traces, scores = (tuple(all_of[n] for n in known) for all_of in (event.traces, event.scores))
        return replace(event, traces=traces, scores=scores)

    with tempfile.TemporaryDirectory() as folder:
        stores = BufferedStores(await open_stores(Path(folder), "bench", inline=True, synchronous="OFF"))
        replay = Replay(settings(), stores, seed=seed, watch=ledger.watch, veil=veil)
        async for _ in replay.run(stream(stories, seed)):
            pass
        logged = await stores.perceptions.read(0, 2 * stories)
        await stores.close()
    ids = {perception.key: perception.id for perception in logged}
    outcome = Outcome([], [])
    for n in range(stories):
        both = {ids[f"{n}/0"], ids[f"{n}/1"]}
        outcome.found.append(any(both <= {p.id for p in thought.perceptions} for thought in ledger.thoughts))
        reports = {ledger.first[p] for p in both if p in ledger.first}
        outcome.told.append(any(reports <= known for desk, known in ledger.told.items() if desk.startswith("desk")))
    return outcome


def figures(runs: list[tuple[Outcome, Outcome]], stories: int) -> dict[str, float]:
    """Shares of the stories that need two who are not connected: where nobody is told of both without crawling."""
    parts = {"first": range(stories // 2), "second": range(stories // 2, stories)}
    made: dict[str, float] = {}
    for name, part in parts.items():
        those = [(run, n) for run, blind in runs for n in part if not blind.told[n]]
        made[f"stories, {name} half"] = len(those)
        made[f"found, {name} half"] = sum(run.found[n] for run, n in those) / max(1, len(those))
        made[f"told of both, {name} half"] = sum(run.told[n] for run, n in those) / max(1, len(those))
    return made


def run(seeds: int, stories: int) -> dict[str, dict[str, float]]:
    """Every way, on the same streams."""
    runs = {way: [asyncio.run(measured(way, stories, seed)) for seed in range(seeds)] for way in WAYS}
    blind = runs[WAYS[0]]
    return {way: figures(list(zip(outcomes, blind, strict=True)), stories) for way, outcomes in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="streams")
    parser.add_argument("--stories", type=int, default=24, help="stories of a stream")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    result = run(args.seeds, args.stories)
    if args.json:
        print(json.dumps({"benchmark": "stigmergy", "seeds": args.seeds, "stories": args.stories, "ways": result}))
        return
    print(
        f"{args.seeds} streams of {args.stories} stories; those that need two who are not connected, and shares of them"
    )
    print(f"  {'':<28}" + "".join(f"{way:>20}" for way in result))
    for key in next(iter(result.values())):
        print(f"  {key:<28}" + "".join(f"{row[key]:>20.3g}" for row in result.values()))


if __name__ == "__main__":
    main()
