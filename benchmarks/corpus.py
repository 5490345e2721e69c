"""Reading the JSON lines that benchmarks measure on: ``time`` (RFC 3339), ``source``, ``text``."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from environment.messages import NewPerception


def objects(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def perceptions(path: Path) -> list[NewPerception]:
    """A corpus in order of time."""
    found = [
        NewPerception(
            source=x["source"] or "unknown",
            time=(at := instant(x["time"])),
            received=at,
            text=x.get("text"),
            telemetry=x.get("telemetry"),
            key=x.get("key"),
            trust=0.4,
        )
        for x in objects(path)
    ]
    return sorted(found, key=lambda p: p.time)
