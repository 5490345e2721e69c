"""What a simulated person finds useful in the second half of streams, with and without marks on the first half.

    python benchmarks/feedback.py [UTTERANCES.jsonl ...] [--seeds 3] [--json]

The streams: the warm ones of benchmarks/incident_streams.py with one incident in each half, the example's day, and
histories that are named (JSON lines with time, source, text). A partial person cares for half of the sources, drawn by
seed, and finds useful what begins with a line of one of these; an impartial person, where lines are labelled, what
cites a line of an incident or story. The same mind is replayed with and without all thoughts of the first half marked
at its end. ``told``: incidents and stories of which the second half cites a line: marks must not make them fewer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus import perceptions
from day import EXAMPLES, labels
from incident_streams import BEGINS, LEAST_WARM, WARM_MINUTES, streams
from thoughts import share, shown

from actors.events import Marked
from actors.names import ATTENTION
from environment.marks import FeedbackMark, MarkKind
from environment.messages import EntryKind, NewPerception, StreamEntry
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay

HALF = BEGINS + 60 * (LEAST_WARM + WARM_MINUTES) / 2
"""Where the first incident of a warm stream is over and the second has not begun."""


@dataclass(frozen=True)
class Labelled:
    """A stream, where its second half begins, and the incident or story of each line by key; empty in routine."""

    name: str
    history: list[NewPerception]
    half: float
    stories: Mapping[str, str]


@dataclass(frozen=True)
class Said:
    """One thought: where its first line came from, and the stories of all its lines."""

    source: str
    stories: frozenset[str]


def labelled(seed: int, files: Sequence[Path]) -> list[Labelled]:
    found = []
    for stream in streams(seed, cold=False):
        stories = {key: "" if label in {"routine", "filler"} else label for key, label in stream.labels.items()}
        found.append(Labelled("incidents", stream.history, HALF, stories))
    day = perceptions(EXAMPLES / "day.jsonl")
    found.append(Labelled("day", day, day[len(day) // 2].time, {key: each.story for key, each in labels().items()}))
    for file in files:
        history = perceptions(file)
        found.append(Labelled(file.parent.name, history, history[len(history) // 2].time, {}))
    return found


async def second_half(stream: Labelled, seed: int, wanted: frozenset[str] | None, *, marked: bool) -> list[Said]:
    """What is said in it, after marks by somebody who wants these sources, or any story."""
    with tempfile.TemporaryDirectory(prefix="submind-bench-") as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        try:
            mind = Replay(Settings(), stores, seed=seed)
            first = [e async for e in mind.feed(p for p in stream.history if p.time < stream.half)]
            known = {p.id: p.key or "" for p in await stores.perceptions.read(0, len(stream.history) + 1)}
            if marked:
                marks = tuple(_mark(e, _said(e, known, stream), wanted) for e in first if e.kind is EntryKind.THOUGHT)
                mind.world.send("", ATTENTION, Marked(marks), 1.0)
            second = [e async for e in mind.run(p for p in stream.history if p.time >= stream.half)]
            known = {p.id: p.key or "" for p in await stores.perceptions.read(0, len(stream.history) + 1)}
            return [_said(entry, known, stream) for entry in second if entry.kind is EntryKind.THOUGHT]
        finally:
            await stores.close()


def _said(entry: StreamEntry, known: Mapping[str, str], stream: Labelled) -> Said:
    stories = {stream.stories.get(known[p.id], "") for p in entry.perceptions}
    return Said(entry.perceptions[0].source, frozenset(stories - {""}))


def _mark(entry: StreamEntry, said: Said, wanted: frozenset[str] | None) -> FeedbackMark:
    kind = MarkKind.USEFUL if _useful(said, wanted) else MarkKind.NOT_USEFUL
    return FeedbackMark(entry.id, str(entry.seq), kind, entry.at, "ann", entry.text, sources=(said.source,))


def _useful(said: Said, wanted: frozenset[str] | None) -> bool:
    return bool(said.stories) if wanted is None else said.source in wanted


async def measure(seeds: int, files: Sequence[Path]) -> dict[str, dict[str, float | None]]:
    halves: defaultdict[tuple[str, bool], list[tuple[list[Said], frozenset[str] | None]]] = defaultdict(list)
    for seed in range(seeds):
        for stream in labelled(seed, files):
            sources = sorted({p.source for p in stream.history})
            partial = frozenset(random.Random(f"{seed} {stream.name}").sample(sources, (len(sources) + 1) // 2))
            persons = {"a partial person": partial} | ({"an impartial person": None} if stream.stories else {})
            for person, wanted in persons.items():
                for marked in (False, True):
                    half = await second_half(stream, seed, wanted, marked=marked)
                    halves[f"{stream.name}, {person}", marked].append((half, wanted))
    figures: dict[str, dict[str, float | None]] = {}
    for name in dict.fromkeys(name for name, _ in halves):
        of = figures[name] = {}
        for marked, with_ in ((False, "no marks"), (True, "with marks")):
            had = [_useful(said, wanted) for half, wanted in halves[name, marked] for said in half]
            of[f"thoughts, {with_}"] = len(had)
            of[f"precision, {with_}"] = share(sum(had), len(had))
            told = [{story for said in half for story in said.stories} for half, _ in halves[name, marked]]
            of[f"told, {with_}"] = sum(map(len, told))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="more histories: JSON lines with time, source, text")
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of the streams")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = asyncio.run(measure(args.seeds, args.files))
    if args.json:
        print(json.dumps(figures))
        return
    for name, of in figures.items():
        print(f"{name}\n{shown(of)}")


if __name__ == "__main__":
    main()
