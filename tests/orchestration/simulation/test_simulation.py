import asyncio
import csv
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from actors.attention.pacing import Budget
from actors.core import Description
from actors.effects import Read
from actors.events import Perceived, Started
from actors.settings import ShellSettings
from actors.shell import ActorShell
from actors.substrate.embedding import WordLlamaEmbedder
from environment.messages import EntryKind, Modality, NewPerception, Perception, StreamEntry
from environment.stores.codec import encode
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.faults import NONE, ROUGH
from orchestration.simulation.replay import Replay, fields, replay
from orchestration.simulation.world import World
from tests.actors.substrate.scripted import ScriptedSubstrate
from tests.orchestration.simulation.histories import chatter, day
from tests.orchestration.simulation.invariants import broken
from tests.orchestration.simulation.unreliable import UnreliableStores

SEED = os.environ.get("SUBMIND_TEST_SEED")
"""``SUBMIND_TEST_SEED=17`` runs that seed alone."""


async def rough(seed: int) -> list[str]:
    """A stretch of history under every fault there is; what does not hold of it afterwards."""
    chance = random.Random(seed)
    history = day(chance.randrange(330), 120) if seed % 2 else chatter(150, seed)
    settings = Settings()
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        unreliable = UnreliableStores(stores, ROUGH, chance)
        world = Replay(settings, unreliable, seed=seed, faults=ROUGH)
        seen = [entry async for entry in world.run(history)]
        unreliable.calm = True
        receipts = await stores.perceptions.append([p for p in history if p.key])
        found = await broken(stores, settings, receipts, seen)
        cursor = max(await stores.perceptions.head(), 0)
        text = world.world.shells["text"].core.describe().figures["cursor"]
        last_text = max((p.seq for p in await stores.perceptions.read(0, 10_000) if p.text is not None), default=0)
        if text < last_text:
            found.append(f"the text submind stopped at {text:.0f} of {cursor}")
        if any(r.new for r in receipts):
            found.append("a keyed perception was not known when sent again")
        await stores.close()
    return found


@pytest.mark.no_cover  # what it runs through is covered by the rest; to be watched at it takes twice as long
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 200), marks=pytest.mark.soak)], ids=str)
def test_no_invariant_breaks_under_faults_whatever_the_seed(seeds):
    failed = {}
    for seed in seeds if SEED is None else [int(SEED)]:
        found = asyncio.run(rough(seed))
        if found:
            failed[seed] = found
            print(f"SUBMIND_TEST_SEED={seed} reruns it alone: {found[0]}")  # noqa: T201
    assert not failed


async def stream(history, seed=1, settings=None, **given) -> list[StreamEntry]:
    return [entry async for entry in replay(settings or Settings(), history, seed=seed, **given)]


async def test_one_seed_gives_the_same_bytes_twice():
    history = day()
    once, again = await stream(history, seed=7), await stream(history, seed=7)
    assert len(once) > 5
    assert [encode(e) for e in once] == [encode(e) for e in again]


async def test_a_replay_keeps_to_its_budget_and_to_event_time():
    history = day()
    span = history[-1].time - history[0].time
    entries = await stream(history, budget=Budget(24, len(history), span))
    thoughts = [e for e in entries if e.kind is EntryKind.THOUGHT]
    assert 16 <= len(thoughts) <= 24
    times = {p.time for p in history}
    assert all(e.time in times or e.perceptions for e in thoughts)
    assert [e.seq for e in entries] == list(range(1, len(entries) + 1))


