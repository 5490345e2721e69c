"""Histories for the simulator's tests."""

import json
import random
from datetime import datetime
from pathlib import Path

from environment.messages import NewPerception

DAY = Path(__file__).parents[3] / "examples" / "day.jsonl"


def day(start: int = 0, length: int | None = None) -> list[NewPerception]:
    """The example's day, or a stretch of it."""
    lines = DAY.read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines[start : None if length is None else start + length]:
        said = json.loads(line)
        time = datetime.fromisoformat(said["time"]).timestamp()
        found.append(
            NewPerception(
                source=said["source"],
                time=time,
                received=time,
                text=said.get("text"),
                telemetry=said.get("telemetry"),
                key=said["key"],
                trust=0.4,
            )
        )
    return found


def chatter(n: int, seed: int, apart: float = 10.0) -> list[NewPerception]:
    """Lines of made-up words, as unlike or alike as chance has it."""
    chance = random.Random(seed)
    words = [
        f"{a}{b}" for a in ("ka", "mo", "ri", "tel", "su", "van", "ber") for b in ("do", "lin", "mar", "to", "x", "y")
    ]
    return [
        NewPerception(
            source=f"s{chance.randrange(6)}",
            time=1e9 + i * apart,
            received=1e9 + i * apart,
            text=" ".join(chance.choice(words) for _ in range(chance.randrange(3, 12))),
            trust=chance.choice([0.2, 0.4, 0.7]),
        )
        for i in range(n)
    ]
