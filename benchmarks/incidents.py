"""Whether a mind says what breaks the routine, in time, and how much else it says.

    python benchmarks/incidents.py [--seeds 1] [--stream NAME] [--json]

Streams of eight kinds (benchmarks/corpora/incidents.yaml), each cold (an incident within minutes of the beginning) and
warm (several after hours), are replayed with the default mind. An incident counts as said in time where a thought
cites a line of it within 3 minutes of event time after its first one. Junk are thoughts that cite no line of an
incident. Minutes until a settled one is taken back: ``-`` as long as no mind takes anything back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from incident_streams import Stream, streams
from thoughts import Thought, share, shown, thoughts

WITHIN = 180.0


@dataclass
class Tally:
    """Sums over streams."""

    incidents: int = 0
    in_time: int = 0
    ever: int = 0
    thoughts: int = 0
    junk: int = 0
    settled: int = 0
    settling_cited: int = 0
    back: list[float] = field(default_factory=list)
    """Seconds from a line that settles an incident to the thought that joins it to another of its lines."""

    def add(self, stream: Stream, had: Sequence[Thought]) -> None:
        times = {p.key: p.time for p in stream.history}
        known = {incident.name for incident in stream.incidents}
        self.thoughts += len(had)
        self.junk += sum(not any(stream.labels[key] in known for key in thought.keys) for thought in had)
        for incident in stream.incidents:
            telling = [t.at - times[incident.first] for t in had if incident.keys.intersection(t.keys)]
            self.incidents += 1
            self.ever += bool(telling)
            self.in_time += bool(telling) and min(telling) <= WITHIN
            self.settled += incident.settles is not None
            if incident.settles is not None:
                citing = [t for t in had if incident.settles in t.keys]
                self.settling_cited += bool(citing)
                joining = [t.at for t in citing if len(incident.keys.intersection(t.keys)) > 1]
                self.back += [min(joining) - times[incident.settles]] if joining else []

    def figures(self) -> dict[str, float | None]:
        return {
            "incidents": self.incidents,
            "said within 3 min": share(self.in_time, self.incidents),
            "said at all": share(self.ever, self.incidents),
            "thoughts": self.thoughts,
            "junk among thoughts": share(self.junk, self.thoughts),
            "lines that settle, cited": share(self.settling_cited, self.settled),
            "taken back within 3 min": share(sum(after <= WITHIN for after in self.back), self.settled),
            "minutes until taken back": statistics.median(self.back) / 60 if self.back else None,
        }


async def measure(seeds: int, only: str | None) -> dict[str, Tally]:
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for seed in range(seeds):
        for cold in (True, False):
            for stream in streams(seed, cold=cold):
                if only in (None, stream.name):
                    had = await thoughts(stream.history, seed=seed)
                    for name in ("all", "cold" if cold else "warm", stream.kind):
                        tallies[name].add(stream, had)
    return tallies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1, help="how many draws of the streams")
    parser.add_argument("--stream", help="only the one of this name")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    tallies = asyncio.run(measure(args.seeds, args.stream))
    if args.json:
        print(json.dumps({name: tally.figures() for name, tally in tallies.items()}))
        return
    for name, tally in tallies.items():
        print(f"{name}\n{shown(tally.figures())}")


if __name__ == "__main__":
    main()
