"""A mind's quota of perceptions, over a real etcd and real logs."""

import secrets
from contextlib import AsyncExitStack

import pytest

from environment.messages import PerceptionBatch
from environment.stores.opening import open_stores
from orchestration.gateway.errors import OverQuota
from orchestration.gateway.settings import IntakeSettings
from orchestration.host.appenders import HostAppender, PerceptionQuota
from orchestration.membership.backends import open_coordination
from tests.environment.stores.making import NOON, perception
from tests.orchestration.membership.joining import STEADY

SETTINGS = IntakeSettings(per_second=2.0, burst=20, batch=8, commit=8)


@pytest.fixture
async def hosts(etcd, tmp_path):
    """Makes hosts of one mind, each with a log of its own; ``clock`` is everybody's."""
    mind = secrets.token_hex(6)
    async with AsyncExitStack() as stack:

        async def host(name, settings=SETTINGS, address=f"etcd://{etcd}"):
            stores = await open_stores(tmp_path / name, mind)
            stack.push_async_callback(stores.close)
            coordination = await stack.enter_async_context(open_coordination(address, mind, settings=STEADY))
            quota = PerceptionQuota(coordination.quotas, settings, lambda: host.now)
            appender = HostAppender(stores.perceptions, 0.5, quota)
            appender.open(lambda: True)
            return appender

        host.now = NOON
        yield host


async def offer(host, count, key):
    batch = PerceptionBatch.of([perception(n, key=f"{key}-{n}") for n in range(count)])
    (receipts,) = await host.append_batches([host.prepare(batch)])
    return receipts.count


async def test_hosts_share_one_quota_and_who_leads_next_does_not_begin_anew(hosts):
    one, two = await hosts("one"), await hosts("two")
    assert [await offer(one, 8, "a"), await offer(two, 8, "b")] == [8, 8]  # of twenty
    with pytest.raises(OverQuota) as over:
        await offer(one, 8, "c")
    assert over.value.retry_after == 2.0  # four are missing, two come in a second
    assert (one._quota.refusals, two._quota.refusals) == (1, 0)
    assert await offer(two, 4, "rest") == 4
    with pytest.raises(OverQuota):
        await offer(two, 1, "more")
    hosts.now += 2.0
    assert await offer(one, 4, "later") == 4
    with pytest.raises(OverQuota):
        await offer(two, 1, "too much")
    hosts.now += 3600
    assert [await offer(one, 8, n) for n in ("a", "b")] == [8, 8]
    third = await hosts("third")
    with pytest.raises(OverQuota):
        await offer(third, 8, "c")


async def test_without_a_quota_or_an_etcd_to_ask_nothing_is_refused(hosts):
    free = await hosts("free", IntakeSettings(batch=8, commit=8))
    for n in range(5):
        assert await offer(free, 8, n) == 8
    alone = await hosts("alone", SETTINGS, None)
    assert [await offer(alone, 8, n) for n in range(2)] == [8, 8]
    with pytest.raises(OverQuota):
        await offer(alone, 8, "over")
