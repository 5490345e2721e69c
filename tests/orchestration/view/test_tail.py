"""Following the stream: no gap, no repeat, whatever the interleaving; nothing looked at while nobody waits."""

import asyncio
import random
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environment.errors import StoreUnavailable
from environment.messages import StreamEntry
from orchestration.view.settings import TailSettings
from orchestration.view.tail import StreamTail
from tests.environment.stores.making import entry
from tests.orchestration.until import until

QUICK = TailSettings(fast=0.0005, idle=0.002, batch=3, recent=4)


class Log:
    """A stream log in memory whose every answer takes a random number of rounds of the loop, and may fail."""

    def __init__(self, chance: random.Random, failing: float = 0.0) -> None:
        self.entries: list[StreamEntry] = []
        self.looks = 0
        self._chance = chance
        self._failing = failing

    def append(self, count: int) -> None:
        self.entries += [entry(len(self.entries) + 1 + n) for n in range(count)]

    async def _wait(self) -> None:
        self.looks += 1
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        if self._chance.random() < self._failing:
            raise StoreUnavailable("mind.db is busy", 0.0005)

    async def head(self) -> int:
        await self._wait()
        head = len(self.entries)
        await asyncio.sleep(0)
        return head

    async def read(self, from_seq: int, limit: int) -> list[StreamEntry]:
        await self._wait()
        found = self.entries[from_seq - 1 : from_seq - 1 + limit]
        await asyncio.sleep(0)
        return found


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), cuts=st.lists(st.floats(0, 0.004), min_size=1, max_size=8))
def test_a_reader_cut_off_anywhere_goes_on_where_it_was(seed, cuts):
    async def run():
        chance = random.Random(seed)
        log, seen = Log(chance), []
        tail = StreamTail(log, QUICK)

        async def read():
            start = seen[-1] + 1 if seen else 1
            async for one in tail.follow(start):
                seen.insert(len(seen), one.seq)

        for cut in cuts:
            log.append(chance.randrange(6))
            task = asyncio.create_task(read())
            await asyncio.sleep(cut)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        log.append(1)
        final = asyncio.create_task(read())
        await until(lambda: seen and seen[-1] == len(log.entries))
        assert seen == list(range(1, len(log.entries) + 1))
        assert tail.waiting <= 1
        await tail.close()
        await final

    asyncio.run(run())


async def test_many_readers_share_one_poller_and_its_reads():
    log = Log(random.Random(1))
    tail = StreamTail(log, TailSettings(fast=0.005, idle=0.02))

    async def read():
        return [one.seq async for one in first(tail.follow(1), 30)]

    readers = [asyncio.create_task(read()) for _ in range(100)]
    await until(lambda: tail.waiting == 100)
    before = log.looks
    for _ in range(30):
        log.append(1)
        await asyncio.sleep(0.006)
    assert await asyncio.wait_for(asyncio.gather(*readers), 60) == [list(range(1, 31))] * 100
    assert log.looks - before < 300  # a hundred readers that each looked for themselves would need thousands
    await tail.close()


async def test_the_pause_grows_while_nothing_happens():
    log = Log(random.Random(1))
    tail = StreamTail(log, TailSettings(fast=0.002, idle=0.2, backoff=2.0))
    reader = asyncio.create_task(anext(tail.follow(1)))
    await asyncio.sleep(0.5)
    assert log.looks < 15  # at the quick pause it would be two hundred and more
    log.append(1)
    assert (await asyncio.wait_for(reader, 60)).seq == 1
    await tail.close()


async def test_memory_does_not_grow_with_what_a_slow_reader_has_not_read():
    log = Log(random.Random(1))
    tail = StreamTail(log, TailSettings(fast=0.0005, idle=0.001, batch=10, recent=16))
    slow, quick = tail.follow(1), tail.follow(1)
    log.append(1)
    assert (await anext(slow)).seq == 1
    log.append(4999)
    assert [one.seq async for one in first(quick, 5000)][-1] == 5000
    assert len(tail._recent) <= 16
    assert (await anext(slow)).seq == 2
    await tail.close()


async def test_close_ends_every_reader():
    tail = StreamTail(Log(random.Random(1)), QUICK)

    async def read():
        return [one async for one in tail.follow(5)]

    readers = [asyncio.create_task(read()) for _ in range(3)]
    await until(lambda: tail.waiting == 3)
    await tail.close()
    await tail.close()
    assert await asyncio.wait_for(asyncio.gather(*readers), 60) == [[], [], []]


async def test_an_error_that_no_waiting_heals_reaches_the_readers():
    class Broken(Log):
        async def head(self):
            raise ValueError("not a stream")

    tail = StreamTail(Broken(random.Random(1)), QUICK)
    with pytest.raises(ValueError, match="not a stream"):
        await asyncio.wait_for(anext(tail.follow(1)), 60)


async def first(entries, count):
    async with aclosing(entries) as open_entries:
        async for one in open_entries:
            yield one
            count -= 1
            if not count:
                return
