"""Lives of one writer where only a cluster can tell them apart: asleep within a commit, and with answers lost."""

import asyncio
import random

import pytest

from environment.errors import Outlived
from environment.ports import WriteEntries, WriteState, WriteTrace
from environment.stores.cassandra.commits.commit_logs import CommitLogs, LogView
from environment.stores.cassandra.commits.fenced_log import LogRow
from environment.stores.cassandra.commits.record import CommitRecord, Counters, Part, WriterLife
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from tests.environment.stores.cassandra.openings import SMALL, everything, opened
from tests.environment.stores.making import entry, trace
from tests.environment.stores.promises.lives import Life, one_history

__all__ = ["opened"]

ALL = [WriteTrace(trace(1)), WriteEntries((entry(1),))], [WriteState("x", b"old")]


def falls_asleep(stores, at):
    """From now on this opening stands still before it does ``at``; what wakes it."""
    asleep, woken = asyncio.Event(), asyncio.Event()

    async def sleeps(self, *given):
        asleep.set()
        await woken.wait()
        return await getattr(CommitLogs, at)(self, *given)

    stores._writer.logs.__class__ = type("Asleep", (CommitLogs,), {"__slots__": (), at: sleeps})
    return asleep, woken


@pytest.mark.parametrize("writes", ALL, ids=["numbered", "own"])
@pytest.mark.parametrize("at", ["_put", "_write"], ids=["undecided", "unwritten"])
async def test_who_sleeps_within_a_commit_finds_itself_outlived(opened, at, writes):
    """What was decided on before the claim counts, and is there for the next life; what was not is refused."""
    leader = await opened(writer="mind")
    epoch = await leader.lead()
    first = await opened(writer="stream")
    await first.claim(epoch, 1, numbers=True)
    await first.commit([WriteState("y", b"before")], epoch)
    asleep, woken = falls_asleep(first, at)
    committing = asyncio.ensure_future(first.commit(writes, epoch))
    await asleep.wait()
    second = await opened(writer="stream")
    await second.claim(epoch, 2, numbers=True)
    decided = at == "_write"
    assert await second.stream.head() == (decided and writes is ALL[0])
    assert await second.registry.state("x") == (b"old" if decided and writes is ALL[1] else None)
    await second.commit([WriteEntries((entry(2 if decided and writes is ALL[0] else 1),))], epoch)
    await second.commit([WriteState("x", b"new")], epoch)
    seen = await everything(second)
    woken.set()
    if decided:
        await committing
    else:
        with pytest.raises(Outlived):
            await committing
    assert await everything(second) == seen
    for late in ALL:
        with pytest.raises(Outlived):
            await first.commit(late, epoch)
    assert await everything(second) == seen


@pytest.mark.parametrize("seed", range(4))
async def test_with_answers_lost_at_random_there_is_one_history(opened, seed):
    chance = random.Random(seed)
    leader = await opened(writer="mind")
    epoch = await leader.lead()
    lives = []
    for number in (1, 2, 3):
        stores = await opened(writer="environment", settings=SMALL if number == 2 else None)
        conditional = stores._session.conditional

        async def doubtful(statement, values=(), conditional=conditional):
            luck = chance.random()
            if luck < 0.1:
                raise OutcomeUnknown("it was lost on its way")
            answer = await conditional(statement, values)
            if luck < 0.25:
                raise OutcomeUnknown("the answer was lost")
            return answer

        stores._session.conditional = doubtful
        lives.append(Life(stores, epoch, number, chance))
    await one_history(leader, lives, chance)


@pytest.mark.parametrize(("epoch", "held"), [(1, True), (2, True), (3, False)])
def test_what_was_claimed_under_an_older_epoch_holds_no_more(epoch, held):
    part = Part("core", "traces", 7, Counters(), {"environment": WriterLife(2, 5)})
    view = LogView(LogRow("core", "traces", 7, epoch), CommitRecord(11, b"id", [part], b""))
    assert bool(view.claims) is held


REQUESTS = ("conditional", "serial", "write_all")
"""Those of a commit; what a filter is filled from in the background comes by other ways."""


def counting(session, asked):
    """From now on this session notes what it is asked for."""

    def noted(name, method):
        def note(*given, **more):
            asked.append(name)
            return method(*given, **more)

        return note

    for name in REQUESTS:
        setattr(session, name, noted(name, getattr(session, name)))


async def test_a_claim_costs_commits_nothing(opened):
    """They make the same requests with it as without."""
    requests = {}
    for claimed in (False, True):
        stores = await opened(writer="claimed" if claimed else "unclaimed")
        epoch = await stores.lead()
        if claimed:
            await stores.claim(epoch, 1, numbers=True)
        for again in (False, True):  # the second time all is known
            asked = []
            if again:
                counting(stores._session, asked)
            number = 2 * claimed + again
            await stores.commit([WriteTrace(trace(number)), WriteEntries((entry(number + 1),))], epoch)
            await stores.commit([WriteState("x", b"%d" % number)], epoch)
        requests[claimed] = sorted(asked)
    assert requests[True] == requests[False]
    assert requests[True].count("conditional") == 2
