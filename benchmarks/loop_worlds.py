"""Small made-up streams of other worlds with open loops in them: ``corpora/loops``, a file each.

A line of a file is ``DAY HOUR | SOURCE | TEXT | MARKS``, of April 2026 in UTC. Marks: ``owed NAME DAY HOUR`` opens a
loop that is due then, ``ends NAME`` closes it, ``none`` only sounds like one; ``trouble NAME`` is one that ``mends
NAME`` ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from corpus import instant
from loop_month import Loop

from environment.messages import NewPerception

WORLDS = Path(__file__).parent / "corpora" / "loops"


@dataclass
class World:
    """A stream; the keys of what only sounds like a loop, and of each trouble with that of the line that ends it."""

    history: list[NewPerception] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    decoys: set[str] = field(default_factory=set)
    mends: set[str] = field(default_factory=set)


def world(name: str) -> World:
    found, opened, closes = World(), dict[str, tuple[str, float]](), dict[str, str]()
    for n, line in enumerate((WORLDS / f"{name}.txt").read_text(encoding="utf-8").splitlines()):
        if not line or line.startswith("#"):
            continue
        when, source, text, marks = map(str.strip, line.split("|"))
        key, at = f"{name}-{n}", _at(when)
        found.history.append(NewPerception(source=source, time=at, received=at, text=text, key=key, trust=0.4))
        for mark in filter(None, map(str.strip, marks.split(";"))):
            kind, _, rest = mark.partition(" ")
            thing, _, due = rest.partition(" ")
            match kind:
                case "owed":
                    opened[thing] = key, _at(due)
                case "ends":
                    closes[thing] = key
                case "none":
                    found.decoys.add(key)
                case "mends":
                    found.mends.add(key)
                case "trouble":
                    pass
                case _:
                    raise ValueError(f"{name}, line {n + 1}: no such mark: {mark}")
    found.loops = [Loop("", "", thing, "", key, due, closes.get(thing)) for thing, (key, due) in opened.items()]
    return found


def _at(when: str) -> float:
    day, hour = when.split()
    return instant(f"2026-04-{day}T{hour}:00Z")
