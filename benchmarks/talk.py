"""Whether a mind hears what is wrong among people who talk all day, each line of theirs a new one.

    python benchmarks/talk.py TALK.jsonl [TALK.jsonl ...] [--seeds 3] [--json]

Incidents of made chats, tickets and radio (benchmarks/corpora/incidents.yaml) are planted into the real talk of each
file: lines with time, source, text. An incident counts as said in time where a thought cites a line of it within three
minutes of its first one. The other thoughts are no junk here, since real talk has news of its own; fewer are better.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from corpus import perceptions
from incident_streams import planted
from incidents import Tally
from thoughts import shown, thoughts

from environment.messages import NewPerception


def keyed(talk: Sequence[NewPerception]) -> list[NewPerception]:
    return [replace(p, key=f"talk-{i}", trust=0.4) for i, p in enumerate(talk)]


async def measure(files: Sequence[Path], seeds: int) -> dict[str, float | None]:
    tally, hours = Tally(), 0.0
    for file in files:
        talk = keyed(perceptions(file))
        for seed in range(seeds):
            stream = planted(talk, seed)
            tally.add(stream, await thoughts(stream.history, seed=seed))
            hours += (talk[-1].time - talk[0].time) / 3600
    kept = ("incidents", "said within 3 min", "said at all", "thoughts")
    return {name: tally.figures()[name] for name in kept} | {"thoughts an hour": tally.thoughts / hours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="JSON lines with time, source, text")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of incidents for each file")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = asyncio.run(measure(args.files, args.seeds))
    print(json.dumps(figures) if args.json else shown(figures))


if __name__ == "__main__":
    main()
