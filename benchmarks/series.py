"""Whether what a mind says of series of numbers is about their anomalies, and whether it says all of them.

    python benchmarks/series.py [DATA] [--half 0|1] [--made 2] [--percepts] [--thoughts 4] [--seed 0] [--json]

DATA is a folder with one file of JSON lines for each series (``time``, ``source``, ``telemetry``) and ``windows.jsonl``
(``series``, ``from``, ``to``), as of the Numenta Anomaly Benchmark; its files are told apart in two halves, one to tune
on and one to report. Beside them are made series of nine kinds, ``--made`` of each. Every series is replayed by itself
with the default mind, which may have 4 thoughts of it. Precision is the share of thoughts whose event time lies inside
a window, without further tolerance; recall the share of windows with a thought. ``--percepts`` measures without a mind:
the percepts of the highest salience. Baselines have as many picks: random ones (mean of 200 draws), and the readings
furthest from the mean of the 288 before them, in their standard deviations, at least a fiftieth of the series apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from corpus import instant, objects, perceptions
from thoughts import share, shown, thoughts

from actors.perception.settings import PerceptionSettings
from actors.perception.telemetry import TelemetryInterpreter
from environment.messages import NewPerception, Perception

BEGINS, EVERY, LENGTH, DAY = 1_772_409_600.0, 300.0, 4032, 288
"""Made series: two weeks, a reading every five minutes."""
ROLLING = 288
KINDS = ("season", "level", "variance", "dropout", "spike", "flatline", "drift", "together", "nothing")


@dataclass(frozen=True)
class Series:
    """Readings in order of time, and the (from, to) of what is wrong with them."""

    name: str
    kind: str
    history: list[NewPerception]
    windows: list[tuple[float, float]]


@dataclass
class Tally:
    """Sums over series."""

    thoughts: int = 0
    inside: int = 0
    windows: int = 0
    met: int = 0
    others: dict[str, list[float]] = field(default_factory=dict)
    """By baseline: how many of its picks lay inside, how many windows they met."""

    def add(self, series: Series, times: Sequence[float], seed: int) -> None:
        inside, met = found(series, times)
        self.thoughts += len(times)
        self.windows += len(series.windows)
        self.inside += inside
        self.met += met
        for name, (hits, reached) in baselines(series, len(times), seed).items():
            sums = self.others.setdefault(name, [0.0, 0.0])
            sums[0] += hits
            sums[1] += reached

    def figures(self) -> dict[str, float | None]:
        figures = {
            "thoughts": self.thoughts,
            "windows": self.windows,
            "precision": share(self.inside, self.thoughts),
            "recall": share(self.met, self.windows),
        }
        for name, (inside, met) in self.others.items():
            figures[f"{name}: precision"] = inside / self.thoughts if self.thoughts else None
            figures[f"{name}: recall"] = met / self.windows if self.windows else None
        return figures


def found(series: Series, times: Sequence[float]) -> tuple[int, int]:
    """How many times lie inside a window, and how many windows have one."""
    inside = sum(any(a <= t <= b for a, b in series.windows) for t in times)
    return inside, sum(any(a <= t <= b for t in times) for a, b in series.windows)


def baselines(series: Series, picks: int, seed: int) -> dict[str, tuple[float, float]]:
    times = [p.time for p in series.history]
    chance = random.Random(seed)
    draws = np.mean([found(series, chance.sample(times, picks)) for _ in range(200)], axis=0)
    far = np.max([deviations([p.telemetry[m] for p in series.history]) for m in series.history[0].telemetry], axis=0)
    apart, picked = (times[-1] - times[0]) / 50, list[float]()
    for i in np.argsort(-far, kind="stable"):
        if len(picked) < picks and all(abs(times[i] - t) >= apart for t in picked):
            picked.append(times[i])
    return {"random": (draws[0], draws[1]), "rolling z-score": found(series, picked)}


def deviations(values: Sequence[float]) -> list[float]:
    """Of each reading from those before it."""
    far = [0.0] * len(values)
    for i in range(8, len(values)):
        before = np.asarray(values[max(0, i - ROLLING) : i])
        far[i] = abs(values[i] - before.mean()) / (before.std() + 1e-9)
    return far


def files(folder: Path, half: int | None) -> Iterator[Series]:
    windows = {(x["series"], instant(x["from"]), instant(x["to"])) for x in objects(folder / "windows.jsonl")}
    names = sorted(path.stem for path in folder.glob("*.jsonl") if path.stem != "windows")
    for i, name in enumerate(names):
        if half in (None, i % 2):
            history = perceptions(folder / f"{name}.jsonl")
            yield Series(name, "files", history, sorted((a, b) for of, a, b in windows if of == name))


def made(kind: str, seed: int) -> Series:
    """Two weeks of a noisy metric, most of them with the rhythm of a day, with one thing wrong in the second week."""
    chance = random.Random(f"{seed} {kind}")
    noise, swing, base = chance.uniform(0.5, 3), chance.choice([0.0, 10.0, 25.0]), chance.uniform(20, 400)
    swing = 20.0 if kind == "season" else swing
    at, last = chance.randrange(LENGTH // 2, LENGTH * 4 // 5), 0
    metrics = ["queue_depth", "cpu_pct", "latency_ms"] if kind == "together" else ["queue_depth"]
    size = chance.choice([-1, 1]) * (12 * noise + (swing if kind != "season" else 0))
    history = []
    for i in range(LENGTH):
        telemetry = {}
        for k, metric in enumerate(metrics):
            wave = swing * math.sin(2 * math.pi * i / DAY + k)
            value = base * (k + 1) + wave + chance.gauss(0, noise)
            lasting = i - at
            if kind in {"level", "together"} and lasting >= 0:
                value += size
            elif kind == "spike" and 0 <= lasting < 3:
                value += 2 * size
            elif kind == "variance" and 0 <= lasting < DAY:
                value += chance.gauss(0, 6 * noise)
            elif kind == "flatline" and 0 <= lasting < DAY:
                value = last or value
            elif kind == "drift" and lasting >= 0:
                value += 2 * size * min(1.0, lasting / DAY)
            elif kind == "season" and 0 <= lasting < DAY:
                value -= wave
            last = value
            telemetry[metric] = round(value, 3)
        if kind != "dropout" or not at <= i < at + 36:
            time = BEGINS + EVERY * i
            history.append(NewPerception("rack", time=time, received=time, telemetry=telemetry, key=str(i), trust=0.4))
    begin = BEGINS + EVERY * at
    return Series(f"{kind}-{seed}", kind, history, [] if kind == "nothing" else [(begin, begin + EVERY * DAY * 1.25)])


def perceived(series: Series, most: int) -> list[float]:
    """Times of the most salient percepts."""
    interpreter = TelemetryInterpreter(4, PerceptionSettings())
    percepts = []
    for i, new in enumerate(series.history):
        given = {name: getattr(new, name) for name in ("source", "time", "received", "telemetry", "trust")}
        percepts += interpreter.interpret(Perception(**given, id=f"p-{i}", seq=i + 1), {})
        percepts += interpreter.quiet(new.time)
    return [p.time for p in sorted(percepts, key=lambda p: -p.salience)[:most]]


async def measure(every: Sequence[Series], args: argparse.Namespace) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for series in every:
        if args.percepts:
            times = perceived(series, args.thoughts)
        else:
            times = [t.time for t in await thoughts(series.history, thoughts=args.thoughts, seed=args.seed)]
        names = [series.kind] if series.kind == "files" else ["made", f"made: {series.kind}"]
        for name in [*names, *([series.name] if args.each else [])]:
            tallies.setdefault(name, Tally()).add(series, times, args.seed)
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="folder of series and windows.jsonl")
    parser.add_argument("--half", type=int, choices=(0, 1), help="every other file only: the even ones, or the odd")
    parser.add_argument("--made", type=int, default=2, help="made series of each kind")
    parser.add_argument("--percepts", action="store_true", help="without a mind: the most salient percepts")
    parser.add_argument("--thoughts", type=int, default=4, help="how many it may have of a series")
    parser.add_argument("--seed", type=int, default=0, help="of the mind, and of the first made series")
    parser.add_argument("--each", action="store_true", help="also by series")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    every = list(files(args.data, args.half)) if args.data else []
    every += [made(kind, args.seed + i) for kind in KINDS for i in range(args.made)]
    tallies = asyncio.run(measure(every, args))
    if args.json:
        print(json.dumps({name: tally.figures() for name, tally in tallies.items()}))
        return
    for name, tally in tallies.items():
        print(f"{name}\n{shown(tally.figures())}")


if __name__ == "__main__":
    main()
