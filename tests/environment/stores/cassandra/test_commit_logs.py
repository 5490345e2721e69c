"""What only a cluster can break: writers that die, or do not know what became of what they wrote."""

import random
from dataclasses import replace

import pytest

from environment.errors import DuplicateEntry, SequenceGap, StaleRevision, StoreUnavailable
from environment.messages import Level
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState, WriteTrace
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from tests.environment.stores.cassandra.openings import A_BIT_OF_ALL, SMALL, dies_before_its_rows, opened
from tests.environment.stores.making import NOON, change, connection, entry, live_ids, report, revision, trace

__all__ = ["opened"]


@pytest.mark.parametrize("options", [{}, {"settings": SMALL}], ids=["small", "large"])
async def test_what_a_dead_writer_decided_is_written_by_the_next(opened, options):
    whole = await opened(**options)
    await whole.commit([WriteTrace(trace(9))])
    dying = await opened(**options)
    dies_before_its_rows(dying)
    with pytest.raises(StoreUnavailable):
        await dying.commit(A_BIT_OF_ALL)
    assert await whole.stream.head() == 0
    assert await whole.traces.head() == 1
    other = await opened(**options)
    await other.commit([WriteLevel(trace(9).id, Level(0.7, NOON, 60.0), live=True, conscious=None)])
    assert await other.traces.head() == 5  # one for each version, one for the level
    assert await other.stream.read(1, 10) == [entry(1), entry(2)]
    assert sorted(await live_ids(other)) == sorted([trace(1).id, trace(9).id])
    assert [r.version for r in await other.traces.revisions(trace(1).id)] == [1, 2]
    assert await other.registry.connections() == [connection()]
    assert await other.registry.history() == [change(2), change(1)]
    assert await other.registry.state("x") == b"one"


@pytest.mark.parametrize("happens", [True, False], ids=["it happened", "it did not"])
async def test_an_answer_that_is_lost_is_found_out(opened, happens):
    stores = await opened()
    await stores.commit([WriteTrace(trace(1))])
    session = stores._session
    conditional, lost = session.conditional, []

    async def loses(statement, values=()):
        if len(lost) < 2:
            lost.append(values)
            if happens:
                await conditional(statement, values)
            raise OutcomeUnknown("the answer was lost")
        return await conditional(statement, values)

    session.conditional = loses
    await stores.commit(A_BIT_OF_ALL[1:])
    del session.conditional
    assert len(lost) == 2
    assert await stores.traces.head() == 3
    assert await stores.registry.history() == [change(2), change(1)]
    assert await stores.stream.head() == 2
    await stores.commit([WriteEntries((entry(3),))])
    assert await stores.stream.read(1, 10) == [entry(1), entry(2), entry(3)]


async def test_a_refusal_is_never_made_of_what_is_out_of_date(opened):
    one, two = await opened(), await opened()
    await one.commit([WriteTrace(trace(1)), WriteEntries((entry(1),))])
    await two.commit([WriteTrace(revision(trace(1), "causes", "because")), WriteEntries((entry(2),))])
    third = revision(revision(trace(1), "causes", "because"), "people", "and so")
    await one.commit([WriteTrace(third), WriteEntries((entry(3),))])
    with pytest.raises(StaleRevision) as stale:
        await two.commit([WriteTrace(replace(third, thought=replace(third.thought, text="no")))])
    assert stale.value.current == 3
    with pytest.raises(SequenceGap) as gap:
        await two.commit([WriteEntries((entry(3, id="c-other"),))])
    assert gap.value.expected == 4
    with pytest.raises(DuplicateEntry):
        await two.commit([WriteEntries((entry(4, id=entry(3).id),))])
    await two.commit([WriteEntries((entry(4),))])


async def test_writers_that_write_one_thing_after_the_other_leave_the_later(opened):
    """A mind that moved in through one log goes on through another: nothing old shadows what is new."""
    copying, actor = await opened(writer="copy"), await opened(writer="text")
    for n in range(20):
        await copying.commit([WriteState("text", b"copied %d" % n)])
    await actor.commit([WriteState("text", b"its own")])
    assert await actor.registry.state("text") == b"its own"


