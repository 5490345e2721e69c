"""How well salience says the chance that somebody would want a line, on streams whose lines are labelled.

    python benchmarks/calibration.py [--seeds 3] [--json]

Streams of eight kinds (benchmarks/corpora/incidents.yaml), cold and warm, and the example's day are replayed with the
default mind. Wanted is what cites a line of an incident, or of a story. For the percepts and for the entries of the
stream: the share that was wanted in each tenth of salience, the mean gap between the two (ECE), and how far salience is
spread (standard deviation); beside it the gap of the level, which is salience before it is calibrated. For each kind in
turn, slope and even level are fitted without it (Platt, 1999), every kind counting alike: ``gap of that fit``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from corpus import perceptions
from day import EXAMPLES, labels
from incident_streams import streams
from numpy.typing import NDArray
from thoughts import shown

from environment.messages import EntryKind, NewPerception, ThoughtKind
from environment.severity import level_of, log_odds, salience_of
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay

TENTHS = 10
_ROUNDS = 50
_TRACES = 10
"""Traces of a line, at most."""
Judged = NDArray[np.float64]
"""``(n, 2)``: salience, and 1 where it was wanted."""


async def judged(history: Sequence[NewPerception], wanted: frozenset[str], seed: int) -> tuple[Judged, Judged]:
    """The percepts of a replay, as salient as they were perceived, and the thoughts of its stream."""
    with tempfile.TemporaryDirectory(prefix="submind-bench-") as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        try:
            entries = [e async for e in Replay(Settings(), stores, seed=seed).run(history)]
            ids = {p.id for p in await stores.perceptions.read(0, len(history) + 1) if p.key in wanted}
            _, traces = await stores.traces.changes(0, len(history) * _TRACES)
            first = [(await stores.traces.revisions(trace.id))[0].thought for trace in traces]
        finally:
            await stores.close()
    percepts = [t for t in first if t.kind is ThoughtKind.PERCEPT]
    thoughts = [e for e in entries if e.kind is EntryKind.THOUGHT]
    told = [(salience_of(t.salience), any(p.id in ids for p in t.perceptions)) for t in percepts]
    said = [(e.salience, any(p.id in ids for p in e.perceptions)) for e in thoughts]
    return np.array(told).reshape(-1, 2), np.array(said).reshape(-1, 2)


def gap(salience: NDArray[np.float64], wanted: NDArray[np.float64]) -> float:
    """Expected calibration error: mean gap between salience and what was wanted, in tenths, by how many are in each."""
    return sum(len(own) / len(salience) * abs(float(own.mean() - was.mean())) for own, was in tenths(salience, wanted))


def tenths(salience: NDArray[np.float64], wanted: NDArray[np.float64]) -> list[tuple[Judged, Judged]]:
    places = np.minimum((salience * TENTHS).astype(int), TENTHS - 1)
    return [(salience[places == n], wanted[places == n]) for n in range(TENTHS) if (places == n).any()]


def fitted(kinds: Sequence[Judged]) -> tuple[float, float]:
    """Slope and intercept of Platt's calibration over log odds of the level, by Newton's method; all kinds alike."""
    rows = np.concatenate(kinds)
    weight = np.concatenate([np.full(len(kind), 1 / len(kind)) for kind in kinds])
    x = np.column_stack([[log_odds(level_of(s)) for s in rows[:, 0]], np.ones(len(rows))])
    found = np.zeros(2)
    for _ in range(_ROUNDS):
        p = 1 / (1 + np.exp(-x @ found))
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x
        found -= np.linalg.solve(curve + 1e-9 * np.eye(2), x.T @ (weight * (p - rows[:, 1])))
    return float(found[0]), float(found[1])


def figures(by: Mapping[str, Judged]) -> dict[str, dict[str, float]]:
    """By kind, and of all."""
    found: dict[str, dict[str, float]] = {}
    for kind, rows in {"all": np.concatenate(list(by.values())), **by}.items():
        salience, wanted = rows[:, 0], rows[:, 1]
        levels = np.array([level_of(s) for s in salience])
        of = found[kind] = {"judged": len(rows), "wanted": float(wanted.mean()), "gap": gap(salience, wanted)}
        of |= {
            "gap of the level": gap(levels, wanted),
            "spread": float(salience.std()),
            "spread of the level": float(levels.std()),
        }
        if kind in by:
            slope, offset = fitted([other for name, other in by.items() if name != kind])
            odds = slope * np.array([log_odds(level) for level in levels]) + offset
            of |= {"slope fitted without it": slope, "even level": 1 / (1 + math.exp(offset / slope))}
            of["gap of that fit"] = gap(1 / (1 + np.exp(-odds)), wanted)
        else:
            of |= {
                f"wanted at {own.mean():.2f} (of {len(own)})": float(was.mean())
                for own, was in tenths(salience, wanted)
            }
    return found


async def measure(seeds: int) -> dict[str, dict[str, dict[str, float]]]:
    every: dict[str, defaultdict[str, list[Judged]]] = {"percepts": defaultdict(list), "entries": defaultdict(list)}
    for seed in range(seeds):
        given = [
            (stream.kind, stream.history, {n.name for n in stream.incidents}, stream.labels)
            for cold in (True, False)
            for stream in streams(seed, cold=cold)
        ]
        for kind, history, known, labelled in given:
            wanted = frozenset(key for key, label in labelled.items() if label in known)
            for name, rows in zip(every, await judged(history, wanted, seed), strict=True):
                every[name][kind].append(rows)
    stories = frozenset(key for key, label in labels().items() if label.story)
    for name, rows in zip(every, await judged(perceptions(EXAMPLES / "day.jsonl"), stories, 0), strict=True):
        every[name]["the example's day"].append(rows)
    return {name: figures({kind: np.concatenate(rows) for kind, rows in by.items()}) for name, by in every.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of the streams")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    found = asyncio.run(measure(args.seeds))
    if args.json:
        print(json.dumps(found))
        return
    for name, kinds in found.items():
        for kind, of in kinds.items():
            print(f"{name}, {kind}\n{shown(of)}")


if __name__ == "__main__":
    main()
