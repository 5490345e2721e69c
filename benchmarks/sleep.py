"""What sleep makes of a made-up month: gists right and wrong, what questions of routines get, what it costs.

    python benchmarks/sleep.py [--seeds 3] [--noise 60] [--json] [--show]

The month (benchmarks/routine_month.py) is told to ``KnowledgeCore`` line by line, as time goes by. A gist is right
where its words say the days and, within half an hour, the hours that the month was made with.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from routine_month import DAY, HOUR, PlantedRoutine, RoutineMonth, month
from thoughts import share, shown

from actors.answering.episodes import EpisodeFollower
from actors.effects import Commit, WakeAt
from actors.events import Perceived, Started, Tick
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import FACTS, HAPPENS, RECURS, SLEEPS, Fact, Progress, SleepReport
from actors.knowledge.routines import Routine
from actors.knowledge.settings import KnowledgeSettings
from environment.collections import RemoveDocument, WriteDocument
from environment.identity import perception_id
from environment.messages import NewPerception, Perception
from environment.stores.sqlite import open_stores


class Slept:
    """A core that lived through a month, and what it has written."""

    def __init__(self, lines: Sequence[NewPerception], settings: KnowledgeSettings) -> None:
        self.facts: dict[str, Fact] = {}
        self.sleeps: list[SleepReport] = []
        self.sizes: dict[str, int] = {}
        self.nights: list[float] = []
        self.written: Counter[int] = Counter()
        self.core = KnowledgeCore("knowledge", {}, {}, {}, {}, Progress(), settings)
        began = time.process_time()
        self.begin = self.due = lines[0].time
        self._do(self.core.handle(Started(), self.begin), self.begin)
        for seq, line in enumerate(lines, 1):
            while self.due <= line.time:
                self._tick(self.due)
            given = {name: getattr(line, name) for name in ("source", "time", "received", "text", "trust")}
            one = Perception(**given, id=perception_id(seq), seq=seq)
            self._do(self.core.handle(Perceived((one,), {}), line.time), line.time)
        while self.due <= lines[-1].time + DAY:
            self._tick(self.due)
        self.seconds = time.process_time() - began

    def _tick(self, now: float) -> None:
        slept, began = len(self.sleeps), time.process_time()
        self._do(self.core.handle(Tick(), now), now)
        if len(self.sleeps) > slept:
            self.nights.append(time.process_time() - began)

    def _do(self, effects: object, now: float) -> None:
        for effect in effects:  # type: ignore[attr-defined]
            match effect:
                case WakeAt(at):
                    self.due = at
                case Commit(WriteDocument(document)):
                    self.sizes[f"{document.collection}/{document.key}"] = len(document.body)
                    self.written[int((now - self.begin) // DAY)] += len(document.body)
                    if document.collection == FACTS.name:
                        self.facts[document.key] = FACTS.value(document)
                    elif document.collection == SLEEPS.name:
                        self.sleeps.append(SLEEPS.value(document))
                case Commit(RemoveDocument(name, key)):
                    self.sizes.pop(f"{name}/{key}", None)
                    if name == FACTS.name:
                        self.facts.pop(key, None)


def expected(planted: PlantedRoutine, *, after: bool) -> Routine:
    hours = (planted.after,) if after and planted.after is not None else planted.hours
    return Routine(planted.days, tuple(sorted(hours)), planted.every)


def clock(words: str) -> list[float]:
    return sorted(int(h) * HOUR + int(m) * 60.0 for h, m in re.findall(r"\b(\d\d):(\d\d)\b", words))


def says(text: str, planted: PlantedRoutine, *, after: bool) -> bool:
    """Whether words tell when it comes."""
    wanted, said = expected(planted, after=after), text.split(" times since ", maxsplit=1)[0].rpartition(", ")[0]
    if wanted.days:
        days = wanted.words().partition(" about ")[0]
        near = [
            min(abs((a - b + DAY / 2) % DAY - DAY / 2) for b in clock(said) or [DAY / 3]) <= HOUR / 2
            for a in wanted.hours
        ]
        daily = {"daily", "nightly"}
        alike = any(day in said for day in daily) if days in daily else days in said
        return alike and all(near) and len(clock(said)) == len(wanted.hours)
    if planted.every:
        return said == wanted.words() or said == f"about every {round(planted.every / 60)} minutes"
    return False


def measure(seed: int, noise: float, show: bool, settings: KnowledgeSettings) -> Counter[str]:
    told = month(seed, noise)
    mind = Slept(told.lines, settings)
    counts: Counter[str] = Counter(seconds=round(1e6 * mind.seconds), lines=len(told.lines))
    gists = [fact for fact in mind.facts.values() if fact.relation == RECURS]
    for fact in gists:
        planted = [one for one in told.routines if one.name in fact.subject]
        right = any(
            says(fact.value, one, after=after)
            for one in planted
            for after in {False, fact.open and one.after is not None}
        )
        counts["gists"] += 1
        counts["right"] += right
        counts["of noise"] += not any(one.regular for one in planted)
        if show and not right:
            print("wrong", fact.subject, "|", fact.value, "|", fact.reason, planted)
    for one in [one for one in told.routines if one.regular]:
        of = [fact for fact in gists if one.name in fact.subject]
        after = one.after is not None
        now = [fact for fact in of if fact.open]
        found = any(says(f.value, one, after=after) for f in (now if one.over is None or after else of))
        found = found and (one.over is None or after or not now)
        part = "held" if one.held else "seen"
        counts[f"{part} planted"] += 1
        counts[f"{part} found"] += found
        if one.missed and found:
            counts["with a miss"] += 1
            counts["miss told"] += any("not on" in f.value for f in now)
            counts["with an instead"] += one.instead > 0
            counts["instead told"] += one.instead > 0 and any("“" in f.value for f in now)
        if show and not found:
            print("missed", one, [(f.value, f.open) for f in of])
    happened(told, [fact for fact in mind.facts.values() if fact.relation == HAPPENS], counts, show)
    asyncio.run(asked(told, mind.facts, "gists", counts))
    others = {key: fact for key, fact in mind.facts.items() if fact.relation not in {RECURS, HAPPENS}}
    asyncio.run(asked(told, others, "no gists", counts))
    counts["sleeps"] += len(mind.sleeps)
    counts["night us"] += round(1e6 * max(mind.nights))
    counts["bytes week 2"] += sum(mind.written[d] for d in range(7, 14))
    counts["bytes week 5"] += sum(mind.written[d] for d in range(28, 35))
    counts["kept"] += sum(mind.sizes.values())
    return counts


def alike(label: str, wordings: Sequence[str]) -> bool:
    """Whether most words of a label are those of one of some wordings."""
    said = set(re.findall(r"[a-z]+", label.lower()))
    return any(len(said & set(re.findall(r"[a-z]+", one.lower()))) >= 0.75 * len(said) > 0 for one in wordings)


def happened(told: RoutineMonth, gists: Sequence[Fact], counts: Counter[str], show: bool) -> None:
    """What gists tell of what comes at no certain times."""
    counts["happens"] += len(gists)
    for fact in gists:
        planted = next((one for one in told.incidents if one.name in fact.subject), None)
        for way, label in COMPANION.findall(fact.value):
            own = planted is not None and not planted.alone and planted.name in label
            counts["companions"] += 1
            counts["companions right"] += own
            if show and not own:
                print("chance", fact.subject, "|", way, label, "|", fact.value)
    for one in told.incidents:
        of = [f for f in gists if one.name in f.subject and alike(f.subject, one.said[1])]
        exact = [f for f in of if f.value.startswith(f"{one.came} times")]
        if one.kind == "habits" and one.alone:  # no trouble, and nothing else to be told
            continue
        counts["incidents"] += 1
        counts["counted"] += bool(exact)
        counts["more than one"] += len(of) > 1
        if show and not exact:
            print("not counted", one, [f.value for f in of])
        for way, said in () if one.alone else (("before", one.said[0]), ("after", one.said[2])):
            right = any(way == w and alike(label, said) for f in of for w, label in COMPANION.findall(f.value))
            counts[f"{way} planted"] += 1
            counts[f"{way} found"] += right


COMPANION = re.compile(r"(before|after) it “(.*?)”")


def answered(one: PlantedRoutine, way: str, text: str) -> bool:
    """Whether an answer tells how often, or at what time, something comes."""
    wanted = expected(one, after=one.after is not None)
    if way == "when" and wanted.days:
        gaps = [[abs((a - b + DAY / 2) % DAY - DAY / 2) for b in clock(text)] for a in wanted.hours]
        return all(min(of, default=DAY) <= HOUR / 2 for of in gaps)
    period = wanted.words().partition(" about ")[0] if wanted.days else wanted.words()
    daily = ("daily", "nightly")
    return any(each in text for each in (daily if period in daily else (period,)))


async def asked(told: RoutineMonth, facts: Mapping[str, Fact], kind: str, counts: Counter[str]) -> None:
    """What is answered of how often and when something comes, where these facts are known."""
    with tempfile.TemporaryDirectory(prefix="submind-bench-") as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        await stores.perceptions.append(told.lines)
        await stores.commit([FACTS.write(key, fact) for key, fact in facts.items()])
        who = EpisodeFollower(stores, 50_000, ())
        for one in [one for one in told.routines if one.regular and (one.over is None or one.after is not None)]:
            for way, question in zip(("often", "when"), one.asked, strict=True):
                reply = await who.answer(question, (), told.lines[-1].time)
                counts[f"{way} asked, {kind}"] += 1
                counts[f"{way} right, {kind}"] += answered(one, way, reply.text)
        for one in told.incidents:
            reply = await who.answer(f"how often did {one.asked}?", (), told.lines[-1].time)
            counts[f"count asked, {kind}"] += 1
            number = re.search(r"(\d+) times since", reply.text) if reply.known else None
            counts[f"count right, {kind}"] += number is not None and int(number[1]) == one.came
            counts[f"count wrong, {kind}"] += number is not None and int(number[1]) != one.came
            if not one.alone:
                reply = await who.answer(f"what usually happens before {one.asked}s?", (), told.lines[-1].time)
                counts[f"before asked, {kind}"] += 1
                counts[f"before right, {kind}"] += any(
                    way == "before" and alike(label, one.said[0]) for way, label in COMPANION.findall(reply.text)
                ) or alike(reply.text.partition("”")[0], one.said[0])
            if one.by:
                reply = await who.answer(f"who says usually that {one.asked}s?", (), told.lines[-1].time)
                counts[f"who asked, {kind}"] += 1
                counts[f"who right, {kind}"] += f"mostly by {one.by}" in reply.text
        await stores.close()


def figures(counts: Counter[str], seeds: int) -> dict[str, float | None]:
    planted = counts["seen planted"] + counts["held planted"]
    return {
        "gists": counts["gists"],
        "right": share(counts["right"], counts["gists"]),
        "of what has no routine": share(counts["of noise"], counts["gists"]),
        "planted routines found": share(counts["seen found"] + counts["held found"], planted),
        "... of shapes held out": share(counts["held found"], counts["held planted"]),
        "misses told": share(counts["miss told"], counts["with a miss"]),
        "what came instead told": share(counts["instead told"], counts["with an instead"]),
        "how often: right answers": share(counts["often right, gists"], counts["often asked, gists"]),
        "... without gists": share(counts["often right, no gists"], counts["often asked, no gists"]),
        "when: right answers": share(counts["when right, gists"], counts["when asked, gists"]),
        "... without gists, by any time quoted": share(counts["when right, no gists"], counts["when asked, no gists"]),
        "at no certain times: gists": counts["happens"],
        "... planted ones counted exactly": share(counts["counted"], counts["incidents"]),
        "... told more than once": share(counts["more than one"], counts["incidents"]),
        "what comes before: found": share(counts["before found"], counts["before planted"]),
        "what comes after: found": share(counts["after found"], counts["after planted"]),
        "what is said to come along": counts["companions"],
        "... right": share(counts["companions right"], counts["companions"]),
        "how often did: right answers": share(counts["count right, gists"], counts["count asked, gists"]),
        "... wrong answers": share(counts["count wrong, gists"], counts["count asked, gists"]),
        "... from lines alone": share(counts["count right, no gists"], counts["count asked, no gists"]),
        "what before: right answers": share(counts["before right, gists"], counts["before asked, gists"]),
        "... from lines alone, by the first": share(counts["before right, no gists"], counts["before asked, no gists"]),
        "who mostly: right answers": share(counts["who right, gists"], counts["who asked, gists"]),
        "sleeps": counts["sleeps"],
        "us a line": counts["seconds"] / counts["lines"],
        "longest sleep, ms": counts["night us"] / seeds / 1e3,
        "written in week 5 over week 2": share(counts["bytes week 5"], counts["bytes week 2"]),
        "KiB kept": counts["kept"] / seeds / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many months, of seeds 0, 1 and so on")
    parser.add_argument("--noise", type=float, default=60.0, help="other lines an hour of the day")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--show", action="store_true", help="list what is wrong or missing")
    args = parser.parse_args()
    total: Counter[str] = Counter()
    for seed in range(args.seeds):
        total.update(measure(seed, args.noise, args.show, KnowledgeSettings()))
    found = figures(total, args.seeds)
    print(json.dumps(found) if args.json else shown(found))


if __name__ == "__main__":
    main()
