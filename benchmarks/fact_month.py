"""A made-up month of chat, notes and records with facts planted in it, names and dates drawn by a seed.

Of each template there are some that the rules of ``actors/knowledge`` were written with (``SEEN``) and some that were
written before and kept apart (``HELD``): what is measured on the latter says more.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime

from incident_streams import SYLLABLES

from environment.messages import NewPerception

BEGINS = 1_772_409_600.0
"""Monday, 2 March 2026."""
DAY, HOUR = 86_400.0, 3_600.0
DAYS = 28
KINDS = (
    *("van", "pump", "printer", "server", "boiler", "trolley", "scanner", "ladder", "freezer", "camera"),
    *("door", "mixer", "press", "lift", "key", "crate", "desk", "meter", "valve"),
)
"""With people, twenty."""
SEEN: dict[str, tuple[str, ...]] = {
    "on call": (
        "{p} is on call for {x}",
        "on call for {x}: {p}",
        "{p} is on call for {x} this week",
        "I'm on call for {x} now",
    ),
    "responsible": (
        "{p} is responsible for {x}",
        "{p} looks after {x}",
        "{x}'s owner is {p}",
        "{x} is handled by {p}",
        "{p} is in charge of {x}",
    ),
    "location": (
        "{x} is in {l}",
        "the {x} is at {l}",
        "{x} is parked behind {l}",
        "I put {x} in {l}",
        "we keep {x} in {l}",
    ),
    "phone": ("{p}'s number is {n}", "you can reach {p} on {n}", "my phone number is {n}", "phone of {p}: {n}"),
    "value": ("{x} weighs {w}", "the {a} of {x} is {v}", "{x}'s {a} is {v}"),
    "state": ("{x} is {s}", "{x} is {s} now", "status of {x}: {s}"),
    "time": ("{m} is on {t}", "{m} takes place on {t}", "{m}: {t}", "the {m} is {t}"),
    "role": ("{p} is the {r} of {x}", "{x}'s {r} is {p}", "the {r} of {x} is {p}"),
    "supplier": ("{y} supplies {x}", "{x} comes from {y}"),
    "feeling": ("{p} likes {f}", "{p} is allergic to {f}", "I love {f}"),
    "promised": ("I'll send the {d} by {t}", "I will bring the {d} until {t}"),
}
HELD: dict[str, tuple[str, ...]] = {
    "on call": ("the on-call for {x} is {p}", "{x} on call is {p}", "{p} has on-call for {x} this week"),
    "responsible": ("{p} takes care of {x}", "the owner of {x} is {p}", "{x} is looked after by {p}", "{p} runs {x}"),
    "location": ("{x} sits in {l}", "you'll find {x} in {l}", "{x} can be found in {l}", "{x} is stored in {l}"),
    "phone": ("call {p} on {n}", "the number of {p} is {n}", "{p}'s mobile is {n}"),
    "value": ("{x} has a {a} of {v}", "{a} of {x}: {v}", "{x}: {a} {v}"),
    "state": ("{x} went {s}", "{x} is currently {s}", "{x}'s status is {s}"),
    "time": ("{m} will be on {t}", "{m} starts {t}", "we have {m} on {t}"),
    "role": ("{p} is {x}'s {r}", "{p} works as {r} of {x}"),
    "supplier": ("we get {x} from {y}", "{x} is supplied by {y}"),
    "feeling": ("{p} hates {f}", "{p} prefers {f}"),
    "promised": ("I am going to send the {d} by {t}", "you will have the {d} from me by {t}"),
}
CHANGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "on call": (
        ("{p} takes over on call for {x} from {q}", "{p} is now on call for {x}", "as of now {p} is on call for {x}"),
        ("{p} replaces {q} on call for {x}", "{q} handed on call for {x} over to {p}"),
    ),
    "responsible": (
        ("{p} is now responsible for {x}", "{p} took over {x} from {q}", "{q} handed {x} over to {p}"),
        ("{x} is now looked after by {p}", "from today {p} is responsible for {x}"),
    ),
    "location": (
        ("{x} moved to {l}", "{x} was moved to {l}", "{p} moved {x} to {l}", "I took {x} to {l}"),
        ("{x} has been taken to {l}", "{x} now sits in {l}", "{x} went from {k} to {l}"),
    ),
    "phone": (("{p}'s new number is {n}", "my number is now {n}"), ("{p}'s number changed to {n}",)),
    "value": (("{x}'s {a} is now {v}", "the {a} of {x} went up to {v}"), ("the {a} of {x} was changed to {v}",)),
    "state": (("{x} is {s} again", "{x} is {s} now"), ("{x} is no longer {z}, it is {s}",)),
    "time": (
        ("{m} was moved to {t}", "{m} moved from {u} to {t}"),
        ("{m} has been rescheduled to {t}", "{m} is postponed to {t}"),
    ),
    "role": (("{p} is the new {r} of {x}", "{p} replaces {q} as {r} of {x}"), ("{p} became {r} of {x}",)),
}
CORRECTIONS = (
    ("Correction: {x} is in {l}", "no, it's in {l}", "{x} is not in {k} but in {l}", "sorry, {x} is in {l}"),
    ("{x} is in {l}, not in {k}", "my mistake, {x} is in {l}"),
)
NOISE = (
    (
        *("is {x} in {l}?", "where is {x}", "who is on call for {x}?", "has anybody seen {p}?"),
        *("i heard {x} is in {l}", "rumour has it that {p} is the {r} of {x}", "haha {p} is on call for the biscuits"),
        *("{x} is not in {l}", "{p} isn't on call for {x}", "if {x} is in {l}, tell me", "maybe {x} is in {l}"),
        *("put {x} in {l} please", "it is broken", "they moved it to {l}", "ok thanks {p}", "morning all"),
        *("this is annoying", "that was quick", "there is cake in the kitchen", "i wish {x} was in {l}"),
        *("heartbeat ok rss=460M p95=174ms", "what a day", "everyone is tired", "who is coming for lunch"),
        *("someone said {p}'s number is {n}", "thanks, see you on {t}", "{x} should be in {l}"),
    ),
    (
        *("{p} thinks {x} is in {l}", "imagine {p} is the {r} of {x}", "{x} could be in {l}", "apparently {x} is {s}"),
        *("just kidding, {x} is in {l}", "would {p} be the {r} of {x}", "unless {x} is {s} we go", "nobody is here"),
        *("can you move {x} to {l}", "let's say {x} is in {l}", "supposedly {y} supplies {x}", "he is on call"),
        *("are we sure {p} owns {x}", "{p} never liked {f}", "the whole thing is a mess", "it's what it is"),
        *("here is the link", "{p}: yes, one minute", "remember to call {p}", "{x}? no idea"),
    ),
)
STATES = ("broken", "open", "closed", "offline", "out of order", "jammed", "empty", "full")
ROLES = ("lead", "manager", "deputy", "contact")
ATTRIBUTES = (("limit", "bar"), ("temperature", "C"), ("capacity", "l"), ("price", "EUR"))
FOODS = ("sardines", "peanuts", "jazz", "early shifts", "green tea", "crosswords")
PLACES = ("bay {}", "hall {}", "the {} yard", "room {}", "the {} store")


@dataclass
class Planted:
    """What is so: said first in the line ``key``, from then until ``until``."""

    relation: str
    subject: str
    value: str
    key: str
    since: float
    held: bool
    until: float | None = None
    disputed: bool = False
    wrong: bool = False
    """It was said, and corrected."""
    named: str = ""
    """The relation, where there are several of the kind."""


@dataclass
class Month:
    """Lines and what is true of them."""

    lines: list[NewPerception] = field(default_factory=list)
    facts: list[Planted] = field(default_factory=list)
    contradictions: list[tuple[Planted, Planted]] = field(default_factory=list)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.people = [self.word().capitalize() for _ in range(16)]
        self.firms = [f"{self.word().capitalize()} Ltd" for _ in range(6)]
        self.lines: list[tuple[float, str, str, str]] = []
        self.month = Month()
        self.spoke = ""

    def word(self) -> str:
        return "".join(self.chance.sample(SYLLABLES, 3))

    def thing(self) -> str:
        kind, number = self.chance.choice(KINDS), self.chance.randrange(2, 99)
        return f"{self.word()} {kind}" if self.chance.random() < 0.5 else f"{self.word()} {kind} {number}"

    def place(self) -> str:
        shape = self.chance.choice(PLACES)
        return shape.format(self.chance.randrange(1, 90) if shape[0] in "bhr" else self.word())

    def drawn(self, at: float) -> dict[str, str]:
        p, q = self.chance.sample(self.people, 2)
        attribute, unit = self.chance.choice(ATTRIBUTES)
        when = datetime.fromtimestamp(at + self.chance.randrange(1, 5) * DAY, UTC)
        hour = f"{self.chance.randrange(8, 18):02}:{self.chance.choice(('00', '30'))}"
        return {
            "p": p,
            "q": q,
            "x": self.thing(),
            "l": self.place(),
            "k": self.place(),
            "n": f"0{self.chance.randrange(1000, 9999)} {self.chance.randrange(100_000, 999_999)}",
            "w": f"{self.chance.randrange(2, 400)} kg",
            "a": attribute,
            "v": f"{self.chance.randrange(2, 900)} {unit}",
            "s": self.chance.choice(STATES),
            "z": self.chance.choice(STATES),
            "m": f"{self.word()} {self.chance.choice(('review', 'visit', 'audit', 'meeting'))}",
            "t": when.strftime(self.chance.choice((f"%A at {hour}", f"%a {when.day} %B {hour}"))),
            "at": when.strftime(f"%Y-%m-%d {hour}"),
            "r": self.chance.choice(ROLES),
            "y": self.chance.choice(self.firms),
            "f": self.chance.choice(FOODS),
            "d": f"{self.word()} {self.chance.choice(('report', 'contract', 'drawing'))}",
        }

    def say(self, at: float, template: str, named: dict[str, str], source: str = "") -> tuple[str, str]:
        """(Key, who says it)."""
        key = f"fact-{len(self.lines)}"
        others = [one for one in self.people if one not in {named["p"], named["q"], self.spoke}]
        self.spoke = speaker = self.chance.choice(others)
        if template.startswith(("I ", "I'", "my ", "{p}: ")) or " me " in template:
            speaker = named["p"]
        text = template.format(**named)
        way = source or self.chance.choice(("chat", "chat", "team", "direct"))
        if way == "direct":
            self.lines.append((at, key, speaker.lower(), text))
        else:
            self.lines.append((at, key, way, f"{speaker}: {text}"))
        return key, speaker

    def plant(
        self, relation: str, at: float, template: str, named: dict[str, str], *, held: bool, **more: str
    ) -> Planted:
        key, speaker = self.say(at, template, named, **more)
        subject, value = named["x"], named["p"]
        match relation:
            case "location":
                value = named["l"]
            case "phone":
                subject, value = named["p"], named["n"]
            case "value":
                value = named["w"] if "{w}" in template else named["v"]
            case "state":
                value = named["s"]
            case "time":
                subject, value = named["m"], named["at"]
            case "supplier":
                value = named["y"]
            case "feeling":
                subject, value = (speaker if template.startswith("I ") else named["p"]), named["f"]
            case "promised":
                subject, value = speaker, named["d"]
        made = Planted(relation, subject, value, key, at, held)
        made.named = {"role": named["r"], "value": "weight" if "{w}" in template else named["a"]}.get(relation, "")
        self.month.facts.append(made)
        return made


def month(seed: int, chains: int = 14) -> Month:
    """So many things of each relation, half of which change."""
    writer = _Writer(seed)
    chance = writer.chance
    for relation, held, templates in [(r, h, s[r]) for h, s in ((False, SEEN), (True, HELD)) for r in SEEN]:
        for i in range(chains):
            at = _working(chance, 12)
            named = writer.drawn(at)
            fact = writer.plant(relation, at, templates[i % len(templates)], named, held=held)
            if relation in CHANGES and i % 2:
                _changes(writer, fact, named, CHANGES[relation][held], "{w}" in templates[i % len(templates)])
    for i in range(chains):
        _corrected(writer, held=bool(i % 3 == 2))
        _contradicted(writer, chance.choice(("location", "phone", "role", "time")))
        _record(writer)
    for i in range(60 * chains):
        at = _working(chance, DAYS)
        writer.say(at, chance.choice(NOISE[i % 3 == 0]), writer.drawn(at))
    writer.lines.sort()
    writer.month.lines = [
        NewPerception(source=s, time=at, received=at, text=text, key=key, trust=0.4)
        for at, key, s, text in writer.lines
    ]
    return writer.month


def _changes(writer: _Writer, fact: Planted, named: dict[str, str], templates: tuple[str, ...], weight: bool) -> None:
    """One or two later values; what was is past then."""
    at, chance = fact.since, writer.chance
    if weight:
        return
    for _ in range(chance.choice((1, 1, 2))):
        at = _hour(chance, at + chance.randrange(2, 7) * DAY)
        before, drawn = named, writer.drawn(at)
        keep = ("p", "n") if fact.relation == "phone" else ()
        named = drawn | {name: before[name] for name in ("x", "m", "a", "r", *keep[:1])}
        named |= {"q": before["p"], "k": before["l"], "z": before["s"], "u": before["t"]}
        if fact.relation != "phone":
            while named["p"] == before["p"]:
                named["p"] = chance.choice(writer.people)
        else:
            named["q"] = drawn["q"] if drawn["q"] != named["p"] else drawn["p"]
        while named["s"] == before["s"]:
            named["s"] = chance.choice(STATES)
        unit = dict(ATTRIBUTES)[named["a"]]
        named["v"] = f"{chance.randrange(2, 900)} {unit}"
        fact.until = at
        fact = writer.plant(fact.relation, at, chance.choice(templates), named, held=fact.held)


def _corrected(writer: _Writer, *, held: bool) -> None:
    at = _working(writer.chance, 20)
    named = writer.drawn(at)
    first = writer.plant("location", at, "{x} is in {l}", named, held=held, source="yard")
    first.wrong = True
    first.until = at
    named = named | {"k": named["l"], "l": writer.place()}
    writer.plant("location", at + 60, writer.chance.choice(CORRECTIONS[held]), named, held=held, source="yard")


def _contradicted(writer: _Writer, relation: str) -> None:
    """Two sources say different things of the same time, and neither says that anything changed."""
    at = _working(writer.chance, 24)
    named, other = writer.drawn(at), writer.drawn(at)
    first = writer.plant(relation, at, SEEN[relation][0], named, held=False, source="north")
    named = other | {"x": named["x"], "m": named["m"], "r": named["r"], "q": named["p"]}
    while named["l"] == first.value:
        named["l"] = writer.place()
    if relation == "phone":
        named["p"] = first.subject
    elif named["p"] == first.value:
        named["p"] = other["q"]
    second = writer.plant(relation, at + 2 * HOUR, SEEN[relation][0], named, held=False, source="south")
    first.disputed = second.disputed = True
    writer.month.contradictions.append((first, second))


def _record(writer: _Writer) -> None:
    """Lines of names and values, of which each is a fact."""
    at = _working(writer.chance, DAYS)
    named = writer.drawn(at)
    named["x"] = f"{writer.word().upper()}-{writer.chance.randrange(10, 99)}"
    key = f"fact-{len(writer.lines)}"
    writer.lines.append((at, key, "assets", "Asset: {x}\nLocation: {l}\nOwner: {p}\nWeight: {w}".format(**named)))
    for relation, value in (("location", named["l"]), ("responsible", named["p"]), ("value", named["w"])):
        named_so = "weight" if relation == "value" else ""
        writer.month.facts.append(Planted(relation, named["x"], value, key, at, held=False, named=named_so))


def _hour(chance: random.Random, at: float) -> float:
    return at - at % DAY + chance.uniform(8, 18) * HOUR


def _working(chance: random.Random, days: int) -> float:
    return BEGINS + chance.randrange(days) * DAY + chance.uniform(8, 18) * HOUR