def test_every_line_of_the_example_has_one_label_and_the_readme_says_which():
    example = Path(__file__).parents[3] / "examples"
    labels = list(csv.DictReader((example / "day.labels.csv").read_text("utf-8").splitlines()))
    assert [row["key"] for row in labels] == [p.key for p in day()]
    assert all((row["part"] == "routine") == (not row["story"]) for row in labels)
    readme = (example / "README.md").read_text("utf-8")
    said = re.findall(r"^\| `([a-z-]+)` \| (.+) \| (\d+) \| (\d+) \|$", readme, re.MULTILINE)
    assert all(what in readme.partition("## Labels")[0].replace("\n  ", " ") for _, what, _, _ in said)
    lines = Counter(row["story"] for row in labels if row["story"])
    turns = Counter(row["story"] for row in labels if row["part"] == "turn")
    assert {story: (int(n), int(t)) for story, _, n, t in said} == {s: (n, turns[s]) for s, n in lines.items()}
    found = {row["key"]: row["story"] for row in labels}
    stories = msgspec.json.decode((example / "stories.json").read_bytes())
    for story in [*stories["stories"], stories["false_alarm"]]:
        assert {found[key] for key in story["keys"]} == {story["name"]}


async def test_the_example_tells_its_stories():
    """In two dozen thoughts a reader learns of each story, and is not flooded."""
    history = day()
    stories = msgspec.json.decode((Path(__file__).parents[3] / "examples" / "stories.json").read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        span = history[-1].time - history[0].time
        world = Replay(Settings(), stores, seed=1, budget=Budget(36, len(history), span))
        entries = [e async for e in world.run(history)]
        known = {p.id: p.key for p in await stores.perceptions.read(0, 10_000)}
        await stores.close()
    told = {known[p.id] for e in entries for p in e.perceptions}
    for story in stories["stories"]:
        assert told & set(story["keys"]), f"nothing of {story['name']}"
    flood = [e for e in entries if known[e.perceptions[0].id] in set(stories["flood"]["keys"])]
    assert len(flood) <= 3


async def test_years_without_a_word_cost_no_more_than_a_week():
    lines = chatter(120, 5)
    late = [replace(p, time=p.time + 8000 * 365 * 86_400.0) for p in chatter(20, 6)]
    late[-1] = replace(late[-1], text="fire and smoke in the hall, two people are trapped and hurt")
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        world, wakes = Replay(Settings(), stores, seed=1), 0
        step = world.world._step

        async def counted(name, time):
            nonlocal wakes
            wakes += 1
            assert wakes < 200_000, "it lives through every quarter of an hour of them"
            await step(name, time)

        world.world._step = counted
        entries = [e async for e in world.run([*lines, *late])]
        await stores.close()
    assert world.world.now > late[-1].time
    assert entries


@pytest.mark.no_cover
async def test_the_rate_bounds_the_stream_whatever_comes_in():
    history = chatter(4000, 3, apart=2.0)
    thoughts = [e for e in await stream(history, per_hour=6) if e.kind is EntryKind.THOUGHT]
    hours = (history[-1].time - history[0].time) / 3600
    assert len(thoughts) <= 12 * hours + 3


class Reader:
    """Remembers the number of whatever it reads."""

    def __init__(self, name, modality):
        self.name, self.modality, self.seen = name, modality, []

    def handle(self, event, now):
        if isinstance(event, Perceived):
            self.seen += [p.seq for p in event.perceptions]
        elif not isinstance(event, Started):
            return []
        return [Read(self.seen[-1] if self.seen else 0, 3, self.modality)]

    def texts(self, perceptions):
        return []

    def describe(self):
        return Description("perceptual", "remember")

    def snapshot(self):
        return msgspec.json.encode(self.seen)

    def restore(self, state):
        self.seen = msgspec.json.decode(state)


async def test_everybody_reads_what_they_asked_for_once_and_in_order_whoever_dies(inline_stores):
    cores = {}

    async def birth(name):
        cores[name] = Reader(name, Modality(name) if name in set(Modality) else None)
        return ActorShell(cores[name], inline_stores, world, ShellSettings(), embedder=WordLlamaEmbedder())

    faults = replace(NONE, crash=0.3)
    world = World(inline_stores, ScriptedSubstrate(), WordLlamaEmbedder(), birth, 1, faults)
    await world.begin(["text", "one", "telemetry", "other"], 0.0)
    for n in range(60):
        texts = [NewPerception("s", n, n, text=f"{n}{i}") for i in range(n % 5)]
        new = [*texts, NewPerception("s", n, n, telemetry={"t": float(n)})]
        receipts = await inline_stores.perceptions.append(new)
        await world.arrive([Perception(**fields(p), id=r.id, seq=r.seq) for p, r in zip(new, receipts, strict=True)])
        await world.run_until(n)
    await world.run_until(1000)
    assert world.crashes > 20
    logged = await inline_stores.perceptions.read(0, 1000)
    for name, core in cores.items():
        assert core.seen == [p.seq for p in logged if p.modality == name or core.modality is None], name


RARE = "coolant pump B has failed, brine on the floor of hall 3"


def equal(number: int) -> str:
    return f"label printer 4 not ready, retry {number}"


def distinct(number: int) -> str:
    chance = random.Random(number)
    return " ".join("".join(chance.choices("abdegiklmnoprstu", k=chance.randint(3, 9))) for _ in range(8))


def flood(n: int, text: Callable[[int], str]) -> Iterator[NewPerception]:
    """Ten lines a second from one source, and once another says something, two thirds in."""
    yield from chatter(60, 1)
    begins = 1e9 + 600
    for i in range(n):
        at = begins + i / 10
        if i == 2 * n // 3:
            yield NewPerception(source="hall", time=at, received=at, text=RARE)
        yield NewPerception(source="printer", time=at, received=at, text=text(i))


@pytest.mark.parametrize("faults", [NONE, ROUGH], ids=["calm", "rough"])
async def test_who_asks_is_answered_once_and_at_once_whatever_else_comes(inline_stores, faults):
    """Beside the rate of the stream, in the midst of thoughts that stand out."""
    history = list(flood(900, distinct))
    end = history[-1].time
    texts = ["Which coolant pump has failed?", "and where is brine?", "Who ordered the zebras?"]
    asked = [NewPerception("operator", end - 9 + n, end - 9 + n, text=text) for n, text in enumerate(texts)]
    history = sorted([*history, *asked], key=lambda p: p.time)
    settings = Settings.model_validate({"attention": {"per_hour": 1}})
    unreliable = UnreliableStores(inline_stores, faults, random.Random(3))
    mind = Replay(settings, unreliable, seed=3, faults=faults)
    seen = [e async for e in mind.run(history)]
    answers = [e for e in seen if e.kind is EntryKind.ANSWER]
    keys = {p.id: p for p in await inline_stores.perceptions.read(0, 10_000)}
    assert sorted(keys[e.perceptions[0].id].text for e in answers) == sorted(texts)
    assert {keys[e.lineage[0]].text for e in answers} == set(texts)
    told = {keys[e.lineage[0]].text: e for e in answers}
    assert all(RARE in told[text].text for text in texts[:2])
    assert told[texts[2]].text.startswith("I don't know")
    assert faults is ROUGH or all(e.at - e.time < 5 for e in answers)
    assert not await broken(inline_stores, settings, [], seen)


@pytest.mark.no_cover
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(
    ("n", "text", "posted"),
    [
        pytest.param(50_000, equal, 200, id="equal"),
        pytest.param(10_000, distinct, 11_000, id="distinct"),
        pytest.param(1_000_000, equal, 200, id="million-equal", marks=pytest.mark.soak),
        pytest.param(1_000_000, distinct, 1_010_000, id="million-distinct", marks=pytest.mark.soak),
    ],
)
async def test_a_flood_stays_bounded_and_hides_no_rare_line(n, text, posted):
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        world = Replay(Settings(), stores, seed=1)
        entries = [e async for e in world.run(flood(n, text))]
        environment = world.world.shells["environment"].core.describe().figures
        snapshot = len(world.world.shells["text"].core.snapshot())
        await stores.close()
    hours = n / 10 / 3600
    about_flood = [e for e in entries if e.kind is EntryKind.THOUGHT and e.perceptions[0].source == "printer"]
    assert len(about_flood) <= 12 + 12 * hours * (text is distinct)
    assert any(RARE in e.text for e in entries)
    assert environment["traces_posted_total"] < posted
    assert environment["traces_live"] <= Settings().environment.capacity
    assert snapshot < 15_000_000
