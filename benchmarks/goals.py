"""What a goal changes of what a mind tells: lines about its subject, and all else that is labelled.

    python benchmarks/goals.py [--seeds 3] [--lifts 0 4] [--json]

The streams: the warm ones of benchmarks/incident_streams.py, of machines, chat and tickets; two made-up worlds with
stories between them (benchmarks/worlds.py); the small worlds of benchmarks/corpora/loops; the example's day. The goal
is one word, drawn by seed from those that 2 to 15 % of a stream's lines have. The same mind is replayed with each lift
(``attention.goal_lift``). ``told``: lines about the subject that a thought cites, of all; ``others told``: incidents,
stories, troubles and turning points without that word that one cites, of all. Every stream counts alike.

Then recall: of the example's questions, of their first two words, and of one word of each incident that has no name or
number, how high the first line stands that was meant (1 / its place of ten, 0 beyond). The goal is a word of what was
meant that was not asked with, or any word drawn as above.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from corpus import perceptions
from day import EXAMPLES, labels
from incident_streams import streams
from loop_worlds import WORLDS, world
from thoughts import share, shown
from worlds import history

from actors.names import ATTENTION
from environment.episodes.index import EpisodeIndex
from environment.episodes.recall import Cue, recall
from environment.episodes.words import telling
from environment.goals import Pursued
from environment.identity import perception_id, perception_seq
from environment.messages import EntryKind, NewPerception, Perception
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay, fields

FIRST = 8
"""Lines before the goal is told."""
WEIGHT = 0.5


@dataclass(frozen=True)
class Labelled:
    """A stream; of each thing that is to be told the keys that tell it."""

    name: str
    history: list[NewPerception]
    others: list[frozenset[str]]


def labelled(seed: int) -> list[Labelled]:
    found = [
        Labelled(f"incidents, {stream.kind}", stream.history, [one.keys for one in stream.incidents])
        for stream in streams(seed, cold=False)
    ]
    lines, stories = history(1500, 60.0, seed, 12)
    found.append(Labelled("two worlds", lines, [frozenset(one.keys) for one in stories]))
    for name in sorted(path.stem for path in WORLDS.glob("*.txt")):
        of = world(name)
        found.append(Labelled(f"month, {name}", of.history, [frozenset((key,)) for key in sorted(of.mends)]))
    turns = [frozenset((key,)) for key, label in labels().items() if label.part == "turn"]
    return [*found, Labelled("day", perceptions(EXAMPLES / "day.jsonl"), turns)]


def drawn(stream: Labelled, seed: int) -> tuple[str, frozenset[str]]:
    """A subject, and the keys of the lines about it; empty where there are only readings."""
    terms = {one.key or "": telling(one.text or "") for one in stream.history}
    counts = Counter(term for of in terms.values() for term in of if plain(term))
    least, most = max(4, 0.02 * len(terms)), 0.15 * len(terms)
    subjects = sorted(term for term, count in counts.items() if least <= count <= most)
    subject = random.Random(f"{seed} {stream.name}").choice(subjects) if subjects else ""
    return subject, frozenset(key for key, of in terms.items() if subject in of)


async def cited(stream: Labelled, seed: int, subject: str, lift: float) -> list[tuple[str, ...]]:
    """The lines of each thought."""
    settings = Settings.model_validate({"attention": {"goal_lift": lift}})
    with tempfile.TemporaryDirectory(prefix="submind-bench-") as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        try:
            mind = Replay(settings, stores, seed=seed)
            had = [e async for e in mind.feed(stream.history[:FIRST])]
            mind.world.send("", ATTENTION, Pursued({subject: WEIGHT}), 1.0)
            had += [e async for e in mind.run(stream.history[FIRST:])]
            known = {p.id: p.key or "" for p in await stores.perceptions.read(0, len(stream.history) + 1)}
            return [tuple(known[p.id] for p in e.perceptions) for e in had if e.kind is EntryKind.THOUGHT]
        finally:
            await stores.close()


async def measure(seeds: int, lifts: Sequence[float]) -> dict[str, dict[str, float | None]]:
    shares: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for seed in range(seeds):
        for stream in labelled(seed):
            subject, about = drawn(stream, seed)
            if not about:
                continue
            others = [keys for keys in stream.others if not keys & about]
            for lift in lifts:
                had = await cited(stream, seed, subject, lift)
                told = {key for keys in had for key in keys}
                figures = {
                    "thoughts": len(had),
                    "thoughts about it": share(sum(bool(about.intersection(keys)) for keys in had), len(had)),
                    "told": share(len(told & about), len(about)),
                    "others told": share(sum(not told.isdisjoint(keys) for keys in others), len(others)),
                }
                for name, figure in figures.items():
                    if figure is not None:
                        shares[stream.name, f"{name}, lift {lift:g}"].append(figure)
    found: dict[str, dict[str, float | None]] = {}
    for (name, figure), values in shares.items():
        found.setdefault(name, {})[figure] = sum(values) / len(values)
    every = list(found.values())
    found["all"] = {
        figure: sum(of[figure] or 0.0 for of in every if figure in of) / sum(figure in of for of in every)
        for figure in every[0]
    }
    return found


def asked(seed: int) -> Iterator[tuple[str, list[NewPerception], str, frozenset[str]]]:
    """Kinds of questions, what they are asked of, their words, and the keys of what is meant."""
    if not seed:
        day = perceptions(EXAMPLES / "day.jsonl")
        for one in yaml.safe_load((EXAMPLES / "day.questions.yaml").read_text("utf-8")):
            words = [word for word in one["ask"].split() if telling(word)]
            yield "recall, questions", day, one["ask"], frozenset(one["sources"])
            yield "recall, two words", day, " ".join(words[:2]), frozenset(one["sources"])
    for stream in streams(seed, cold=False):
        texts = {one.key: one.text or "" for one in stream.history}
        for one in stream.incidents:
            counts = Counter(term for key in sorted(one.keys) for term in sorted(telling(texts[key])) if plain(term))
            if counts:
                yield "recall, one word", stream.history, counts.most_common(1)[0][0], one.keys


def plain(term: str) -> bool:
    return len(term) > 3 and term.isalpha()


def recalled(seeds: int, weight: float) -> dict[str, dict[str, float | None]]:
    places: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for seed in range(seeds):
        for n, (kind, lines, words, meant) in enumerate(asked(seed)):
            index, now = EpisodeIndex(len(lines)), lines[-1].time
            index.add(Perception(**fields(one), id=perception_id(i), seq=i) for i, one in enumerate(lines, 1))
            terms = {one.key or "": telling(one.text or "") for one in lines}
            own = sorted({t for key in meant for t in terms[key] if plain(t)} - telling(words))
            other = drawn(Labelled(f"{kind} {n}", lines, []), seed)[0]
            goals = {"no goal": {}, "its goal": {}, "any goal": {other: weight}}
            if own and other:
                goals["its goal"] = {random.Random(f"{seed} {n}").choice(own): weight}
                for name, pursued in goals.items():
                    hits = recall(index, Cue.of(words, index, now), None, 10, None, pursued)
                    found = [lines[perception_seq(one.perception.id) - 1].key in meant for one in hits]
                    places[kind, name].append(1 / (1 + found.index(True)) if True in found else 0.0)
    told: dict[str, dict[str, float | None]] = {}
    for (kind, name), values in places.items():
        told.setdefault(kind, {})[name] = sum(values) / len(values)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many draws of streams and subjects")
    parser.add_argument("--lifts", type=float, nargs="*", default=[0.0, 4.0], help="values of attention.goal_lift")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures = recalled(args.seeds, WEIGHT) | (asyncio.run(measure(args.seeds, args.lifts)) if args.lifts else {})
    if args.json:
        print(json.dumps(figures))
        return
    for name, of in figures.items():
        print(f"{name}\n{shown(of)}")


if __name__ == "__main__":
    main()
