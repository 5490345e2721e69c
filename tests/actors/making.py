"""Thoughts and traces for tests, with sensible defaults."""

import itertools

import numpy as np

from environment.identity import thought_id
from environment.messages import EntryKind, Level, PerceptionRef, StreamEntry, Thought, ThoughtKind, Trace

DIM = 16
_number = itertools.count(1)


def unit(seed: int, dim: int = DIM) -> np.ndarray:
    """A unit vector of its own for every seed."""
    vector = np.random.default_rng(seed).normal(size=dim).astype(np.float32)
    return vector / np.linalg.norm(vector)


def thought(**given) -> Thought:
    n = next(_number)
    time = given.pop("time", float(n))
    perception = given.pop("perception", f"p-{n:020x}")
    source = given.pop("source", "chat")
    fields = {
        "id": thought_id("text", [perception]),
        "author": "text",
        "kind": ThoughtKind.PERCEPT,
        "text": f"event number {n}",
        "time": time,
        "at": time,
        "vector": unit(n),
        "salience": 0.5,
        "confidence": 1.0,
        "trust": 0.4,
        "perceptions": (PerceptionRef(perception, time, source),),
        "parents": (perception,),
    }
    return Thought(**{**fields, **given})


def trace(of: Thought | None = None, version: int = 1, **given) -> Trace:
    of = of or thought(**given)
    return Trace(of, version, Level(of.salience, of.at, 3600.0), authors=(of.author,))


def entry(seq: int, **given) -> StreamEntry:
    t = given.pop("of", None) or thought()
    fields = {
        "seq": seq,
        "id": f"c-{seq:020x}",
        "kind": EntryKind.THOUGHT,
        "text": t.text,
        "time": t.time,
        "at": t.at,
        "salience": t.salience,
        "confidence": t.confidence,
        "trust": t.trust,
        "perceptions": t.perceptions,
        "lineage": (t.id,),
        "focus": t.id,
        "author": t.author,
        "vector": t.vector,
    }
    return StreamEntry(**{**fields, **given})
