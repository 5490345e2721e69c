"""Whether what was perceived is found again, how fast, and what it costs to be findable.

    python benchmarks/recall.py [--json] [--episodes N] [--noise R] [--machines R] [--kept S]
                                [--model FILE [--tokenizer FILE]] [DIALOGUE…]

A DIALOGUE is a folder with turns.jsonl (time, source, text, key) and questions.jsonl (question, evidence: keys of the
turns that hold the answer). The turns go into the perception log of a mind, and the questions through the view that
answers its readers. Evidence recall@k is the mean share of the evidence among the first k found, for the mind and for
bare BM25 over the same lines, each with its speaker (Snowball stems, no stop words; Robertson's k1 = 1.5, b = 0.75).
With --noise, as many lines of five machines come in for each turn, at random times, while breaks are cut to half an
hour; with --machines as many of those that hosts, services, sensors and desks write in routine
(benchmarks/incident_streams.py).

With --kept the mind keeps only such a share of all lines (``view.episodes``), and BM25 has as many of the latest: what
there is of the evidence where the oldest go, and where of what is alike those between the first and the last go first.
With --model an ONNX sentence model takes the place of word vectors, as bge-small asks for it.

Then how long recalling takes among N made-up lines, and what taking one in costs beside inserting the same lines into
bare BM25 and FAISS.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from corpus import objects, perceptions
from incident_streams import streams
from thoughts import shown

from actors.substrate.build import build_embedder
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.ports import Embedder
from actors.substrate.settings import EmbedderSettings, SubstrateSettings
from environment.episodes.index import EpisodeIndex
from environment.episodes.recall import Cue, recall
from environment.episodes.words import STOPWORDS, stems
from environment.identity import perception_id
from environment.messages import NewPerception, Perception
from environment.stores.sqlite.stores import open_stores
from orchestration.view.mind import MindView, ViewContext
from orchestration.view.settings import ViewSettings

K = 10
PREFIX = "Represent this sentence for searching relevant passages: "
BREAK = 1800.0
STOP = frozenset(stem for word in STOPWORDS for stem in stems(word))


class BareBM25:
    """Nothing but postings and BM25."""

    def __init__(self) -> None:
        self.postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.lengths: list[int] = []

    def add(self, text: str) -> None:
        found = stems(text)
        for term, count in Counter(found).items():
            self.postings[term].append((len(self.lengths), count))
        self.lengths.append(len(found))

    def best(self, text: str, k: int) -> list[int]:
        n, mean, scores = len(self.lengths), statistics.fmean(self.lengths), defaultdict[int, float](float)
        for term in dict.fromkeys(stem for stem in stems(text) if stem not in STOP):
            held = self.postings.get(term, [])
            rare = math.log(1 + (n - len(held) + 0.5) / (len(held) + 0.5))
            for line, count in held:
                scores[line] += rare * count * 2.5 / (count + 1.5 * (0.25 + 0.75 * self.lengths[line] / mean))
        return sorted(scores, key=lambda line: (-scores[line], line))[:k]


def noisy(turns: list[NewPerception], rate: float, routine: float, chance: random.Random) -> list[NewPerception]:
    """The turns with breaks cut short, and among them lines of machines, made of the words of the turns or routine."""
    words = [word for turn in turns for word in (turn.text or "").split()]
    moved, at, last = [], turns[0].time, turns[0].time
    for turn in turns:
        at, last = at + min(turn.time - last, BREAK), turn.time
        moved.append(NewPerception(turn.source, at, at, turn.text, key=turn.key))
    for n in range(int(rate * len(turns))):
        at = chance.uniform(moved[0].time, moved[len(turns) - 1].time)
        text = " ".join(chance.choices(words, k=chance.randint(4, 16)))
        moved.append(NewPerception(f"machine {n % 5}", at, at, text))
    last = moved[len(turns) - 1].time
    usual = [one for made in streams(7, cold=False) for one in made.history if made.labels[one.key or ""] == "routine"]
    for one in chance.choices(usual, k=int(routine * len(turns))):
        at = chance.uniform(moved[0].time, last)
        moved.append(replace(one, time=at, received=at, key=None))
    return sorted(moved, key=lambda one: one.time)


@dataclass(frozen=True)
class Mind:
    """What finds: by which embedder, and how much of all lines it keeps."""

    embedder: Embedder
    prefix: str
    kept: float


async def found(folder: Path, rate: float, routine: float, mind: Mind) -> dict[str, list[tuple[float, float]]]:
    """Of each question recall@10 and @5, by way."""
    turns = perceptions(folder / "turns.jsonl")
    turns = noisy(turns, rate, routine, random.Random(7)) if rate or routine else turns
    bare, most = BareBM25(), math.ceil(mind.kept * len(turns))
    for turn in turns[-most:]:
        bare.add(f"{turn.source}: {turn.text}")
    told: dict[str, list[tuple[float, float]]] = {"mind": [], "BM25": []}
    with tempfile.TemporaryDirectory() as directory:
        stores = await open_stores(Path(directory), "recall", synchronous="OFF")
        receipts = await stores.perceptions.append(turns)
        keys = {receipt.id: turn.key for receipt, turn in zip(receipts, turns, strict=True)}
        now, settings, around = turns[-1].time, ViewSettings(episodes=most), ViewContext(query_prefix=mind.prefix)
        clock = {"clock": lambda: now, "wall": lambda: now}
        view = MindView(stores, mind.embedder, settings, mind="recall", surroundings=around, **clock)
        for question in objects(folder / "questions.jsonl"):
            if not (evidence := set(question["evidence"])):
                continue
            hits = [keys[one.perception.id] for one in await view.recall(question["question"], K)]
            lines = [turns[line - most].key for line in bare.best(question["question"], K)]
            for way, ranked in (("mind", hits), ("BM25", lines)):
                told[way].append(
                    (len(evidence & set(ranked)) / len(evidence), len(evidence & set(ranked[:5])) / len(evidence))
                )
        await stores.close()
    return told


def made(count: int) -> list[Perception]:
    """Lines of a month by 40 people and machines, from 5,000 words of which few are common."""
    chance = random.Random(1)
    words = [f"w{n:04}".translate(str.maketrans("0123456789", "abcdefghij")) for n in range(5000)]
    weights = list(np.cumsum([1 / (n + 5) for n in range(len(words))]))
    lines = []
    for n in range(1, count + 1):
        text = " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(5, 25)))
        at = n * 26.0
        source = f"source {chance.randrange(40)}"
        lines.append(Perception(source=source, time=at, received=at, text=text, id=perception_id(n), seq=n))
    return lines


def cost(count: int) -> dict[str, float]:
    """Of recalling, and of becoming findable."""
    lines, embedder = made(count), WordLlamaEmbedder()
    embedder.embed_now(["a"])
    began = time.process_time()
    bare, flat = BareBM25(), faiss.IndexFlatIP(embedder.dim)
    for at in range(0, count, 64):
        texts = [line.text or "" for line in lines[at : at + 64]]
        for text in texts:
            bare.add(text)
        flat.add(embedder.embed_now(texts))
    bared = time.process_time() - began
    began = time.process_time()
    index = EpisodeIndex(count)
    for at in range(0, count, 64):
        index.add(lines[at : at + 64])
        place, lacking = index.lacking(64)
        index.give(place, embedder.embed_now(lacking))
    ours = time.process_time() - began
    chance, delays, busy = random.Random(2), [], []
    for line in chance.sample(lines, 200):
        asked = " ".join(chance.sample((line.text or "").split(), 4)) + " in January"
        began, worked = time.perf_counter(), time.process_time()
        cue = Cue.of(asked, index, lines[-1].time)
        recall(index, cue, embedder.embed_now([cue.gist])[0], K)
        delays.append(1000 * (time.perf_counter() - began))
        busy.append(1000 * (time.process_time() - worked))
    return {
        "episodes": count,
        "recall, p50, ms": statistics.median(delays),
        "recall, p95, ms": statistics.quantiles(delays, n=20)[-1],
        "recall, p95 of CPU time, ms": statistics.quantiles(busy, n=20)[-1],
        "taking in, microseconds each": 1e6 * ours / count,
        "taking in, against bare BM25 + FAISS": ours / bared,
    }


def rates(told: Sequence[tuple[float, float]], way: str) -> dict[str, float]:
    return {f"{way}, recall@{k}": statistics.fmean(one[n] for one in told) for n, k in enumerate((10, 5))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--episodes", type=int, default=100_000, help="made-up lines; 0: none")
    parser.add_argument("--noise", type=float, default=0.0, help="lines of machines for each turn")
    parser.add_argument("--machines", type=float, default=0.0, help="lines of routine for each turn")
    parser.add_argument("--kept", type=float, default=1.0, help="share of all lines that is kept")
    parser.add_argument("--model", type=Path, metavar="FILE", help="an ONNX sentence model")
    parser.add_argument("--tokenizer", type=Path, metavar="FILE", help="default: tokenizer.json beside the model")
    parser.add_argument("dialogues", type=Path, nargs="*", help="folders of dialogues")
    args = parser.parse_args()
    chosen = {"kind": "onnx", "model_file": args.model, "tokenizer_file": args.tokenizer} if args.model else {}
    embedder = build_embedder(SubstrateSettings(embedder=EmbedderSettings(**chosen)))
    every: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    tables: list[dict[str, Any]] = []
    for folder in args.dialogues:
        mind = Mind(embedder, PREFIX if args.model else "", args.kept)
        told = asyncio.run(found(folder, args.noise, args.machines, mind))
        for way, figures in told.items():
            every[way] += figures
        tables.append({"dialogue": folder.name} | rates(told["mind"], "mind") | rates(told["BM25"], "BM25"))
    if len(tables) > 1:
        tables.append({"dialogue": "all"} | rates(every["mind"], "mind") | rates(every["BM25"], "BM25"))
    if args.episodes:
        tables.append(cost(args.episodes))
    for table in tables:
        print(json.dumps(table) if args.json else f"{table.pop('dialogue', 'cost')}\n{shown(table)}")


if __name__ == "__main__":
    main()
