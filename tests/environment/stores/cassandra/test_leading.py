"""Who leads, who led, and what one may still write who has not noticed."""

import asyncio

import pytest

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Level
from environment.ports import WriteEntries, WriteLevel, WriteState, WriteTrace
from environment.stores.cassandra.commits.commit_logs import CommitLogs
from tests.environment.stores.cassandra.openings import everything, opened
from tests.environment.stores.making import NOON, entry, trace

__all__ = ["opened"]


async def test_a_leader_that_wakes_late_changes_nothing(opened):
    old = await opened(writer="environment")
    epoch = await old.lead()
    await old.commit([WriteTrace(trace(1)), WriteEntries((entry(1),))], epoch)
    logs = old._writer.logs
    asleep = asyncio.Event()
    write = logs._write
    late = []

    async def sleeps(rows):
        late.append(list(rows))
        asleep.set()
        raise StoreUnavailable("asleep")

    logs.__class__ = type("Sleeping", (CommitLogs,), {"__slots__": (), "_write": staticmethod(sleeps)})
    stale = Level(0.11, NOON, 60.0)
    before = [
        WriteLevel(trace(1).id, stale, live=False, conscious=7),
        WriteEntries((entry(2),)),
        WriteState("x", b"old"),
    ]
    with pytest.raises(StoreUnavailable):
        await old.commit(before, epoch)
    assert asleep.is_set()

    new = await opened(writer="environment")
    newer = await new.lead()
    fresh = Level(0.9, NOON + 5, 60.0)
    await new.commit(
        [
            WriteLevel(trace(1).id, fresh, live=True, conscious=None),
            WriteEntries((entry(3),)),
            WriteState("x", b"new"),
        ],
        newer,
    )
    seen = await everything(new)
    assert seen[3] == [entry(1), entry(2), entry(3)]

    logs.__class__ = CommitLogs
    for rows in late:  # the plain writes of the sleeper, at last
        await write(rows)
    assert await everything(new) == seen
    for late_write in ([WriteState("x", b"late")], [WriteEntries((entry(4),))], [WriteTrace(trace(5))]):
        with pytest.raises(FencedOut) as refused:
            await old.commit(late_write, epoch)
        assert (refused.value.fence, refused.value.current) == (epoch, newer)
    assert await everything(new) == seen


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


async def test_many_that_want_to_lead_get_different_epochs(opened):
    candidates = [await opened() for _ in range(4)]
    epochs = await asyncio.gather(*(each.lead() for each in candidates))
    assert len(set(epochs)) == 4
    best = max(epochs)
    for candidate, epoch in zip(candidates, epochs, strict=True):
        if epoch == best:
            await candidate.commit([WriteState("x", b"best")], epoch)
        else:
            with pytest.raises(FencedOut):
                await candidate.commit([WriteState("x", b"worse")], epoch)


async def test_one_token_makes_one_leader(opened):
    candidates = [await opened() for _ in range(3)]
    answers = await asyncio.gather(*(each.lead(12) for each in candidates), return_exceptions=True)
    assert answers.count(12) == 1
    assert sum(isinstance(answer, FencedOut) for answer in answers) == 2
