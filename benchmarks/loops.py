"""Whether a mind tells of what is owed before it falls due or when it is missed, and how often in vain.

    python benchmarks/loops.py [--seed 0] [--json]

A made-up month (benchmarks/loop_month.py), the example's day (examples/day.loops.csv) and small streams of other worlds
(benchmarks/loop_worlds.py; rules were never fitted to the family) are replayed. A reminder is a
thought that cites before all else the opening line of a loop, or one that only sounds like such, when half of the time
until it is due has gone, or an hour after a line without a date. It tells a loop that is open then, until an hour after
it is due; it is false where the loop is closed or was none. Loops that close in their first half need no reminder.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
from collections.abc import Collection, Sequence
from pathlib import Path

from corpus import instant, perceptions
from loop_month import HOUR, Loop, month
from loop_worlds import WORLDS, world
from thoughts import Thought, share, shown, thoughts

from environment.messages import NewPerception

EXAMPLES = Path(__file__).parents[1] / "examples"


def of_the_day() -> list[Loop]:
    with (EXAMPLES / "day.loops.csv").open(encoding="utf-8", newline="") as lines:
        return [
            Loop("", x["who"], x["what"], x["whom"], x["opens"], instant(x["due"]), x["closes"] or None)
            for x in csv.DictReader(lines)
        ]


def judged(
    history: Sequence[NewPerception], loops: Sequence[Loop], decoys: Collection[str], had: Sequence[Thought]
) -> dict[str, float | None]:
    times = {p.key: p.time for p in history}
    end = history[-1].time
    wanted = told = reminders = false = 0
    for loop in loops:
        opened, closed = times[loop.opens], times.get(loop.closes, float("inf"))
        half = (opened + loop.due) / 2
        cited = [t.at for t in had if t.keys[:1] == (loop.opens,) and t.at >= half]
        reminders += len(cited)
        false += sum(at >= closed for at in cited)
        if closed > half and half < end:
            wanted += 1
            told += any(at <= min(loop.due + HOUR, closed) for at in cited)
    for decoy in decoys:
        cited = [t.at for t in had if t.keys[:1] == (decoy,) and t.at >= times[decoy] + HOUR]
        reminders += len(cited)
        false += len(cited)
    return {
        "loops": len(loops),
        "told before due or when missed": share(told, wanted),
        "reminders": reminders,
        "false among reminders": share(false, reminders),
    }


async def measure(seed: int) -> dict[str, dict[str, float | None]]:
    day = perceptions(EXAMPLES / "day.jsonl")
    history, loops, decoys = month(seed)
    found = {
        "the example's day": judged(day, of_the_day(), (), await thoughts(day, seed=seed)),
        "a month": judged(history, loops, decoys, await thoughts(history, seed=seed)),
    }
    for name in sorted(path.stem for path in WORLDS.glob("*.txt")):
        made = world(name)
        had = await thoughts(made.history, seed=seed)
        ends = [t for t in had if t.text.startswith("Settled: ")]
        found[name] = judged(made.history, made.loops, made.decoys, had) | {
            "troubles said to be settled": share(len(made.mends & {t.keys[0] for t in ends}), len(made.mends)),
            "false among settlements": share(sum(t.keys[0] not in made.mends for t in ends), len(ends)),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of the month and the mind")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = asyncio.run(measure(args.seed))
    if args.json:
        print(json.dumps(figures))
        return
    for name, found in figures.items():
        print(f"{name}\n{shown(found)}")


if __name__ == "__main__":
    main()
