"""Several commits under way at once, on a log that is written by a process of its own."""

import asyncio
import os
import random
import signal

import pytest

from environment.errors import AppendSkipped, StoreUnavailable
from environment.stores.sqlite import open_stores
from orchestration.gateway.intake import Intake
from orchestration.gateway.settings import IntakeSettings
from tests.environment.stores.making import perception


@pytest.fixture
async def stores(tmp_path):
    stores = await open_stores(tmp_path, "alpha", apart=True)
    yield stores
    await stores.close()


class Ahead:
    """Commits of one batch each, so that several are under way; ``fail`` names texts at which the log breaks."""

    def __init__(self, log, ahead=4, fail=()):
        self.log, self.ahead, self.fail = log, ahead, set(fail)
        self.under_way = self.most = 0
        self.failed = False

    def prepare(self, batch):
        return self.log.prepare(batch)

    async def append_batches(self, batches):
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            if self.failed:
                raise AppendSkipped
            texts = {text for batch in batches for text in batch.perceptions.text}
            if texts & self.fail:
                self.failed = len(batches) > 1 or self.under_way > 1
                await asyncio.sleep(0.01)
                raise RuntimeError("cannot")
            return await self.log.append_batches(batches)
        finally:
            self.under_way -= 1
            if not self.under_way:
                self.failed = False


def one(number, text=None):
    return [perception(number, key=f"k{number}", text=text or f"t{number}")]


async def test_batches_stand_in_the_order_in_which_they_were_submitted(stores):
    log = Ahead(stores.perceptions)
    intake = Intake(log, IntakeSettings(commit=1), lambda: 1.8e9)
    answers = [intake.submit(one(number)) for number in range(200)]
    receipts = [(await answer).first for answer in answers]
    assert receipts == list(range(1, 201))
    assert [p.key for p in await stores.perceptions.read(0, 500)] == [f"k{n}" for n in range(200)]
    assert log.most == 4
    await intake.close()


async def test_a_batch_that_breaks_its_commit_fails_alone_and_nothing_changes_places(stores):
    log = Ahead(stores.perceptions, fail={"poison"})
    intake = Intake(log, IntakeSettings(commit=2), lambda: 1.8e9)
    answers = [intake.submit(one(number, "poison" if number == 5 else None)) for number in range(20)]
    done = await asyncio.gather(*answers, return_exceptions=True)
    assert [n for n, outcome in enumerate(done) if isinstance(outcome, Exception)] == [5]
    assert [p.key for p in await stores.perceptions.read(0, 50)] == [f"k{n}" for n in range(20) if n != 5]
    assert intake.figures()["intake_waiting"] == 0
    await intake.close()


async def test_a_writer_that_is_killed_leaves_no_gap_before_what_was_acknowledged(stores):
    chance = random.Random(7)
    await stores.perceptions.lead()
    intake = Intake(stores.perceptions, IntakeSettings(commit=3), lambda: 1.8e9)
    acknowledged, refused = set(), 0
    for turn in range(40):
        first = turn * 20
        while True:  # as a caller on a stream: what follows a failure is sent again, with it
            answers = [intake.submit(one(first + n)) for n in range(20)]
            if turn % 8 == 5 and refused <= turn // 8:
                await asyncio.sleep(chance.uniform(0, 0.01))
                os.kill(stores.perceptions.pid, signal.SIGKILL)
            done = await asyncio.gather(*answers, return_exceptions=True)
            fine = [n for n, outcome in enumerate(done) if not isinstance(outcome, Exception)]
            assert fine == list(range(len(fine))), "nothing is acknowledged behind a failure"
            acknowledged |= {f"k{first + n}" for n in fine}
            if len(fine) == len(done):
                break
            assert all(isinstance(outcome, StoreUnavailable) for outcome in done[len(fine) :])
            refused += 1
            await asyncio.sleep(0.2)
    await intake.close()
    kept = [p.key for p in await stores.perceptions.read(0, 5000)]
    assert len(kept) == len(set(kept))
    assert acknowledged <= set(kept)
    assert refused
    assert kept == sorted(kept, key=lambda key: int(key[1:])), "in the order in which they were sent"


async def test_closing_writes_what_waits(stores):
    intake = Intake(Ahead(stores.perceptions), IntakeSettings(commit=1), lambda: 1.8e9)
    answers = [intake.submit(one(number)) for number in range(50)]
    await intake.close()
    assert all(answer.done() for answer in answers)
    assert await stores.perceptions.head() == 50
