"""What a simulated person finds useful in the first and in the second half of made streams.

    python benchmarks/feedback.py [--seeds 1] [--json]

The warm streams of benchmarks/incident_streams.py are replayed, one incident in each half. Useful is a thought that
cites a line of an incident. No mind takes marks as yet, so the second half ``with marks`` is ``-``.
"""

from __future__ import annotations

import argparse
import asyncio
import json

from incident_streams import BEGINS, LEAST_WARM, WARM_MINUTES, Stream, streams
from thoughts import Thought, share, shown, thoughts

HALF = BEGINS + 60 * (LEAST_WARM + WARM_MINUTES) / 2
"""Where the first incident is over and the second has not begun."""


def useful(thought: Thought, stream: Stream) -> bool:
    """How the simulated person marks it."""
    return any(stream.labels[key] not in {"routine", "filler"} for key in thought.keys)


async def measure(seeds: int) -> dict[str, float | None]:
    first: list[bool] = []
    second: list[bool] = []
    for seed in range(seeds):
        for stream in streams(seed, cold=False):
            for thought in await thoughts(stream.history, seed=seed):
                (first if thought.at < HALF else second).append(useful(thought, stream))
    return {
        "thoughts": len(first) + len(second),
        "precision of the first half": share(sum(first), len(first)),
        "precision of the second half, no marks": share(sum(second), len(second)),
        "precision of the second half, with marks": None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1, help="how many draws of the streams")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = asyncio.run(measure(args.seeds))
    print(json.dumps(figures) if args.json else shown(figures))


if __name__ == "__main__":
    main()
