"""Streams of routine with incidents planted in them, drawn from benchmarks/corpora/incidents.yaml by a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from environment.messages import NewPerception

CORPUS = Path(__file__).parent / "corpora" / "incidents.yaml"
BEGINS = 1_772_600_000.0
WARM_MINUTES, COLD_MINUTES, LEAST_WARM = 300.0, 60.0, 120.0
"""Lengths of the streams, and when the first incident of a warm one may begin."""

SLOT = re.compile("«([^»]*)»")
TIMES = {
    "iso": "%Y-%m-%dT%H:%M:%S.%fZ",
    "clf": "%d/%b/%Y:%H:%M:%S +0000",
    "klog": "%m%d %H:%M:%S.%f",
    "log": "%Y-%m-%d %H:%M:%S.%f",
}
SYLLABLES = (
    "ba",
    "del",
    "fi",
    "gor",
    "ha",
    "kel",
    "lu",
    "mi",
    "nor",
    "pe",
    "ras",
    "sto",
    "tam",
    "ul",
    "ver",
    "wen",
    "zo",
)
FIGURE = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Incident:
    """What breaks the routine: keys of its first line, of all, and of the one that settles it, where one does."""

    name: str
    first: str
    keys: frozenset[str]
    settles: str | None


@dataclass(frozen=True)
class Stream:
    """Lines in order of time; ``labels`` says of each key: an incident's name, ``routine`` or ``filler``."""

    name: str
    kind: str
    history: list[NewPerception]
    labels: Mapping[str, str]
    incidents: list[Incident]


class _Drawer:
    """Fills in what stands in «», the names of a stream always alike."""

    def __init__(self, names: Mapping[str, str], chance: random.Random) -> None:
        self._chance = chance
        self._names = {slot: self._name(kind) for slot, kind in names.items()}

    def _name(self, kind: str) -> str:
        word = "".join(self._chance.sample(SYLLABLES, 2 + (self._chance.random() < 0.4)))
        shapes = {
            "person": word.capitalize(),
            "place": f"{word.capitalize()} {self._chance.choice(['East', 'Hill', 'Quay'])}",
        }
        shapes |= {"service": word, "host": f"{word}-{self._chance.randrange(1, 40)}"}
        return shapes[kind]

    def text(self, template: str, at: float) -> str:
        return SLOT.sub(lambda found: self._slot(found[1], at), template)

    def figures(self, usual: FIGURE) -> dict[str, float]:
        return {name: round(self._chance.gauss(mean, spread), 2) for name, (mean, spread) in usual.items()}

    def _slot(self, slot: str, at: float) -> str:
        if slot in self._names:
            return self._names[slot]
        if slot in TIMES:
            return datetime.fromtimestamp(at, UTC).strftime(TIMES[slot])
        if slot == "hex":
            return f"{self._chance.getrandbits(32):08x}"
        if whole := re.fullmatch(r"(\d+)-(\d+)", slot):
            return str(self._chance.randint(int(whole[1]), int(whole[2])))
        if tenths := re.fullmatch(r"(\d+\.\d)-(\d+\.\d)", slot):
            return f"{self._chance.uniform(float(tenths[1]), float(tenths[2])):.1f}"
        if "|" not in slot:
            raise ValueError(f"«{slot}» is no name, number, time or choice")
        return self._chance.choice(slot.split("|"))


def streams(seed: int, *, cold: bool) -> list[Stream]:
    """One of each in the corpus. Cold: one incident within minutes of the beginning; warm: all, after hours."""
    made = yaml.safe_load(CORPUS.read_text("utf-8"))
    return [_stream(one, random.Random(f"{seed} {one['name']} {cold}"), cold) for one in made]


def planted(talk: Sequence[NewPerception], seed: int, incidents: int = 8) -> Stream:
    """Real talk with incidents of made streams in its last two thirds; what it says itself is ``routine``."""
    chance = random.Random(seed)
    made = [one for one in yaml.safe_load(CORPUS.read_text("utf-8")) if one["kind"] in {"chat", "tickets", "mixed"}]
    drawn = chance.sample([(one, incident) for one in made for incident in one["incidents"]], incidents)
    begins, span = talk[0].time, talk[-1].time - talk[0].time
    lines, labels, found = list(talk), {p.key or "": "routine" for p in talk}, []
    for i, (one, incident) in enumerate(drawn):
        drawer = _Drawer(one["names"], chance)
        at = begins + span * (1 / 3 + (i + chance.random() / 2) * 2 / 3 / len(drawn))
        keys = []
        for n, (after, source, line, *_) in enumerate(incident["lines"]):
            if isinstance(line, str):
                keys.append(f"planted-{i}-{n}")
                time = at + 60 * after
                said = (drawer.text(source, time), time, time, drawer.text(line, time))
                lines.append(NewPerception(*said, key=keys[-1], trust=0.4))
        labels |= dict.fromkeys(keys, f"{i} {incident['name']}")
        found.append(Incident(f"{i} {incident['name']}", keys[0], frozenset(keys), None))
    return Stream("planted", "talk", sorted(lines, key=lambda p: p.time), labels, found)


def _stream(made: Mapping[str, Any], chance: random.Random, cold: bool) -> Stream:
    drawer = _Drawer(made["names"], chance)
    minutes = COLD_MINUTES if cold else WARM_MINUTES
    said: list[tuple[float, str, str | FIGURE, str]] = []
    at = 0.0
    while at < 60 * minutes:
        at += chance.expovariate(1 / made["every"])
        label = "filler" if chance.random() < 0.15 else "routine"
        source, *lines = chance.choice(made[label])
        for i, line in enumerate(lines):
            said.append((at + 4.0 * i, source, line, label))
    planted = chance.sample(made["incidents"], 1 if cold else len(made["incidents"]))
    room = (minutes - LEAST_WARM) / len(planted)
    begins = [
        chance.uniform(3, 8) if cold else LEAST_WARM + room * i + chance.uniform(0, room / 4)
        for i in range(len(planted))
    ]
    for begin, incident in zip(begins, planted, strict=True):
        said += [
            (60 * (begin + after), source, line, incident["name"]) for after, source, line, *_ in incident["lines"]
        ]
    said = [each for each in said if not _contradicts(each, begins, planted)]
    history, labels = [], {}
    for i, (after, source, line, label) in enumerate(sorted(said, key=lambda each: each[0])):
        at = BEGINS + after
        history.append(
            NewPerception(
                source=drawer.text(source, at),
                time=at,
                received=at,
                text=drawer.text(line, at) if isinstance(line, str) else None,
                telemetry=None if isinstance(line, str) else drawer.figures(line),
                key=f"{made['name']}-{i}",
                trust=0.4,
            )
        )
        labels[f"{made['name']}-{i}"] = label
    return Stream(made["name"], made["kind"], history, labels, [_incident(each, labels) for each in planted])


def _contradicts(line: tuple[float, str, str | FIGURE, str], begins: list[float], planted: list[Any]) -> bool:
    """Whether it is a usual reading of what an incident has in its hold."""
    at, source, text, label = line
    return not isinstance(text, str) and any(
        label != incident["name"]
        and source in {of for _, of, *_ in incident["lines"]}
        and 60 * begin <= at <= 60 * (begin + incident["lines"][-1][0])
        for begin, incident in zip(begins, planted, strict=True)
    )


def _incident(made: Mapping[str, Any], labels: Mapping[str, str]) -> Incident:
    keys = [key for key, label in labels.items() if label == made["name"]]
    settled = len(made["lines"][-1]) > 3
    return Incident(made["name"], keys[0], frozenset(keys), keys[-1] if settled else None)
