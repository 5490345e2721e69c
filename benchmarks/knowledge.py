"""Whether what is kept of a made-up month is so, and what was said is kept: junk, recall, contradictions, updates.

    python benchmarks/knowledge.py [--seeds 3] [--json] [--show]

The month (benchmarks/fact_month.py) is told to ``KnowledgeCore`` line by line. A fact is right where the month says it
of that subject, by a line among its evidence; one that says again what another says is double. The values of what
changes are asked for at the end, and half-way through the time in which another one was so. ``--show`` lists what is
wrong or missing, without the templates that the rules were not written with.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Mapping

from fact_month import Month, Planted, month
from thoughts import share, shown

from actors.effects import Commit
from actors.events import Perceived, Started, Tick
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import CONTRADICTIONS, FACTS, Contradiction, Fact, FactStanding, Progress, holds
from actors.knowledge.settings import KnowledgeSettings
from environment.collections import RemoveDocument, WriteDocument
from environment.identity import perception_id
from environment.messages import Perception

FEELINGS = frozenset({"likes", "loves", "hates", "prefers", "allergic to"})


def plain(text: str) -> str:
    """Without what a fact may say or leave out."""
    said = re.sub(r"\b(?:the|a|an|in|at|behind)\s+", "", text.lower())
    return re.sub(r"\W+", " ", said).strip()


def same(fact: Fact, planted: Planted) -> bool:
    relation = fact.relation in (FEELINGS if planted.relation == "feeling" else {planted.named or planted.relation})
    value = plain(planted.value) == plain(fact.value) or (
        planted.relation == "promised" and plain(planted.value) in plain(fact.value)
    )
    return relation and value and plain(fact.subject) == plain(planted.subject)


class Told:
    """A core, and what it has written."""

    def __init__(self, told: Month) -> None:
        self.facts: dict[str, Fact] = {}
        self.contradictions: dict[str, Contradiction] = {}
        self.keys = {perception_id(seq): line.key for seq, line in enumerate(told.lines, 1)}
        core = KnowledgeCore("knowledge", {}, {}, {}, {}, Progress(), KnowledgeSettings())
        core.handle(Started(), told.lines[0].time)
        self.seconds: list[float] = []
        self.writes: list[WriteDocument | RemoveDocument] = []
        due = told.lines[0].time
        for seq, line in enumerate(told.lines, 1):
            given = {name: getattr(line, name) for name in ("source", "time", "received", "text", "trust")}
            one = Perception(**given, id=perception_id(seq), seq=seq)
            began = time.process_time()
            effects = core.handle(Perceived((one,), {}), line.time)
            self.seconds.append(time.process_time() - began)
            if line.time > due:
                due = line.time + 3600.0
                effects += core.handle(Tick(), line.time)
            for effect in effects:
                if isinstance(effect, Commit):
                    self._write(effect.write)
                    self.writes.append(effect.write)  # type: ignore[arg-type]

    def _write(self, write: object) -> None:
        for collection, kept in ((FACTS, self.facts), (CONTRADICTIONS, self.contradictions)):
            match write:
                case WriteDocument(document) if document.collection == collection.name:
                    kept[document.key] = collection.value(document)  # type: ignore[attr-defined]
                case RemoveDocument(name, key) if name == collection.name:
                    kept.pop(key, None)


def measure(seed: int, show: bool = False) -> dict[str, float]:
    """Counts, of which the figures are shares."""
    told = month(seed)
    mind = Told(told)
    counts: Counter[str] = Counter()
    text = {line.key: line.text for line in told.lines}
    by_line: defaultdict[str | None, list[Planted]] = defaultdict(list)
    for planted in told.facts:
        by_line[planted.key].append(planted)
    taken: set[tuple[str, str]] = set()
    for fact in mind.facts.values():
        counts["kept"] += 1
        keys = [mind.keys[ref.id] for ref in fact.evidence]
        known = [p for key in keys for p in by_line[key] if same(fact, p)]
        place = (known[0].key, known[0].relation) if known else ("", "")
        if not known or not fact.value or not fact.subject:
            counts["junk"] += 1
            counts["junk of held"] += any(p.held for key in keys for p in by_line[key])
            if show and not any(p.held for key in keys for p in by_line[key]):
                print("wrong", (fact.subject, fact.relation, fact.value), "|", text[keys[0] or ""])
        elif place in taken:
            counts["double"] += 1
            if show:
                print("double", (fact.subject, fact.relation, fact.value), "|", text[keys[0] or ""])
        taken.add(place)
    for planted in told.facts:
        found = [
            f
            for f in mind.facts.values()
            if same(f, planted) and any(mind.keys[r.id] == planted.key for r in f.evidence)
        ]
        part = "held" if planted.held else "seen"
        counts[f"{part} planted"] += 1
        counts[f"{part} found"] += bool(found)
        if show and not found and not planted.held:
            print("missed", planted.relation, "|", text[planted.key])
    _asked(told, mind, counts)
    _denied(told, mind, counts, show, text)
    counts["us"] = int(1e6 * statistics.fmean(mind.seconds))
    return dict(counts)


def _asked(told: Month, mind: Told, counts: Counter[str]) -> None:
    chains: defaultdict[tuple[str, str, str], list[Planted]] = defaultdict(list)
    for planted in told.facts:
        if not planted.disputed:
            chains[planted.relation, planted.subject, planted.named].append(planted)
    end = told.lines[-1].time
    for chain in chains.values():
        chain.sort(key=lambda p: p.since)
        if len(chain) < 2 or chain[0].relation in {"feeling", "promised"}:
            continue
        of = [f for f in mind.facts.values() if any(same(f, p) for p in chain)]
        now = [f for f in of if holds(f, end)]
        counts["current asked"] += 1
        counts["current right"] += len(now) == 1 and same(now[0], chain[-1])
        for planted in chain[:-1]:
            if not planted.wrong and planted.until is not None:
                then = [f for f in of if holds(f, (planted.since + planted.until) / 2)]
                counts["past asked"] += 1
                counts["past right"] += len(then) == 1 and same(then[0], planted)


def _denied(told: Month, mind: Told, counts: Counter[str], show: bool, text: Mapping[str | None, str]) -> None:
    for first, second in told.contradictions:
        found = {
            side.key: [f for f in mind.facts.values() if same(f, side) and mind.keys[f.evidence[0].id] == side.key]
            for side in (first, second)
        }
        ids = {f.id for of in found.values() for f in of}
        there = any(len(ids & set(one.facts)) > 1 for one in mind.contradictions.values())
        over = [f for f in found[first.key] if f.standing is not FactStanding.DISPUTED and not f.open]
        counts["contradictions"] += 1
        counts["contradictions found"] += there
        counts["silently overwritten"] += bool(over and not there)
        if show and not there:
            print("not denied", text[first.key], "|", text[second.key])


def figures(counts: Mapping[str, float]) -> dict[str, float | None]:
    def of(part: str, whole: str) -> float | None:
        return share(int(counts.get(part, 0)), int(counts.get(whole, 0)))

    planted = int(counts["seen planted"] + counts["held planted"])
    return {
        "facts kept": counts["kept"],
        "wrong, double or empty": share(int(counts.get("junk", 0) + counts.get("double", 0)), int(counts["kept"])),
        "planted facts kept": share(int(counts["seen found"] + counts["held found"]), planted),
        "... of templates held out": of("held found", "held planted"),
        "contradictions found": of("contradictions found", "contradictions"),
        "silently overwritten": counts.get("silently overwritten", 0),
        "right current value": of("current right", "current asked"),
        "right past value": of("past right", "past asked"),
        "us a line": counts["us"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many months, of seeds 0, 1 and so on")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--show", action="store_true", help="list what is wrong or missing")
    args = parser.parse_args()
    total: Counter[str] = Counter()
    for seed in range(args.seeds):
        total.update(measure(seed, args.show))
    total["us"] //= args.seeds
    found = figures(total)
    print(json.dumps(found) if args.json else shown(found))


if __name__ == "__main__":
    main()
