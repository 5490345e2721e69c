"""What a bounded memory still answers after a season, with and without what recall strengthens and opens to change.

    python benchmarks/forgetting.py [--seeds 3] [--share .3] [--json]

Ninety days of things that have a place, a state, a price or somebody responsible, which change now and then. People
ask for some far more often than for others (Zipf), for what is so now and, one time in six, for what was before; what
a mind answers with is told to it as recalled. It may keep a ``share`` of all the facts that it is ever told; only
questions of the last thirty days are counted.

Beside that somebody who was told what is so says within the hour what is so by now (``corrected``), and two people say
different things hours apart of what nobody was told (``denied``): in words that tell of no change, without a bound.

And half a year in which some of what somebody is on call for ends without a word, or all of it goes on, seldom
mentioned: what "who is on call?" names (``offered``), with and without ``knowledge.faint``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product
from pathlib import Path

from fact_month import BEGINS, DAY, KINDS, PLACES, STATES
from incident_streams import SYLLABLES
from knowledge import plain
from thoughts import share, shown

from actors.answering.facts import known_facts
from actors.effects import Commit, WakeAt
from actors.events import Perceived, Started, Tick
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import CONTRADICTIONS, FACTS, Contradiction, Fact, Progress
from actors.knowledge.settings import KnowledgeSettings
from environment.collections import RemoveDocument, WriteDocument
from environment.identity import perception_id
from environment.messages import Perception
from environment.recalls import Recalls
from environment.stores.sqlite import open_stores

HOUR = 3600.0
DAYS, LATE = 90, 60
PAST, BACK = 1 / 6, 1 / 3
SAID = {
    "location": "{x} was moved to {v}",
    "state": "{x} is {v} now",
    "responsible": "{v} is now responsible for {x}",
    "price": "the price of {x} is now {v}",
}


@dataclass
class Thing:
    """Something that has one value at a time."""

    name: str
    relation: str
    weight: float
    """How often it is asked for beside others."""
    values: list[tuple[float, str]] = field(default_factory=list)
    """Since when which."""

    def at(self, time: float) -> int:
        """Which is so then, by its place; -1: none yet."""
        return bisect([since for since, _ in self.values], time) - 1


class Season:
    """Lines that are said, and questions, in order."""

    def __init__(self, seed: int, things: int = 240, asked: float = 60.0) -> None:
        self.chance = chance = random.Random(seed)
        people = [self.word().capitalize() for _ in range(12)]
        self.things: list[Thing] = []
        self.lines: list[tuple[float, str]] = []
        for rank in chance.sample(range(1, things + 1), things):
            thing = Thing(f"{self.word()} {chance.choice(KINDS)}", chance.choice(sorted(SAID)), 1 / rank)
            at = BEGINS + chance.uniform(0, LATE) * DAY
            while at < BEGINS + DAYS * DAY:
                value = self.value(thing.relation, people)
                if not thing.values or value != thing.values[-1][1]:
                    thing.values.append((at, value))
                    said = SAID[thing.relation].format(x=thing.name, v=value)
                    self.lines.append((at, f"{chance.choice(people)}: {said}"))
                at += chance.expovariate(1 / 15) * DAY + DAY
            self.things.append(thing)
        self.lines.sort()
        self.asked = self.questions(asked)

    def word(self) -> str:
        return "".join(self.chance.sample(SYLLABLES, 3))

    def value(self, relation: str, people: Sequence[str]) -> str:
        match relation:
            case "location":
                shape = self.chance.choice(PLACES)
                return shape.format(self.chance.randrange(1, 90) if shape[0] in "bhr" else self.word())
            case "state":
                return self.chance.choice(STATES)
            case "responsible":
                return self.chance.choice(people)
        return f"{self.chance.randrange(2, 900)} EUR"

    def questions(self, each_day: float) -> list[tuple[float, Thing, int]]:
        """When what is asked for, and how many values back."""
        bounds = list(accumulate(one.weight for one in self.things))
        found, at = [], BEGINS
        while (at := at + self.chance.expovariate(each_day) * DAY) < BEGINS + DAYS * DAY:
            one = self.things[bisect(bounds, self.chance.uniform(0, bounds[-1]))]
            before = 0
            while self.chance.random() < (BACK if before else PAST):
                before += 1
            if one.at(at) >= before:
                found.append((at, one, before))
        return found


class Mind:
    """A core that lived through a season, and what it keeps."""

    def __init__(self, settings: KnowledgeSettings) -> None:
        self.facts: dict[str, Fact] = {}
        self.denied: dict[str, Contradiction] = {}
        self.bytes: dict[str, int] = {}
        self.core = KnowledgeCore("knowledge", {}, {}, {}, {}, Progress(), settings)
        self.seq, self.due = 0, BEGINS
        self.do(Started(), BEGINS)

    def do(self, event: object, now: float) -> None:
        while not isinstance(event, Tick) and self.due <= now and not isinstance(event, Started):
            self.do(Tick(), self.due)
        for effect in self.core.handle(event, now):  # type: ignore[arg-type]
            match effect:
                case WakeAt(at):
                    self.due = at
                case Commit(WriteDocument(document)):
                    self.bytes[f"{document.collection}/{document.key}"] = len(document.body)
                    if document.collection == FACTS.name:
                        self.facts[document.key] = FACTS.value(document)
                    elif document.collection == CONTRADICTIONS.name:
                        self.denied[document.key] = CONTRADICTIONS.value(document)
                case Commit(RemoveDocument(name, key)):
                    self.bytes.pop(f"{name}/{key}", None)
                    if name == FACTS.name:
                        self.facts.pop(key, None)

    def say(self, at: float, text: str, source: str = "chat") -> None:
        self.seq += 1
        given = {"source": source, "time": at, "received": at, "text": text, "trust": 0.5}
        self.do(Perceived((Perception(**given, id=perception_id(self.seq), seq=self.seq),), {}), at)  # type: ignore[arg-type]

    def known(self, thing: Thing, value: str, *, now: bool) -> Fact | None:
        """The fact that says so."""
        return next(
            (
                fact
                for fact in self.facts.values()
                if fact.open == now and plain(fact.subject) == plain(thing.name) and plain(fact.value) == plain(value)
            ),
            None,
        )


def measure(seed: int, bound: int, *, recalls: bool) -> Counter[str]:
    season, counts = Season(seed), Counter[str]()
    mind = Mind(KnowledgeSettings(facts=bound))
    events = [(at, 0, text, None, 0) for at, text in season.lines]
    events += [(at, 1, "", thing, before) for at, thing, before in season.asked]
    for at, _, text, thing, before in sorted(events, key=lambda one: one[:2]):
        if thing is None:
            mind.say(at, text)
            continue
        found = mind.known(thing, thing.values[thing.at(at) - before][1], now=not before)
        if found is not None and recalls:
            mind.do(Recalls(((found.evidence[-1].id, at),)), at)
        if at > BEGINS + LATE * DAY:
            kind = "before" if before else "now"
            counts[f"{kind} asked"] += 1
            counts[f"{kind} right"] += found is not None
    return counts


def opened(seed: int, labile: float) -> Counter[str]:
    """What becomes of what is said otherwise: by who was told, and by others while people ask for all else."""
    season, counts = Season(seed), Counter[str]()
    mind, chance = Mind(KnowledgeSettings(labile=labile)), random.Random(seed)
    people = [season.word().capitalize() for _ in range(9)]
    events: list[tuple[float, str, str]] = []
    planted: list[tuple[bool, Thing]] = []
    for n in range(200):
        at = BEGINS + chance.uniform(0, DAYS) * DAY
        thing = Thing(f"{season.word()} {chance.choice(KINDS)}", "", 1 / (n + 1))
        thing.values = [(at, season.value("location", people)), (at + 2 * HOUR, season.value("location", people))]
        told, (one, other) = bool(n % 2), chance.sample(people, 2)
        events += [(at, f"{one}: {thing.name} is in {thing.values[0][1]}", "")]
        events += [(at + 1.7 * HOUR, "", thing.name)] * told
        events += [(at + 2 * HOUR, f"{other}: {thing.name} is in {thing.values[1][1]}", "")]
        planted.append((told, thing))
    bounds = list(accumulate(thing.weight for _, thing in planted))
    for day in range(DAYS * 60):
        _, thing = planted[bisect(bounds, chance.uniform(0, bounds[-1]))]
        events.append((BEGINS + (day + chance.random()) * DAY / 60, "", thing.name))
    for at, text, name in sorted(events):
        if text:
            mind.say(at, text)
            continue
        known = [f for f in mind.facts.values() if f.open and plain(f.subject) == plain(name)]
        mind.do(Recalls(tuple((f.evidence[-1].id, at) for f in known)), at)
    for told, thing in planted:
        kind = "corrected" if told else "denied"
        now = [f for f in mind.facts.values() if f.open and plain(f.subject) == plain(thing.name)]
        counts[f"{kind} planted"] += 1
        counts[f"{kind} new"] += len(now) == 1 and plain(now[0].value) == plain(thing.values[1][1])
        threads = [one for one in mind.denied.values() if plain(one.subject) == plain(thing.name)]
        counts[f"{kind} told of"] += bool(threads)
    return counts


async def offered(seed: int, faint: float, over: float, spoken: Sequence[float] = (3, 10, 40)) -> Counter[str]:
    """What an open question names: of ``over`` of the duties nobody speaks any more from some day on."""
    chance, counts = random.Random(seed), Counter[str]()
    season = Season(seed, things=1)
    people = [season.word().capitalize() for _ in range(12)]
    names = [f"the {season.word()}" for _ in range(10)]
    mind, days = Mind(KnowledgeSettings(faint=faint)), 2 * DAYS
    ends = {name: chance.uniform(0.1, 0.8) * days if chance.random() < over else 2 * days for name in names}
    events = []
    for name in names:
        at, who, every = chance.uniform(0, 0.3) * days, chance.choice(people), chance.choice(spoken)
        while at < min(days, ends[name]):
            who = chance.choice(people) if chance.random() < 0.1 else who
            events.append((BEGINS + at * DAY, f"{chance.choice(people)}: {who} is on call for {name} now"))
            at += chance.expovariate(1 / every)
        ends[name] = min(ends[name], at) if ends[name] < days else ends[name]
    asked = [(BEGINS + day * DAY, "") for day in range(days * 2 // 3, days, 3)]
    with tempfile.TemporaryDirectory(prefix="submind-bench-") as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        for at, text in sorted(events + asked):
            if text:
                mind.say(at, text)
                continue
            while mind.due <= at:
                mind.do(Tick(), mind.due)
            await stores.commit([FACTS.write(key, fact) for key, fact in mind.facts.items()])
            told = await known_facts("who is on call?", stores.collections, at)
            named = {plain(fact.subject) for fact in told.facts} if told else set()
            still = {plain(name) for name in names if ends[name] > (at - BEGINS) / DAY}
            counts["named"] += len(named)
            counts["still so"] += len(named & still)
            counts["could be named"] += min(len(still), 4)
        await stores.close()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many seasons, of seeds 0, 1 and so on")
    parser.add_argument("--share", type=float, default=0.3, help="of all facts that may be kept")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    found: dict[str, float | None] = {}
    for way, recalls in {"nothing recalled": False, "recalled": True}.items():
        total: Counter[str] = Counter()
        for seed in range(args.seeds):
            bound = round(args.share * len(Season(seed).lines))
            total += measure(seed, bound, recalls=recalls)
        for kind in ("now", "before"):
            found[f"{way}: {kind}"] = share(total[f"{kind} right"], total[f"{kind} asked"])
    for way, labile in {"never open": 0.0, "open for an hour": HOUR}.items():
        total = Counter()
        for seed in range(args.seeds):
            total += opened(seed, labile)
        for kind in ("corrected", "denied"):
            for what in ("new", "told of"):
                found[f"{way}: {kind}, {what}"] = share(total[f"{kind} {what}"], total[f"{kind} planted"])
    for over, spoken in product((0.0, 0.5), ((3, 10, 40), (40, 90))):
        for faint in (0.0, KnowledgeSettings().faint):
            total = Counter()
            for seed in range(2 * args.seeds):
                total += asyncio.run(offered(seed, faint, over, spoken))
            way = f"faint {faint:g}, {over:.0%} of the duties over, spoken of each {spoken[0]} days or more: named"
            found[f"{way}, still so"] = share(total["still so"], total["named"])
            found[f"{way}, of what could be"] = share(total["still so"], total["could be named"])
    print(json.dumps(found) if args.json else shown(found))


if __name__ == "__main__":
    main()
