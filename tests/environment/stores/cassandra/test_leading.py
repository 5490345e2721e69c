"""Who leads, who led, and what one may still write who has not noticed."""

import asyncio

import pytest

from environment.errors import FencedOut
from environment.ports import WriteState
from environment.stores.cassandra.commits.commit_logs import CommitLogs
from tests.environment.stores.cassandra.openings import opened

__all__ = ["opened"]


async def test_a_writer_that_is_made_while_another_leads_is_closed_to_the_old_leader(opened):
    old = await opened(writer="late")
    epoch = await old.lead()
    logs = old._writer.logs
    paused, go_on = asyncio.Event(), asyncio.Event()

    async def pauses(self):
        paused.set()
        await go_on.wait()
        return await CommitLogs.epoch(self)

    logs.__class__ = type("Pausing", (CommitLogs,), {"__slots__": (), "epoch": pauses})
    committing = asyncio.ensure_future(old.commit([WriteState("x", b"old")], epoch))
    await paused.wait()  # the writer is in the directory and not made yet
    leader = await opened(writer="host")
    leading = asyncio.ensure_future(leader.lead())
    async with asyncio.timeout(60):
        while await leader._writer.logs.epoch() == epoch:  # noqa: ASYNC110 - the servers say
            await asyncio.sleep(0.01)
    go_on.set()
    newer = await leading
    with pytest.raises(FencedOut):
        await committing
    with pytest.raises(FencedOut):
        await old.commit([WriteState("x", b"old")], epoch)
    assert newer > epoch
    assert await leader.registry.state("x") is None
