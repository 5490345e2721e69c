"""A mind's quota of perceptions, before a real log."""

import pytest

from environment.messages import PerceptionBatch
from orchestration.gateway.errors import OverQuota
from orchestration.gateway.settings import IntakeSettings
from orchestration.host.appenders import HostAppender, PerceptionQuota
from tests.environment.stores.making import perception

SETTINGS = IntakeSettings(per_second=2.0, burst=20, batch=8, commit=8)


async def offer(host, count, key):
    batch = PerceptionBatch.of([perception(n, key=f"{key}-{n}") for n in range(count)])
    (receipts,) = await host.append_batches([host.prepare(batch)])
    return receipts.count


async def test_what_is_beyond_the_quota_is_refused_with_a_time_and_taken_in_then(stores):
    now = 0.0
    host = HostAppender(stores.perceptions, 0.5, PerceptionQuota(SETTINGS, lambda: now))
    host.open(lambda: True)
    assert [await offer(host, 8, "a"), await offer(host, 8, "b")] == [8, 8]  # of twenty
    with pytest.raises(OverQuota) as over:
        await offer(host, 8, "c")
    assert over.value.retry_after == 2.0  # four are missing, two come in a second
    assert await offer(host, 4, "rest") == 4
    with pytest.raises(OverQuota):
        await offer(host, 1, "more")
    now += 2.0
    assert await offer(host, 4, "later") == 4
    now += 3600
    assert [await offer(host, 8, n) for n in ("d", "e")] == [8, 8]
    with pytest.raises(OverQuota):
        await offer(host, 8, "f")


async def test_without_a_quota_nothing_is_refused(stores):
    settings = IntakeSettings(batch=8, commit=8)
    host = HostAppender(stores.perceptions, 0.5, PerceptionQuota(settings, lambda: 0.0))
    host.open(lambda: True)
    assert [await offer(host, 8, n) for n in range(5)] == [8] * 5
