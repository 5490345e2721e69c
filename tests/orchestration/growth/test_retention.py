"""When what a retired submind left is removed, and when not yet."""

import asyncio
from dataclasses import replace

import pytest

from environment.errors import FencedOut
from environment.ports import WriteConnections, WriteReport, WriteState
from orchestration.clock import wall
from orchestration.forgetting import forget_every
from orchestration.growth.retention import AT_ONCE, remove_retired
from orchestration.runtime.worker.ledgers import ledgers_of
from tests.environment.stores.making import NOON, change, member, report

LONG = NOON + 1000.0


async def remove(stores, members, fence=0):
    return await remove_retired(stores, lambda: members, wall() - LONG, fence, ledgers_of)


async def test_only_what_is_old_handed_on_and_without_history_goes(stores):
    ended = replace(member(1), retired=NOON, heir="causes", settled=True)
    members = [
        ended,
        member(2),
        replace(ended, name="causes-3", retired=LONG + 1),
        replace(ended, name="causes-4", settled=False),
        replace(ended, name="causes-5"),
    ]
    for each in [*members, replace(ended, name="causes")]:
        states = [each.name, *ledgers_of(each.name)]
        await stores.commit([WriteReport(report(each.name)), *(WriteState(name, b"x") for name in states)])
    await stores.commit([WriteConnections("causes-5", (), (), (change(1, "causes-5"),))])
    assert await remove(stores, members) == ["causes-1"]
    assert [one.name for one in await stores.registry.reports()] == ["causes", *(f"causes-{n}" for n in (2, 3, 4, 5))]
    for name in ("causes-1", *ledgers_of("causes-1")):
        assert await stores.registry.state(name) is None
    assert await stores.registry.state("causes") == b"x"
    assert await stores.registry.state("causes-4") == b"x"
    assert await remove(stores, members) == []
    await stores.registry.forget(NOON * 2)
    assert await remove(stores, members) == ["causes-5"]


async def test_a_backlog_goes_in_bounded_steps_and_by_who_leads_only(stores):
    fence = await stores.lead()
    ended = [replace(member(n), retired=NOON, heir="causes", settled=True) for n in range(1, AT_ONCE + 4)]
    await stores.commit([WriteReport(report(each.name)) for each in ended])
    assert len(await remove(stores, ended, fence)) == AT_ONCE
    await stores.lead()
    with pytest.raises(FencedOut):
        await remove(stores, ended, fence)
    assert len(await stores.registry.reports()) == 3


async def test_it_is_looked_after_until_another_leads(stores):
    fence, members = await stores.lead(), []
    keeping = asyncio.create_task(forget_every(0.01, lambda: remove(stores, members, fence), "subminds"))
    for n in (1, 2):
        await stores.commit([WriteReport(report(f"causes-{n}"))], fence)
        members.append(replace(member(n), retired=NOON, heir="causes", settled=True))
        async with asyncio.timeout(60):
            while await stores.registry.reports():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)
    await stores.lead()
    await stores.commit([WriteReport(report("causes-1"))])
    await asyncio.wait_for(keeping, 60)
    assert len(await stores.registry.reports()) == 1
