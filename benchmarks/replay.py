"""What a replay costs: against embedding and indexing the same texts bare, and as the history grows.

    python benchmarks/replay.py CORPUS.jsonl [--perceptions 200000] [--json]

CORPUS holds JSON lines with time, source and text. First the corpus is replayed, and its texts are embedded (the same
static embedding, in one batch) and added to a bare FAISS index, alternately; the ratio of the two is printed. Then a
history of ``--perceptions`` made of the corpus' own words, shuffled, is replayed in one go, and the time per
perception in its last tenth is compared with that in its second tenth. CPU time of this process throughout.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import faiss
import numpy as np
import wordllama
from corpus import perceptions
from wordllama import WordLlama

from environment.messages import NewPerception
from orchestration.settings import Settings
from orchestration.simulation.replay import replay


def bare(texts: Sequence[str]) -> float:
    """CPU seconds of the library's own embedding of all texts in a batch, and of adding them to a flat index."""
    model = WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    begun = time.process_time()
    vectors = np.ascontiguousarray(model.embed(list(texts), norm=True), np.float32)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return time.process_time() - begun


async def drained(history: Sequence[NewPerception] | Iterator[NewPerception]) -> int:
    return sum([1 async for _ in replay(Settings(), history)])


def replayed(history: Sequence[NewPerception]) -> float:
    begun = time.process_time()
    asyncio.run(drained(history))
    return time.process_time() - begun


def shuffled(corpus: Sequence[NewPerception], n: int, seed: int, marks: list[float]) -> Iterator[NewPerception]:
    """A long history with the corpus' words and rhythm; notes the CPU clock at every tenth."""
    chance = random.Random(seed)
    words = [word for p in corpus for word in (p.text or "").split()]
    lengths = [len((p.text or "").split()) or 1 for p in corpus]
    sources = [p.source for p in corpus]
    at = corpus[0].time
    for i in range(n):
        if i % (n // 10) == 0:
            marks.append(time.process_time())
        start = chance.randrange(len(words) - 64)
        text = " ".join(words[start : start + min(60, chance.choice(lengths))])
        at += chance.expovariate(1.0)
        yield NewPerception(source=chance.choice(sources), time=at, received=at, text=f"{text} {chance.choice(words)}")
    marks.append(time.process_time())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="JSON lines with time, source, text")
    parser.add_argument("--perceptions", type=int, default=200_000, help="length of the long history; 0 leaves it out")
    parser.add_argument("--runs", type=int, default=3, help="pairs of replay and bare run")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    corpus = perceptions(args.corpus)
    texts = [p.text or "" for p in corpus]
    replayed(corpus[:200])  # imports and models are paid before anything is measured
    bare(texts[:200])
    pairs = [(replayed(corpus), bare(texts)) for _ in range(args.runs)]
    ratio = statistics.median(a / b for a, b in pairs)
    figures: dict[str, float] = {
        "perceptions": len(corpus),
        "replay_us_each": 1e6 * statistics.median(a for a, _ in pairs) / len(corpus),
        "bare_us_each": 1e6 * statistics.median(b for _, b in pairs) / len(corpus),
        "ratio": ratio,
    }
    if args.perceptions:
        marks: list[float] = []
        asyncio.run(drained(shuffled(corpus, args.perceptions, 1, marks)))
        tenths = [b - a for a, b in itertools.pairwise(marks)]
        figures["long_us_each"] = 1e6 * sum(tenths) / args.perceptions
        figures["last_tenth_over_second"] = tenths[-1] / tenths[1]
    if args.json:
        print(json.dumps(figures))
        return
    print(f"replay of {len(corpus)}: {figures['replay_us_each']:.0f} us each, bare {figures['bare_us_each']:.0f} us")
    print(f"  ratio {ratio:.1f} (at most 10 is aimed at)")
    if args.perceptions:
        print(f"history of {args.perceptions}: {figures['long_us_each']:.0f} us each")
        print(f"  last tenth over second {figures['last_tenth_over_second']:.3f} (at most 1.15 is aimed at)")


if __name__ == "__main__":
    main()
