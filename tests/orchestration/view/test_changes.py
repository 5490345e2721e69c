"""The history of connections: found by what is asked, followed by many, caught up with by the slow."""

import asyncio
import random
from contextlib import aclosing
from dataclasses import replace

import pytest

from environment.messages import ChangeKind
from environment.ports import WriteConnections
from orchestration.view.changes import ChangeFilter, ChangeTail, read_page
from orchestration.view.settings import ChangesSettings
from tests.environment.stores.making import NOON, change
from tests.orchestration.until import until


async def happen(stores, *numbers, owner="causes", **more):
    changes = tuple(replace(change(n, owner), **more) for n in numbers)
    await stores.commit([WriteConnections(owner, (), (), changes)])


def numbers(changes):
    return [int(each.reason.split()[-1]) for each in changes]


async def test_a_page_goes_on_until_it_has_found_or_looked_enough(stores):
    await happen(stores, *range(40))
    await happen(stores, *range(40, 44), kind=ChangeKind.PROMOTED, label="Spilled milk")
    settings = ChangesSettings(batch=7, scan=20)
    promoted = ChangeFilter(kinds=frozenset({ChangeKind.PROMOTED}))
    page = await read_page(stores.registry, promoted, 3, "", settings)
    assert numbers(page.changes) == [43, 42, 41]
    page = await read_page(stores.registry, promoted, 3, page.older, settings)
    assert (numbers(page.changes), page.older != "") == ([40], True)  # as many as may be were looked at
    calls = 0
    while page.older:
        page = await read_page(stores.registry, promoted, 3, page.older, settings)
        assert page.changes == ()
        calls += 1
    assert calls == 2
    milk = await read_page(stores.registry, ChangeFilter(topic="MILK", since=NOON + 42), 9, "", settings)
    assert (numbers(milk.changes), milk.older) == ([43, 42], "")


@pytest.mark.parametrize("seed", range(6))
async def test_who_goes_on_behind_any_mark_misses_nothing_and_is_told_nothing_twice(stores, seed):
    """Mind times go forth and back, several write at once, readers break off anywhere and go on."""
    chance = random.Random(seed)
    recent, batch = chance.choice([0, 3, 50]), chance.choice([1, 4, 100])
    tail = ChangeTail(stores.registry, ChangesSettings(every=0.002, recent=recent, batch=batch))
    written, told = 0, {number: [] for number in range(3)}

    async def read(number):
        after, one = "", tail.behind()
        while True:
            left = chance.randint(1, 12)
            async with aclosing(one) as batches:
                async for changes in batches:
                    taken = changes[:left]  # the line breaks in the middle of a batch
                    told[number] += numbers(taken)
                    after, left = taken[-1].mark, left - len(taken)
                    await asyncio.sleep(chance.choice([0, 0, 0.01]))
                    if left <= 0:
                        break
            one = tail.behind(after)

    readers = [asyncio.create_task(read(number)) for number in told]
    await until(lambda: tail.polling and tail._readers == 3, 60)
    await asyncio.sleep(0.05)
    while written < 120:
        many = chance.randint(1, 4)
        made = [
            replace(change(written + n, chance.choice("ab")), at=NOON + chance.uniform(-900, 900)) for n in range(many)
        ]
        await asyncio.gather(*(stores.commit([WriteConnections(one.owner, (), (), (one,))]) for one in made))
        written += many
        await asyncio.sleep(chance.choice([0, 0, 0.005]))
    await until(lambda: all(len(each) >= written for each in told.values()), 60)
    await asyncio.sleep(0.05)
    for each in told.values():
        assert sorted(each) == list(range(written))
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
