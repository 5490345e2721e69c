"""What a mind thought over a history, each thought with the keys of the lines that it cites."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from actors.attention.pacing import Budget
from environment.messages import EntryKind, NewPerception
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay


@dataclass(frozen=True)
class Thought:
    """A conscious one: ``at``, mind time, is when it was had, ``time`` that of its subject; ``keys`` what it cites."""

    at: float
    time: float
    text: str
    keys: tuple[str, ...]


async def thoughts(
    history: Sequence[NewPerception],
    *,
    thoughts: int | None = None,
    seed: int = 0,
    settings: Settings | None = None,
    kind: EntryKind = EntryKind.THOUGHT,
) -> list[Thought]:
    """Of the mind as it comes, or with so many ``thoughts`` in all; or other entries of its stream, by ``kind``."""
    span = history[-1].time - history[0].time
    budget = None if thoughts is None else Budget(thoughts, len(history), span)
    with tempfile.TemporaryDirectory(prefix="submind-bench-") as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        try:
            mind = Replay(settings or Settings(), stores, seed=seed, budget=budget)
            entries = [e async for e in mind.run(history)]
            keys = {p.id: p.key or "" for p in await stores.perceptions.read(0, len(history) + 1)}
        finally:
            await stores.close()
    kept = [e for e in entries if e.kind is kind]
    return [Thought(e.at, e.time, e.text, tuple(keys[p.id] for p in e.perceptions)) for e in kept]


def share(part: int, of: int) -> float | None:
    return part / of if of else None


def shown(figures: Mapping[str, float | None], width: int = 44) -> str:
    """A line a figure; ``-`` where there is none."""
    return "\n".join(f"  {name:<{width}} {'-' if value is None else f'{value:.2f}'}" for name, value in figures.items())
