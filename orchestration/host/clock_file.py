"""Since when a mind's clock runs: kept beside its stores, so that mind time never goes back over a restart."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from environment.messages import Instant
from orchestration.clock import Clock, clock_of
from orchestration.settings import ClockSettings


def write_json(path: Path, value: Any) -> None:
    """Replace a small file as a whole: a reader sees the old or the new, never half of one."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(json.dumps(value, indent=1) + "\n", "utf-8")
    os.replace(beside, path)  # noqa: PTH105 - the atomic one, by its name


def clock_in(data_dir: Path, settings: ClockSettings, wall: Instant) -> Clock:
    """The mind's clock: a catch-up that began in an earlier run goes on where it would be by now."""
    if settings.start is None or settings.origin is not None:
        return clock_of(settings, wall)
    path = data_dir / "clock.json"
    asked = {"start": settings.start, "speed": settings.speed}
    with suppress(OSError, ValueError):
        kept = json.loads(path.read_text("utf-8"))
        if isinstance(kept, dict) and all(kept.get(key) == value for key, value in asked.items()):
            return clock_of(settings, float(kept["origin"]))
    write_json(path, {**asked, "origin": wall})
    return clock_of(settings, wall)