@pytest.mark.parametrize("size", [0, 1, 15_000, 20_000, 30_000, 33_000, 65_536, 300_000, 3_000_000])
async def test_commits_of_any_size_are_decided(opened, size):
    stores = await opened()
    state = random.Random(size).randbytes(size)
    for n in range(2):
        await stores.commit([WriteTrace(trace(n)), WriteEntries((entry(n + 1),)), WriteState("x", state)])
        await stores.commit([WriteState("y", state + b"%d" % n)])
    assert await stores.registry.state("x") == state
    assert await stores.registry.state("y") == state + b"1"
    await stores.commit([WriteState("y", b"short")])
    assert await stores.registry.state("y") == b"short"
    assert await stores.stream.head() == 2
    rows = await stores._session.run("SELECT mind FROM large_records")
    assert sum(row.mind == opened.mind for row in rows) <= 2 * -(-(size + 5000) // 65_536)


async def test_what_no_server_takes_is_refused_before_it_is_decided(opened):
    stores = await opened()
    huge = replace(trace(1), thought=replace(trace(1).thought, text="x" * (1 << 20)))
    for write in (
        WriteTrace(huge),
        WriteState("x", bytes((64 << 20) + 1)),
        WriteReport(report(reason="x" * (1 << 20))),
    ):
        with pytest.raises(ValueError, match="at most"):
            await stores.commit([write])
    await stores.commit([WriteTrace(trace(1)), WriteState("x", b"y")])
    assert await stores.traces.head() == 1


async def test_a_clock_that_goes_back_changes_no_order(opened):
    hands = iter([5e9, 1.0, 2.0, 1.0, -7.0, 0.0])
    stores = await opened(clock=lambda: next(hands))
    for n in range(5):
        await stores.commit([WriteState("x", b"%d" % n), WriteConnections("causes", (connection(uses=n),), (), ())])
        assert await stores.registry.state("x") == b"%d" % n
    await stores.commit([WriteConnections("causes", (), (("k1", "people"),), ())])
    assert await stores.registry.connections() == []


def of(owner, n):
    return WriteConnections(owner, (replace(connection(), owner=owner),), (), (change(n, owner),))


@pytest.mark.parametrize("fate", ["it happened", "it did not", "it was not written"])
@pytest.mark.parametrize("together", [[], [WriteTrace(trace(1))], [WriteEntries((entry(1),))]], ids=["own", "t", "e"])
async def test_what_was_asked_for_together_and_again_apart_is_listed_once(opened, fate, together):
    """As the actors of one process do: what they ask for at the same time is one commit, their second tries are not."""
    stores = await opened()
    session, whole = stores._session, stores._writer.logs.__class__
    conditional = session.conditional

    async def loses(statement, values=()):
        if fate == "it happened":
            await conditional(statement, values)
        raise OutcomeUnknown("the answer was lost")

    if fate == "it was not written":
        dies_before_its_rows(stores)
    else:
        session.conditional = loses
    for writes in ([of("a", 1), *together, of("b", 2)], [of("c", 3)]):
        with pytest.raises(StoreUnavailable):
            await stores.commit(writes)
    session.conditional = conditional
    stores._writer.logs.__class__ = whole
    await stores.commit([of("b", 2), of("d", 4), WriteState("b", b"two")])
    for writes in ([of("a", 1), *together], [of("c", 3)], [of("c", 5)], [of("a", 6)]):
        await stores.commit(writes)
    listed = [(each.owner, each.at) for each in await stores.registry.history()]
    assert sorted(listed) == sorted((each.owner, each.changes[0].at) for each in map(of, "abcdca", (1, 2, 3, 4, 5, 6)))
    assert {each.owner for each in await stores.registry.connections()} == set("abcd")
    assert await stores.registry.state("b") == b"two"
    assert await stores.traces.head() == sum(isinstance(each, WriteTrace) for each in together)
    assert not any(stores._writer._indeterminate.values())
