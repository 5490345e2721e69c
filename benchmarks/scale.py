"""What a mind's memory costs as it grows: recalling, answering, becoming findable, starting, memory and storage.

    python benchmarks/scale.py [--episodes 10000 100000 --facts 10000 100000] [--queries 100] [--json]
    python benchmarks/scale.py --episodes 1000000 --facts 100000 --directory DIR --processes
    python benchmarks/scale.py --days 30 [--keep 7]

Lines of people and machines, some 15 words each, from templates over a vocabulary with Zipf's frequencies, with names
of people, places and things. Each size has a process of its own, and its files: the lines in the perception log of a
mind, the facts in its collections, as its knowledge keeps them. There:

- *ready* is how long the view that answers readers takes from nothing until it has told of the oldest line, *again* the
  same of the next process, with the index that the first has kept.
- *recall* and *ask* are asked through that view, a new line acknowledged before each, as of a mind that lives;
  *findable* is from the acknowledgement of a line until a recall of its words has it first.
- *knowledge* is how long the actor that knows facts takes to begin, *consolidation* one look at all of them.

CPU is that of this process: on a machine that others use as well it says more than the wall does.

With ``--processes`` a ``submind run`` is started over an empty directory and over that of each size, asked with
``submind ask`` as soon as it takes perceptions in, killed (SIGKILL), and started again.

With ``--days`` the log takes one line a second of virtual time in, lines older than ``--keep`` days are forgotten as
the host does it, and each day is told with what recalling, memory and files take: what is bounded stays level.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from actors.knowledge import clusters, fact
from actors.knowledge.consolidation import consolidate
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.entities import spelled
from actors.knowledge.settings import KnowledgeSettings
from actors.substrate.embedding import WordLlamaEmbedder
from environment.identity import derived, perception_id
from environment.messages import NewPerception, PerceptionRef
from environment.ports import Stores
from environment.stores.sqlite import open_stores
from orchestration.host.retention import forget_once
from orchestration.host.settings import RetentionSettings
from orchestration.view.mind import MindView, ViewContext
from orchestration.view.settings import ViewSettings

MIND, EVERY, START = "mind", 26.0, 1_767_225_600.0
_AT_ONCE, _KEPT, _DAY, _PATIENCE = 4096, 10_001, 86_400.0, 900.0
TEMPLATES = (
    "{p} asked {q} whether the {w} for {t} could be {w} before the {w} {w} at {o}, since nobody {w} it",
    "the {w} of {t} is {w} again, {q} will {w} the {w} {w} tomorrow and tell {p} about the {w}",
    "{o}: {t} {w} {w} after {n} {w}, {w} {w} {n} {w} and {w} {w} {w}",
    "we moved the {w} {w} from {o} to the {w} {w} because {t} {w} {w} all {w}",
    "{p} says {w} {w} {w} are {w} and {t} needs {n} more {w} of {w} {w}",
    "level {n} {w} {t} request {n} {w} {w} in {n} ms, {w} {w} {w} {w}",
    "thanks {q}, the {w} {w} was {w} at {o} and {w} {w} {w} {w} with {p}",
    "{t} in {o}: {w} {w} {w} {w} {n} of {n}, {w} {w} {w} {w} {w}",
)
SYLLABLES = "ba ber cal dor en fi gan hul is jor kel lin mo nar os pel quin ras sol tum ur vel wen yar zo".split()


class Talk:
    """Lines of one seed: the same for every process that asks."""

    def __init__(self, seed: int = 1, words: int = 20_000) -> None:
        self._chance = chance = random.Random(seed)
        self._words = ["".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(words)]
        self._often = list(accumulate(1 / (n + 2.7) for n in range(words)))
        self.people = [f"{self._name()} {self._name()}" for _ in range(60)]
        self.places = [f"{self._name()} {kind}" for kind in ("hall", "yard", "depot", "site") for _ in range(15)]
        self.things = [f"{self._words[n % 400]} {n:03}" for n in range(3000)]

    def _name(self) -> str:
        return "".join(self._chance.choices(SYLLABLES, k=2)).capitalize()

    def word(self) -> str:
        return self._words[bisect(self._often, self._chance.random() * self._often[-1]) % len(self._words)]

    def line(self, number: int) -> NewPerception:
        """The next one."""
        chance = self._chance
        said: dict[str, Any] = {"p": chance.choice(self.people), "q": chance.choice(self.people).split()[0]}
        said |= {"o": chance.choice(self.places), "t": chance.choice(self.things), "n": chance.randrange(5000)}
        parts = chance.choice(TEMPLATES).split("{w}")
        text = "".join(part + (self.word() if n < len(parts) - 1 else "") for n, part in enumerate(parts)).format(
            **said
        )
        source = (
            chance.choice(self.people).split()[0].lower() if chance.random() < 0.7 else f"srv-{chance.randrange(30)}"
        )
        at = START + number * EVERY
        return NewPerception(source, at, at, text=text, trust=0.5)

    def lines(self, count: int) -> Iterator[NewPerception]:
        return map(self.line, range(count))

    def asked(self, text: str) -> str:
        """Some of the words of a line, as somebody who half remembers it asks."""
        words = [word.strip(",:") for word in text.split()]
        chosen = " ".join(self._chance.sample(words, min(5, len(words))))
        return self._chance.choice(("{}", "what about {}?", "{} in March", "who said {}", "{} last Tuesday")).format(
            chosen
        )


async def fill(directory: Path, episodes: int, facts: int) -> float:
    """The files of a mind that has lived; MiB of them."""
    talk, stores = Talk(), await open_stores(directory, MIND, synchronous="OFF")
    batch: list[NewPerception] = []
    for line in talk.lines(episodes):
        batch.append(line)
        if len(batch) == _AT_ONCE:
            await stores.perceptions.append(batch)
            batch = []
    await stores.perceptions.append(batch)
    writes, name = list[Any](), ""
    for n in range(facts):
        name = name if n % 3 else f"{talk.word()} {n // 3:05}"
        key, ref = derived("e", spelled(name)), PerceptionRef(perception_id(n % max(episodes, 1) + 1), START, "srv-1")
        relation, value = (("location", talk.places), ("owner", talk.people), ("state", talk.things))[n % 3]
        made = fact.Fact(
            derived("f", key, str(n)), name, relation, value[n * 7919 % len(value)], fact.FactKind.STANDARD,
            START, START, 0.6, 0.5, [ref], key, START,
        )  # fmt: skip
        writes.append(fact.FACTS.write(made.key, made, time=START))
        if n % 3 == 0:
            writes.append(fact.ENTITIES.write(key, fact.Entity(key, name, ref, ref), time=START))
            writes.append(fact.NAMES.write(spelled(name), key))
        if len(writes) >= _AT_ONCE or n == facts - 1:
            await stores.commit(writes)
            writes = []
    progress = fact.Progress(cursor=episodes, gathered=episodes)
    await stores.commit([fact.PROGRESS.write("progress", progress)])
    await stores.close()
    return size_of(directory)


def size_of(directory: Path) -> float:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file()) / 2**20


def resident() -> float:
    return psutil.Process().memory_info().rss / 2**20


async def measure(directory: Path, episodes: int, facts: int, queries: int) -> dict[str, float]:
    """What the view that answers readers takes, in this process, from its beginning on."""
    talk, embedder = Talk(2), WordLlamaEmbedder()
    embedder.embed_now(["a"])
    before, now = resident(), START + episodes * EVERY
    stores = await open_stores(directory, MIND, synchronous="OFF")
    view = view_of(stores, embedder, episodes + 10_000, lambda: now, directory / "episodes.index")
    (first,) = await stores.perceptions.read(0, 1)
    began, worked = time.perf_counter(), time.process_time()
    while not any(one.perception.id == first.id for one in await view.recall(first.text or "", 3)):
        pass
    figures = {"ready, s": time.perf_counter() - began, "ready, CPU s": time.process_time() - worked}
    if not queries:
        await stores.close()
        return figures
    began, keeping = time.process_time(), asyncio.create_task(view.keep())
    for _ in range(3600):
        if (directory / "episodes.index").exists() or episodes < _KEPT:
            break
        await asyncio.sleep(1.0)
    keeping.cancel()
    figures["vectors and keeping, CPU s"] = time.process_time() - began
    chance, asked = random.Random(3), Talk(4)
    every = [(await stores.perceptions.read(chance.randrange(episodes), 1))[0] for _ in range(queries)]
    delays: dict[str, list[float]] = {name: [] for name in ("recall", "recall, CPU", "ask", "findable")}
    await view.recall("last Tuesday", 1)  # what reads dates is loaded
    for n, one in enumerate(every):
        new = talk.line(episodes + n)
        await stores.perceptions.append([new])
        began, worked = time.perf_counter(), time.process_time()
        await view.recall(asked.asked(one.text or ""), 10)
        delays["recall"].append(1000 * (time.perf_counter() - began))
        delays["recall, CPU"].append(1000 * (time.process_time() - worked))
        new = talk.line(episodes + n)
        await stores.perceptions.append([new])
        began = time.perf_counter()
        while (await view.recall(new.text or "", 1))[0].text != new.text:
            pass
        delays["findable"].append(1000 * (time.perf_counter() - began))
        began = time.perf_counter()
        async for _ in view.ask(asked.asked(one.text or "") + "?"):
            pass
        delays["ask"].append(1000 * (time.perf_counter() - began))
    for name, found in delays.items():
        figures[f"{name}, p50, ms"] = statistics.median(found)
        figures[f"{name}, p95, ms"] = statistics.quantiles(found, n=20)[-1]
    figures["RSS of all this, MiB"] = resident() - before
    for name, question in (("who is on call?", "who is on call?"), ("where is a thing?", "where is ba 00001?")):
        began = time.perf_counter()
        async for _ in view.ask(question):
            pass
        figures[f"{name} ms"] = 1000 * (time.perf_counter() - began)
    figures |= await knowledge(stores, facts, now)
    await stores.close()
    return figures


async def knowledge(stores: Stores, facts: int, now: float) -> dict[str, float]:
    """What the actor takes that knows facts."""
    before, began, worked = resident(), time.perf_counter(), time.process_time()
    kept = stores.collections
    core = KnowledgeCore(
        "knowledge",
        await fact.FACTS.all_of(kept),
        await fact.ENTITIES.all_of(kept),
        await fact.NAMES.all_of(kept),
        await fact.CONTRADICTIONS.all_of(kept),
        await fact.PROGRESS.get(kept, "progress") or fact.Progress(),
        KnowledgeSettings(facts=max(16, facts), entities=max(16, facts)),
        {},
        await clusters.CLUSTERS.all_of(kept),
    )
    figures = {"knowledge, s": time.perf_counter() - began, "knowledge, CPU s": time.process_time() - worked}
    figures["RSS of knowledge, MiB"] = resident() - before
    began = time.perf_counter()
    consolidate(core._ledger, now)  # noqa: SLF001 - as the core does each hour
    figures["consolidation, s"] = time.perf_counter() - began
    return figures


def view_of(
    stores: Stores, embedder: WordLlamaEmbedder, most: int, clock: Callable[[], float], index: Path
) -> MindView:
    """What answers readers."""
    settings, around = ViewSettings(episodes=most), ViewContext(index=index)
    return MindView(stores, embedder, settings, mind=MIND, clock=clock, wall=clock, surroundings=around)


async def month(directory: Path, days: int, keep: int, queries: int) -> None:
    """A line for each day of one perception a second."""
    talk, asked, embedder, now = Talk(1), Talk(4), WordLlamaEmbedder(), START
    stores = await open_stores(directory, MIND, synchronous="OFF")
    view = view_of(stores, embedder, ViewSettings().episodes, lambda: now, directory / "episodes.index")
    retention, files = RetentionSettings(perceptions=keep * _DAY), 0.0
    heads = "us a line", "recall p50", "p95, CPU ms", "RSS, MiB", "files, MiB", "that day"
    print(" day" + "".join(f"{head:>12}" for head in heads))
    for day in range(days):
        began = time.process_time()
        for first in range(0, int(_DAY), 3600):
            texts = [talk.line(0) for _ in range(3600)]
            at = START + day * _DAY + first
            lines = [replace(one, time=at + n, received=at + n) for n, one in enumerate(texts)]
            await stores.perceptions.append(lines)
            now = at + 3600
            await forget_once(stores, (), retention, now, now)
            await view.recall(texts[0].text or "", 1)
        spent = time.process_time() - began
        delays = []
        for one in await stores.perceptions.read(await stores.perceptions.head() - queries, queries):
            began = time.process_time()
            await view.recall(asked.asked(one.text or ""), 10)
            delays.append(1000 * (time.process_time() - began))
        was, files = files, size_of(directory)
        told = 1e6 * spent / _DAY, statistics.median(delays), statistics.quantiles(delays, n=20)[-1], resident()
        print(f"{day + 1:>4}" + "".join(f"{one:>12.1f}" for one in (*told, files, files - was)), flush=True)
    await stores.close()


def alone(*arguments: object) -> Any:
    """What another process of this prints."""
    command = [sys.executable, __file__, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def lives(directory: Path, episodes: int, asked: str) -> dict[str, float]:
    """Seconds until a mind takes perceptions in, has answered, and all of it lives; then it is killed."""
    ports = [free(), free()]
    config = directory.parent / f"{directory.name}.yaml"
    config.write_text(
        f"mind: {{name: {MIND}}}\nview: {{episodes: {episodes + 10_000}}}\n"
        f"knowledge: {{facts: 1000000, entities: 1000000}}\n"
        f"gateway: {{listen: '127.0.0.1:{ports[0]}'}}\nfeed: {{listen: '127.0.0.1:{ports[1]}'}}\n"
    )
    submind, of = [sys.executable, "-m", "orchestration.cli"], ["--mind", str(config)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    began, figures, answer = time.perf_counter(), dict[str, float](), None
    host = subprocess.Popen([*submind, "run", *of, "--data-dir", str(directory), "--quiet"], **quiet)
    while len(figures) < len(("serving", "answered", "running")):
        told = subprocess.run([*submind, "status", "--json", *of], capture_output=True, text=True, check=False).stdout
        elapsed = time.perf_counter() - began
        if told.startswith("{"):
            figures.setdefault("serving, s", elapsed)
            answer = answer or subprocess.Popen([*submind, "ask", asked, *of], **quiet)
            if json.loads(told)["state"] == "running":
                figures.setdefault("running, s", elapsed)
            if answer.poll() is not None:
                figures.setdefault("answered, s", elapsed)
        if elapsed > _PATIENCE:
            break
    figures["host, MiB"] = psutil.Process(host.pid).memory_info().rss / 2**20
    host.kill()
    host.wait()
    time.sleep(3.0)  # what lived below it ends by itself
    return figures


def free() -> int:
    """A port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000], help="beside as many sizes")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--directory", type=Path, help="where the files are kept, and found again; else nowhere")
    parser.add_argument("--processes", action="store_true", help="start whole minds as well")
    parser.add_argument("--days", type=int, default=0, help="instead: so many days at one line a second")
    parser.add_argument("--keep", type=int, default=7, help="days after which perceptions are forgotten then")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="one JSON object a size")
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(asyncio.run(measure(args.measure, args.episodes[0], args.facts[0], args.queries))))
        return
    if args.days:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(month(Path(folder), args.days, args.keep, args.queries))
        return
    tables: list[dict[str, float]] = []
    for episodes, facts in zip(args.episodes, args.facts, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            place = (args.directory or Path(folder)) / f"{episodes}-{facts}"
            if not place.exists():
                asyncio.run(fill(place, episodes, facts))
            table = {"episodes": episodes, "facts": facts, "files, MiB": size_of(place)}
            sizes = "--measure", place, "--episodes", episodes, "--facts", facts, "--queries", args.queries
            table |= alone(*sizes)
            table |= {f"{name} again": value for name, value in alone(*sizes[:-1], 0).items()}
            asked = "who spoke of " + " ".join((next(iter(Talk().lines(1))).text or "").split()[2:8])
            for where, times in ((Path(folder) / "empty", 1), (place, 2)) if args.processes else ():
                for number in range(times):
                    name = ("empty", "full", "full again")[number + (where == place)]
                    table |= {f"{name}: {key}": value for key, value in lives(where, episodes, asked).items()}
            tables.append(table)
            if args.json:
                print(json.dumps(table), flush=True)
    if not args.json:
        for name in tables[0]:
            print(f"{name:<28}" + "".join(f"{table[name]:>14,.1f}" for table in tables))


if __name__ == "__main__":
    main()
