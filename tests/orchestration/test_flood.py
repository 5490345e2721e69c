"""A flood of one source, taken in as fast as it comes, hides nothing that another says once."""

import asyncio
import time

import pytest

from environment.messages import EntryKind, NewPerception
from orchestration.client import MindClient
from tests.orchestration.living import LivingMind
from tests.orchestration.simulation.test_simulation import RARE, distinct, equal

FACT, QUESTION = "the Aurelia berths at seven, east mole", "When does the Aurelia berth?"


def flood(n, text):
    """From one source, as fast as it is taken in; in the middle another says something."""
    for number in range(n):
        now = time.time()
        if number == n // 4:
            yield NewPerception("desk", now, now, text=FACT)
        if number == n // 2:
            yield NewPerception("hall", now, now, text=RARE)
        if number == n * 3 // 4:
            yield NewPerception("operator", now, now, text=QUESTION)
        yield NewPerception("printer", now, now, text=text(number))


async def first(target, text, kind):
    """The first entry of the stream of a kind with these words."""
    async with MindClient(target) as client:
        async for entry in client.watch(1):
            if text in entry.text and entry.kind is kind:
                return entry
    raise AssertionError("the stream ended")


@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("n", "text"),
    [
        pytest.param(30_000, equal, id="equal"),
        pytest.param(10_000, distinct, id="distinct"),
        pytest.param(1_000_000, equal, id="million-equal", marks=pytest.mark.soak),
        pytest.param(1_000_000, distinct, id="million-distinct", marks=pytest.mark.soak),
    ],
)
async def test_a_flood_hides_no_rare_line_of_a_running_mind(tmp_path, n, text):
    with LivingMind(tmp_path / "data") as mind:
        await asyncio.to_thread(mind.start)
        watching = asyncio.create_task(first(mind.grpc, RARE, EntryKind.THOUGHT))
        asking = asyncio.create_task(first(mind.grpc, FACT, EntryKind.ANSWER))
        async with MindClient(mind.grpc) as client:
            told = 0
            async for _ in client.perceive_many(flood(n, text), batch=512):
                told += 1
            assert told == n + 3
        entry = await asyncio.wait_for(watching, 120 + n / 2000)
        assert entry.perceptions[0].source == "hall"
        answer = await asyncio.wait_for(asking, 60)
        assert [p.source for p in answer.perceptions] == ["operator", "desk"]
        assert answer.at - answer.time < 5
        assert await asyncio.to_thread(mind.stop) == 0
