"""Thoughts to fill an environment with."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np

from environment.index.shard import Shard
from environment.messages import PerceptionRef, Thought, ThoughtKind
from environment.settings import EnvironmentSettings, HalfLives
from environment.subliminal import SubliminalEnvironment

DIM = 32
NOON = 1_772_539_200.0
HALF_LIVES = HalfLives(percept=1800.0, insight=7200.0)


def unit(*numbers: float) -> np.ndarray:
    vector = np.zeros(DIM, np.float32)
    vector[: len(numbers)] = numbers
    return vector / (np.linalg.norm(vector) or 1)


def drawn(seed: int) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
    return vector / np.linalg.norm(vector)


def perceived(number: int) -> PerceptionRef:
    return PerceptionRef(f"p-{number:020x}", NOON + number, "ops")


def thought(number: int = 0, **changes: object) -> Thought:
    base = Thought(
        id="t-" + blake2b(str(number).encode(), digest_size=10).hexdigest(),
        author="text",
        kind=ThoughtKind.PERCEPT,
        text=f"thought {number}",
        time=NOON + number,
        at=NOON,
        vector=drawn(number),
        salience=0.5,
        confidence=0.75,
        trust=0.5,
        perceptions=(perceived(number),),
        parents=(perceived(number).id,),
    )
    return replace(base, **changes)


def world(**settings: object) -> SubliminalEnvironment:
    chosen = EnvironmentSettings(**({"half_life": HALF_LIVES} | settings))
    return SubliminalEnvironment(chosen, Shard(DIM, chosen.flat_limit))
