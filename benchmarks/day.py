"""What a mind tells of the example's day, judged by the label of every line (examples/day.labels.csv).

    python benchmarks/day.py [--thoughts 24] [--seeds 3] [--judge NOISE | --server URL --model NAME] [--json]

A turning point is told where a thought cites it. A thought of no story cites routine alone. Of a thought that cites
several lines each pair of the first with another is a link, right where both belong to one story.

With --judge a server rates candidates by their labels, that share of ratings drawn at random (1: all), and no more;
with --server a model of that server judges and words.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import statistics
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from corpus import perceptions
from thoughts import share, shown, thoughts

from orchestration.settings import Settings
from tests.servers.label_judge import by_labels, judging

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Label:
    """``story`` is empty in routine; ``part`` is ``turn``, ``settles``, ``part`` or ``routine``."""

    story: str
    part: str


def labels() -> dict[str, Label]:
    with (EXAMPLES / "day.labels.csv").open(encoding="utf-8", newline="") as lines:
        return {row["key"]: Label(row["story"], row["part"]) for row in csv.DictReader(lines)}


async def measure(
    known: Mapping[str, Label], total: int, seed: int, settings: Settings | None = None
) -> dict[str, float | None]:
    history = perceptions(EXAMPLES / "day.jsonl")
    times = {p.key: p.time for p in history}
    had = await thoughts(history, thoughts=total, seed=seed, settings=settings)
    turns = [key for key, label in known.items() if label.part == "turn"]
    told = {
        key: min(t.at for t in had if key in t.keys) - times[key] for key in turns if any(key in t.keys for t in had)
    }
    links = [(known[t.keys[0]].story, known[other].story) for t in had for other in t.keys[1:]]
    return {
        "thoughts": len(had),
        "turning points told": share(len(told), len(turns)),
        "minutes until told, median": statistics.median(told.values()) / 60 if told else None,
        "thoughts of no story": share(sum(not any(known[k].story for k in t.keys) for t in had), len(had)),
        "links": len(links),
        "links right": share(sum(bool(a) and a == b for a, b in links), len(links)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--thoughts", type=int, default=24, help="how many it may have")
    parser.add_argument("--seeds", type=int, default=3, help="how many minds; the mean is printed")
    parser.add_argument("--judge", type=float, metavar="NOISE", help="a judge that knows the labels")
    parser.add_argument("--server", metavar="URL", help="of a server that speaks the OpenAI protocol")
    parser.add_argument("--model", metavar="NAME", default="model", help="its model")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    runs = []
    for seed in range(args.seeds):
        with nullcontext(args.server) if args.judge is None else judging(by_labels(args.judge, seed)) as url:
            server = {"base_url": url, "attempts": 1, "timeout": 300}
            chosen = {"kind": "openai", "server": server, "fast": {"name": args.model}}
            settings = Settings(substrate=chosen, attention={"judge": 4.0}) if url else None
            runs.append(asyncio.run(measure(labels(), args.thoughts, seed, settings)))
    figures = {
        name: statistics.mean(found) if (found := [v for run in runs if (v := run[name]) is not None]) else None
        for name in runs[0]
    }
    print(json.dumps(figures) if args.json else shown(figures))


if __name__ == "__main__":
    main()
