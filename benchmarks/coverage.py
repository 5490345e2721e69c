"""Attention coverage: the share of the moments people found worth listing that the stream holds.

    python benchmarks/coverage.py UTTERANCES.jsonl MOMENTS.jsonl [--budget 103] [--json]

The history is replayed with the default mind; at most ``budget`` thoughts (segues not counted) may become conscious,
picked as they come. A moment counts as covered when a thought's event time lies within 60 s of it. Beside it stand
baselines with as many picks: random ones (mean of 200 draws), and single features at least 120 s apart.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from corpus import instant, objects, perceptions

from actors.attention.pacing import Budget
from actors.substrate.embedding import WordLlamaEmbedder
from environment.messages import EntryKind, NewPerception
from orchestration.settings import Settings
from orchestration.simulation.replay import replay

WITHIN = 60.0
APART = 120.0


def coverage(picks: Sequence[float], moments: Sequence[float]) -> float:
    """Share of the moments with a pick within a minute."""
    times = np.sort(np.asarray(picks))
    if not len(times):
        return 0.0
    at = np.searchsorted(times, moments)
    before = np.abs(times[np.clip(at - 1, 0, len(times) - 1)] - moments)
    after = np.abs(times[np.clip(at, 0, len(times) - 1)] - moments)
    return float((np.minimum(before, after) <= WITHIN).mean())


def best_apart(times: Sequence[float], values: Sequence[float], budget: int) -> list[float]:
    """The highest values, at least two minutes apart: sees everything before it picks."""
    picked: list[float] = []
    for i in np.argsort(-np.asarray(values), kind="stable"):
        if all(abs(times[i] - t) >= APART for t in picked):
            picked.append(times[i])
            if len(picked) == budget:
                break
    return picked


def single_features(texts: Sequence[str]) -> dict[str, list[float]]:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # noqa: PLC0415  # only here

    vectors = WordLlamaEmbedder(2000).embed_now(texts)
    novelty = [1.0] + [1 - float((vectors[max(0, i - 200) : i] @ vectors[i]).max()) for i in range(1, len(texts))]
    analyzer = SentimentIntensityAnalyzer()
    emotion = [abs(analyzer.polarity_scores(t)["compound"]) for t in texts]
    return {"novelty": novelty, "emotion": emotion, "length": [float(len(t)) for t in texts]}


async def conscious(history: Sequence[NewPerception], budget: int, seed: int) -> list[float]:
    span = history[-1].time - history[0].time
    bound = Budget(budget, len(history), span)
    entries = [e async for e in replay(Settings(), history, budget=bound, seed=seed)]
    thoughts = [e for e in entries if e.kind is EntryKind.THOUGHT]
    if len(thoughts) > budget:
        raise SystemExit(f"the stream held {len(thoughts)} thoughts, more than its budget of {budget}")
    return [e.time for e in thoughts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("utterances", type=Path, help="JSON lines with time, source, text")
    parser.add_argument("moments", type=Path, help="JSON lines with time, title")
    parser.add_argument("--budget", type=int, default=103, help="thoughts the stream may hold")
    parser.add_argument("--drop", type=float, default=0.0, help="leave out this share of the lines, at random")
    parser.add_argument("--seed", type=int, default=0, help="of the mind, and of what is left out")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    history = [p for p in perceptions(args.utterances) if chance.random() >= args.drop]
    times = [p.time for p in history]
    moments = [instant(x["time"]) for x in objects(args.moments)]
    picks = asyncio.run(conscious(history, args.budget, args.seed))
    draws = [coverage(chance.sample(times, args.budget), moments) for _ in range(200)]
    figures = {"stream of consciousness": coverage(picks, moments), "random": sum(draws) / len(draws)}
    for name, values in single_features([p.text or "" for p in history]).items():
        figures[f"{name} alone, 120 s apart"] = coverage(best_apart(times, values, args.budget), moments)
    if args.json:
        print(json.dumps({"thoughts": len(picks), "moments": len(moments), "coverage": figures}))
        return
    print(f"{len(picks)} thoughts over {len(history)} perceptions, {len(moments)} moments")
    for name, value in figures.items():
        print(f"  {name:<32} {value:.3f}")


if __name__ == "__main__":
    main()
