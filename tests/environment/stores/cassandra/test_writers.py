"""Several writers of one perception log, some of them paused, late or in doubt: what was answered is there once."""

import asyncio
import random

import pytest

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Image
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from tests.environment.stores.cassandra.logs import Late, Paused, answer_lost, as_ever, lines, never_arrived
from tests.environment.stores.making import perception


@pytest.mark.parametrize(("old", "new"), [(300, 10), (3, 400), (60, 60), (700, 1500)])
async def test_rows_that_arrive_after_a_take_over_are_never_seen(opened, old, new):
    first, second = await opened(), await opened()
    await first.perceptions.lead()
    await first.give(1, 2)
    paused = Paused()
    first.session.rows = [paused]
    late = asyncio.ensure_future(first.give(*range(1000, 1000 + old)))
    await paused.reached.wait()
    assert await second.perceptions.lead() == 2
    await second.give(*range(5000, 5000 + new))
    paused.woken.set()
    with pytest.raises(FencedOut) as refused:
        await late
    assert (refused.value.fence, refused.value.current) == (1, 2)
    await second.give(3)
    expected = lines(1, 2, *range(5000, 5000 + new), 3)
    for opening in (second, first, await opened()):
        assert await opening.texts() == expected
    again = await second.give(*range(1000, 1000 + old))
    assert all(receipt.new for receipt in again)
    assert await second.texts() == [*expected, *lines(*range(1000, 1000 + old))]


@pytest.mark.parametrize("arrives", [True, False])
async def test_an_answer_that_was_lost_while_another_took_over_is_found_among_its_rows(opened, arrives):
    """Perceptions without keys, which nothing else would tell from repeated ones."""
    first, second = await opened(), await opened()
    await first.give(1)

    async def overtaken(send):
        if arrives:
            await send()
        await second.give(*range(10, 13), keyed=False)
        raise OutcomeUnknown("the answer was lost")

    first.session.conditions = [overtaken]
    receipts = await first.give(2, 3, keyed=False)
    assert [r.seq for r in receipts] == ([2, 3] if arrives else [5, 6])
    expected = lines(1, 2, 3, 10, 11, 12) if arrives else lines(1, 10, 11, 12, 2, 3)
    assert await first.texts() == expected
    await first.give(4)
    assert await second.texts() == [*expected, *lines(4)]


async def test_a_caller_that_goes_away_leaves_nothing_in_doubt(opened):
    log = await opened()
    paused = Paused()
    log.session.conditions = [as_ever, paused]
    gone = asyncio.ensure_future(log.give(1, 2))
    await paused.reached.wait()
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert [r.new for r in await log.give(2, 3)] == [True, True]
    assert await log.texts() == lines(2, 3)


async def test_a_crash_between_the_rows_and_the_head_leaves_nothing(opened):
    crashed = await opened()
    await crashed.give(1)
    paused = Paused()
    crashed.session.conditions = [paused]
    large = [perception(n, key=f"k{n}", image=Image(bytes([n]) * 700_000, "image/png")) for n in range(10, 14)]
    dying = asyncio.ensure_future(crashed.perceptions.append(large))
    await paused.reached.wait()
    dying.cancel()
    await crashed.perceptions.close()
    log = await opened()
    assert await log.texts() == lines(1)
    await log.perceptions.lead()
    await log.perceptions._known._filling  # which meets the keys that were left behind
    await log.give(20)
    assert log.perceptions._known.asked == 0
    receipts = await log.give(10, 11, 1)  # their rows name numbers that others have now, and that nobody has
    assert [(r.seq, r.new) for r in receipts] == [(3, True), (4, True), (1, False)]
    assert log.perceptions._known.asked == 3
    assert [(p.text, p.image) for p in await log.everything()] == [(text, None) for text in lines(1, 20, 10, 11)]


async def test_leading_in_doubt_is_leading_once(opened):
    log, other = await opened(), await opened()
    for fate in (answer_lost, never_arrived):
        log.session.conditions = [fate]
        epoch = await log.perceptions.lead()
        await log.give(epoch)
    log.session.conditions = [answer_lost]
    assert await log.perceptions.lead(20) == 20
    log.session.conditions = [never_arrived]
    assert await log.perceptions.lead(30) == 30
    with pytest.raises(FencedOut):
        await other.perceptions.lead(30)
    assert len(await log.everything()) == 2


async def test_new_keys_are_not_asked_for_once_the_filter_is_full(opened):
    first = await opened()
    for start in range(0, 9000, 3000):
        await first.give(*range(start, start + 3000))
    asked = first.perceptions._known.asked
    assert asked <= 10  # the filter errs in one of 1,700 cases
    log = await opened(recent=0)
    (known,) = await log.give(10)
    assert not known.new
    await log.perceptions._known._filling
    assert log.perceptions._known.missing == 0
    asked = log.perceptions._known.asked
    assert not any(r.new for r in await log.give(*range(0, 9000, 300)))
    assert log.perceptions._known.asked == asked + 30
    assert all(r.new for r in await log.give(*range(10_000, 11_000)))
    assert log.perceptions._known.asked <= asked + 35


@pytest.mark.parametrize("seed", range(2))
async def test_any_mixture_of_writers_and_troubles_keeps_what_it_answered(opened, seed):
    """Every answered perception is there once, in the order of its number; of the others each at most once."""
    rng = random.Random(seed)
    openings = [await opened(recent=rng.choice([0, 1000])) for _ in range(3)]
    answered: dict[str, int] = {}
    number = 0
    lates: list[Late] = []
    for _ in range(50):
        log = rng.choice(openings)
        trouble = rng.random()
        if trouble < 0.15:
            log.session.conditions = [answer_lost]
        elif trouble < 0.3:
            log.session.conditions = [never_arrived] * rng.choice([1, 2])
        elif trouble < 0.4:
            lates.append(Late())
            log.session.conditions = [lates[-1]]
        elif trouble < 0.5:
            lates.append(Late())
            log.session.rows = [lates[-1]]
        fresh = rng.choice([1, 5, 60, 400])
        batch = [perception(n, key=f"k{n}") for n in range(number, number + fresh)]
        number += fresh
        batch += [perception(n, key=f"k{n}") for n in rng.sample(range(number), min(number, 3))]
        try:
            receipts = await log.perceptions.append(batch)
        except StoreUnavailable:
            receipts = []
        for one, receipt in zip(batch, receipts, strict=False):
            assert answered.setdefault(one.key, receipt.seq) == receipt.seq
        log.session.conditions, log.session.rows = [], []
        while lates and rng.random() < 0.5:
            late = lates.pop(rng.randrange(len(lates)))
            if late._send is not None:
                await late.arrive()
    found = await (await opened()).everything()
    assert len({one.key for one in found}) == len(found)
    there = {one.key: one.seq for one in found}
    assert {key: there[key] for key in answered} == answered
    assert all(one.text == f"line {one.key[1:]}" for one in found)
    assert len(answered) > 1000
