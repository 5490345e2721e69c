"""A made-up month of machines and people in which things come again and again, names and hours drawn by a seed.

Of machines and of talk there are shapes that the rules of ``actors/knowledge`` were tried with (``SEEN``) and some that
were written before and kept apart (``HELD``). What comes by chance (``NOISE``) has no routine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from incident_streams import SYLLABLES

from environment.messages import NewPerception

BEGINS = 1_772_409_600.0
"""Monday, 2 March 2026."""
DAY, HOUR = 86_400.0, 3_600.0
DAYS = 35

ASKED = {
    "cron": ("how often does the {x} backup run?", "when does the {x} backup usually finish?"),
    "syslog": ("how often does {x}-sync run?", "what time does {x}-sync usually mirror?"),
    "ci": ("how often does pipeline {x} run?", "when does pipeline {x} normally pass?"),
    "van": ("how often does the {x} van come?", "when does the {x} van usually arrive?"),
    "gate": ("how often is the {x} gate opened?", "when does somebody usually open the {x} gate?"),
    "db": ("how often is table {x} vacuumed?", "when is {x} usually vacuumed?"),
    "mail": ("how often do the {x} sales figures come?", "when do the {x} sales figures typically arrive?"),
    "plc": ("how often is {x} line 2 cleaned?", "when is {x} line 2 usually cleaned?"),
    "laundry": ("how often does {x} fetch the laundry?", "when does {x} usually pick up the laundry?"),
    "standup": ("how often is the {x} standup?", "what time is the {x} standup usually?"),
}
"""What is asked of a routine: how often, and when."""
SEEN: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("cron", ("cron[{pid}]: {x} backup finished, {n} files, exit 0",), "cron[{pid}]: {x} backup failed: disk full"),
    ("syslog", ("{x}-sync: mirrored {n} objects in {m} s",), "{x}-sync: timed out after {m} s, giving up"),
    ("ci", ("pipeline {x} passed in {m} s",), "pipeline {x} failed at step {m}"),
    (
        "chat",
        ("{p}: the {x} van is here", "{p}: {x} van just arrived, {m} crates", "{p}: here comes the {x} van"),
        "{p}: no {x} van this time, they are stuck",
    ),
    (
        "radio",
        ("{p}: opening the {x} gate", "{p}: {x} gate is open", "{p}: {x} gate open now, good morning"),
        "{p}: the {x} gate stays shut, the lock is frozen",
    ),
)
HELD: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "db",
        ("db-1 vacuum of table {x} done, {n} rows, {m} pages removed",),
        "db-1 vacuum of table {x} aborted: lock timeout",
    ),
    ("mail", ("Subject: {x} sales figures, week {m}",), "Subject: {x} sales figures delayed"),
    ("plc", ("{x} line 2: cleaning cycle complete, {m} litres",), "{x} line 2: cleaning cycle aborted, no water"),
    (
        "chat",
        (
            "{p}: {x} has picked up the laundry",
            "{p}: laundry went with {x}",
            "{p}: {x} was here for the laundry, {m} bags",
        ),
        "{p}: {x} did not come for the laundry",
    ),
    (
        "team",
        ("{p}: {x} standup in five minutes", "{p}: {x} standup, who is in", "{p}: joining the {x} standup"),
        "{p}: no {x} standup, half of us are ill",
    ),
)
TROUBLES: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...], str], ...] = (
    ("plant",
     (("plc", ("{x} pump: suction pressure low, {m} bar",)), ("plc", ("{x} pump: tripped on overload, code {m}",)),
      ("plc", ("{x} pump: running, {n} rpm",))), "the {x} pump trip"),
    ("servers",
     (("syslog", ("{x}: connection pool exhausted, {m} waiting",)), ("web", ("{x} is down: no answer in {m} s",)),
      ("web", ("{x} is up, {m} ms",))), "{x} go down"),
    ("builds",
     (("mail", ("Subject: {x} mirror will be moved tonight", "Subject: moving the {x} mirror")),
      ("ci", ("build {x} failed: dependency not found ({n})",)), ("ci", ("build {x} green after {m} retries",))),
     "build {x} fail"),
    ("talk",
     (("chat", ("{p}: the {x} lift has that noise", "{p}: odd noise from the {x} lift", "{p}: {x} lift, that noise")),
      ("chat", ("{p}: the {x} lift is stuck", "{p}: {x} lift stuck once more", "{p}: stuck in the {x} lift")),
      ("chat", ("{p}: the mechanic got the {x} lift going", "{p}: {x} lift goes, mechanic was quick"))),
     "the {x} lift get stuck"),
    ("reported",
     (("plc", ("cold store {x} door open for {m} min",)),
      ("radio", ("{p}: {x} alarm, too warm in there", "{p}: alarm from {x} again", "{p}: that {x} alarm")),
      ("radio", ("{p}: {x} is cold enough now", "{p}: cold enough in {x}"))), "the {x} alarm come"),
    ("habits",
     (("gate", ("badge {x} in, door {m}",)), ("chat", ("{p}: coffee with {x}", "{p}: {x} brought coffee")),
      ("gate", ("badge {x} out, door {m}",))), "{x} bring coffee"),
)  # fmt: skip
"""Kinds of what comes at no certain times: what comes before, it, what comes after; each a source and its wordings."""
NOISE = (
    *(
        ("chat", t)
        for t in ("{p}: thanks {q}", "{p}: what a day", "{p}: who took the {y}", "{p}: is {q} in", "{p}: morning all")
    ),
    *(
        ("chat", t)
        for t in ("{p}: lunch at the {y}, who comes", "{p}: {q} rang about the {y}", "{p}: the {y} is broken again")
    ),
    *(
        ("radio", t)
        for t in ("{p}: on my way to {y}", "{p}: copy that", "{p}: {y} looks quiet", "{p}: back in {m} minutes")
    ),
    *(
        ("syslog", t)
        for t in ("sshd[{pid}]: session opened for {q}", "kernel: {y} link up, {n} Mbps", "{y}: restarted")
    ),
    *(("web", t) for t in ("GET /{y}/{n} 200 {m} ms", "GET /{y} 404", "POST /{y} 201 {m} ms")),
    *(("mail", t) for t in ("Subject: {y}. See below, {p}", "Subject: Re: {y}", "Subject: minutes of {y}")),
)


@dataclass
class PlantedRoutine:
    """What comes again and again: ``name`` is in each of its lines and in no other."""

    name: str
    days: frozenset[int]
    hours: tuple[float, ...]
    """Times of day; none: every ``every`` seconds, or at no time in particular."""
    every: float
    held: bool
    source: str
    came: int = 0
    asked: tuple[str, ...] = ()
    missed: list[float] = field(default_factory=list)
    instead: int = 0
    """For how many of these somebody said so."""
    over: float | None = None
    """When it ended, or came at another hour from then on (``after``)."""
    after: float | None = None

    @property
    def regular(self) -> bool:
        """Whether there is a routine in it."""
        return bool(self.days or self.every)


@dataclass
class PlantedIncident:
    """What comes at no certain times: ``name`` is in each of its lines, and in those before and after it."""

    name: str
    kind: str
    asked: str
    said: tuple[tuple[str, ...], ...]
    """Telling words of what comes before, of it, and of what comes after."""
    alone: bool
    """Whether nothing comes before and after it but by chance."""
    by: str = ""
    """Who says it mostly."""
    came: int = 0


@dataclass
class RoutineMonth:
    """Lines and what comes again and again in them."""

    incidents: list[PlantedIncident] = field(default_factory=list)

    lines: list[NewPerception] = field(default_factory=list)
    routines: list[PlantedRoutine] = field(default_factory=list)


PATTERNS = ("nightly", "daily", "weekdays", "weekly", "two days", "twice", "interval", "often", "over", "moved")
WEEK = frozenset(range(7))


class _Writer:
    def __init__(self, seed: int, noise: float) -> None:
        self.chance, self.noise = random.Random(seed), noise
        self.people = [self.word().capitalize() for _ in range(12)]
        self.things = [self.word() for _ in range(60)]
        self.lines: list[tuple[float, str, str]] = []

    def word(self) -> str:
        return "".join(self.chance.sample(SYLLABLES, 3))

    def say(self, at: float, source: str, shape: str, name: str = "", who: str = "") -> None:
        chance = self.chance
        p, q = chance.sample(self.people, 2)
        y, m = chance.choice(self.things), chance.randrange(2, 60)
        given = {"x": name, "y": y, "p": who or p, "q": q, "m": m, "n": chance.randrange(100, 90_000)}
        self.lines.append((at, source, shape.format(**given, pid=chance.randrange(300, 30_000))))

    def plant(self, pattern: str, shape: tuple[str, tuple[str, ...], str], held: bool) -> PlantedRoutine:
        chance, (source, wordings, instead) = self.chance, shape
        days, hours, every, jitter = WEEK, (chance.uniform(6, 20) * HOUR,), 0.0, chance.choice((2, 10, 25)) * 60
        match pattern:
            case "nightly":
                hours = (chance.uniform(0.6, 4) * HOUR,)
            case "weekdays":
                days = frozenset(range(5))
            case "weekly":
                days = frozenset((chance.randrange(7),))
            case "two days":
                days = frozenset(chance.sample(range(7), 2))
            case "twice":
                hours = (chance.uniform(5, 10) * HOUR, chance.uniform(14, 21) * HOUR)
            case "interval":
                days, hours, every, jitter = frozenset(), (), chance.choice((1.5, 2, 3, 36, 60)) * HOUR, 60.0
            case "often":
                days, hours = frozenset(), ()
        made = PlantedRoutine(self.word(), days, hours, every, held, source)
        of = next(one for one in ("van", "gate", "laundry", "standup", source) if one in instead or one == source)
        made.asked = tuple(text.format(x=made.name) for text in ASKED[of])
        if pattern in {"over", "moved"}:
            made.over = BEGINS + chance.randrange(12, 20) * DAY
            made.after = (hours[0] + chance.choice((-5, 5)) * HOUR) % DAY if pattern == "moved" else None
        for at in self.times(made):
            regular = pattern != "often"
            if regular and made.over is None and made.came > 3 and len(made.missed) < 2 and chance.random() < 0.06:
                made.missed.append(at)
                if chance.random() < 0.7:
                    made.instead += 1
                    self.say(at + chance.uniform(0, HOUR), source, instead, made.name)
            else:
                made.came += 1
                self.say(at + chance.uniform(-jitter, jitter), source, chance.choice(wordings), made.name)
        return made

    def strike(self, n: int) -> PlantedIncident:
        """What comes three to nine times, mostly by day, four in five of them with something before, and after.

        One in three comes alone: what the others have before and after has times of its own there.
        """
        chance, (kind, parts, asked) = self.chance, TROUBLES[n % len(TROUBLES)]
        made = PlantedIncident(self.word(), kind, "", (), n % 3 == 2)
        made.asked = asked.format(x=made.name)
        made.said = tuple(tuple(text.format(x=made.name, p="", m="", n="") for text in told) for _, told in parts)
        made.by = chance.choice(self.people) if "{p}" in parts[1][1][0] and chance.random() < 0.5 else ""
        made.came = chance.randrange(3, 10)
        gaps = chance.choice((4, 12, 50)) * 60.0, chance.choice((9, 40, 150)) * 60.0
        days = sorted(chance.sample(range(DAYS), made.came))
        for day in days:
            at = BEGINS + day * DAY + (chance.gauss(13, 4) % 24) * HOUR
            who = made.by if made.by and chance.random() < 0.85 else ""
            self.say(at, parts[1][0], chance.choice(parts[1][1]), made.name, who)
            for way, (source, wordings) in ((-1, parts[0]), (1, parts[2])):
                if made.alone or chance.random() < 0.2:
                    then = BEGINS + chance.randrange(DAYS) * DAY + (chance.gauss(13, 4) % 24) * HOUR
                else:
                    then = at + way * gaps[way > 0] * chance.uniform(0.6, 1.4)
                self.say(then, source, chance.choice(wordings), made.name)
        return made

    def times(self, made: PlantedRoutine) -> list[float]:
        if made.every:
            return [BEGINS + made.every * (n + 1) for n in range(int(DAYS * DAY / made.every) - 1)]
        if not made.days:
            return sorted(BEGINS + self.chance.uniform(0, DAYS) * DAY for _ in range(self.chance.randrange(7, 14)))
        found = []
        for day in range(DAYS):
            for hour in made.hours if day % 7 in made.days else ():
                at = BEGINS + day * DAY + hour
                if made.over is not None and at >= made.over:
                    if made.after is None:
                        continue
                    at = BEGINS + day * DAY + made.after
                found.append(at)
        return found


def month(seed: int, noise: float = 60.0, each: int = 2) -> RoutineMonth:
    """``each`` of every pattern and half of the shapes, beside so many lines of ``noise`` an hour of the day."""
    writer = _Writer(seed, noise)
    told = RoutineMonth()
    for held, shapes in ((False, SEEN), (True, HELD)):
        for n, pattern in enumerate(PATTERNS * each):
            told.routines.append(writer.plant(pattern, shapes[(n + seed) % len(shapes)], held))
    at = BEGINS
    while at < BEGINS + DAYS * DAY:
        busy = 1.0 if 8 <= at % DAY / HOUR < 18 else 0.25
        at += writer.chance.expovariate(noise * busy / HOUR)
        writer.say(at, *writer.chance.choice(NOISE))
    told.incidents = [writer.strike(n) for n in range(len(TROUBLES) * 3 * each // 2)]
    writer.lines.sort()
    told.lines = [
        NewPerception(source=source, time=at, received=at, text=text, key=f"l{n}", trust=0.5)
        for n, (at, source, text) in enumerate(writer.lines)
    ]
    return told
