"""What only a cluster can break: writers that die, sleep, race, or do not know what became of what they wrote."""

import asyncio
import os
import random
import secrets
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environment.errors import DuplicateEntry, FencedOut, SequenceGap, StaleRevision, StoreUnavailable
from environment.messages import Level
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState, WriteTrace
from environment.stores.cassandra.commits.lanes import Lanes
from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import open_stores
from tests.environment.stores.contract import NOON, change, connection, entry, live_ids, name, report, revision, trace

ROOT = str(Path(__file__).parents[4])
SMALL = CassandraSettings(record_bytes=1024, generation=16)


@pytest.fixture
async def opened(shared_keyspace):
    """Opens the test's mind once more; every opening is closed at the end."""
    openings = []
    mind = secrets.token_hex(6)

    async def another(**options):
        options = {"rng": random.Random(len(openings)), **options}
        openings.append(await open_stores(f"{shared_keyspace}?dc={shared_keyspace.dc}", mind, **options))
        return openings[-1]

    another.mind = mind
    yield another
    for each in openings:
        await each.close()


def dies_before_its_rows(stores):
    """From now on this opening decides on commits and never writes their rows."""

    async def dead(self, rows):
        raise StoreUnavailable("this process has died")

    stores._writer.lanes.__class__ = type("Dying", (Lanes,), {"__slots__": (), "_write": dead})


async def everything(stores):
    """All that the tests of this file write."""
    return (
        await stores.traces.head(),
        sorted(await live_ids(stores, 100)),
        (await stores.traces.changes(0, 1000))[1],
        await stores.stream.read(1, 1000),
        await stores.registry.connections(),
        await stores.registry.history(),
        await stores.registry.state("x"),
        dict(await stores.statistics()),
    )


A_BIT_OF_ALL = [
    WriteTrace(trace(1)),
    WriteTrace(trace(2)),
    WriteTrace(revision(trace(1), "causes", "because")),
    WriteLevel(trace(2).id, Level(0.01, NOON, 60.0), live=False, conscious=None),
    WriteEntries((entry(1), entry(2))),
    WriteConnections("causes", (connection(),), (("k1", "nobody"),), (change(1), change(2))),
    WriteState("x", b"one"),
]


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


async def test_a_new_leader_writes_what_the_old_one_left(opened):
    dying = await opened(lane="stream")
    epoch = await dying.lead()
    await dying.commit([WriteState("x", b"zero")], epoch)
    dies_before_its_rows(dying)
    with pytest.raises(StoreUnavailable):
        await dying.commit([WriteEntries((entry(1),))], epoch)
    with pytest.raises(StoreUnavailable):
        await dying.commit([WriteState("x", b"one")], epoch)
    leader = await opened(lane="host")
    await leader.lead()
    assert await leader.stream.read(1, 10) == [entry(1)]
    assert await leader.registry.state("x") == b"one"


async def test_asking_again_for_what_was_decided_only_finishes_it(opened):
    stores = await opened()
    whole = stores._writer.lanes.__class__
    dies_before_its_rows(stores)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await stores.commit(A_BIT_OF_ALL)
    stores._writer.lanes.__class__ = whole
    await stores.commit(A_BIT_OF_ALL)
    assert await stores.registry.history() == [change(2), change(1)]
    assert (await stores.statistics())["entries_rows"] == 2
    assert await stores.traces.head() == 3


async def test_a_leader_that_wakes_late_changes_nothing(opened):
    old = await opened(lane="environment")
    epoch = await old.lead()
    await old.commit([WriteTrace(trace(1)), WriteEntries((entry(1),))], epoch)
    lanes = old._writer.lanes
    asleep = asyncio.Event()
    write = lanes._write
    late = []

    async def sleeps(rows):
        late.append(list(rows))
        asleep.set()
        raise StoreUnavailable("asleep")

    lanes.__class__ = type("Sleeping", (Lanes,), {"__slots__": (), "_write": staticmethod(sleeps)})
    stale = Level(0.11, NOON, 60.0)
    before = [
        WriteLevel(trace(1).id, stale, live=False, conscious=7),
        WriteEntries((entry(2),)),
        WriteState("x", b"old"),
    ]
    with pytest.raises(StoreUnavailable):
        await old.commit(before, epoch)
    assert asleep.is_set()

    new = await opened(lane="environment")
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

    lanes.__class__ = Lanes
    for rows in late:  # the plain writes of the sleeper, at last
        await write(rows)
    assert await everything(new) == seen
    for late_write in ([WriteState("x", b"late")], [WriteEntries((entry(4),))], [WriteTrace(trace(5))]):
        with pytest.raises(FencedOut) as refused:
            await old.commit(late_write, epoch)
        assert (refused.value.fence, refused.value.current) == (epoch, newer)
    assert await everything(new) == seen


async def test_a_lane_that_is_made_while_another_leads_is_closed_to_the_old_leader(opened):
    old = await opened(lane="late")
    epoch = await old.lead()
    lanes = old._writer.lanes
    paused, go_on = asyncio.Event(), asyncio.Event()

    async def pauses(self):
        paused.set()
        await go_on.wait()
        return await Lanes.epoch(self)

    lanes.__class__ = type("Pausing", (Lanes,), {"__slots__": (), "epoch": pauses})
    committing = asyncio.ensure_future(old.commit([WriteState("x", b"old")], epoch))
    await paused.wait()  # the lane is in the directory and not made yet
    leader = await opened(lane="host")
    leading = asyncio.ensure_future(leader.lead())
    async with asyncio.timeout(60):
        while await leader._writer.lanes.epoch() == epoch:  # noqa: ASYNC110 - the servers say
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


async def test_an_answer_that_stays_lost_is_told_and_settled_by_the_next_commit(opened):
    stores = await opened()
    await stores.commit([WriteTrace(trace(1))])
    session = stores._session
    conditional = session.conditional

    async def loses(statement, values=()):
        await conditional(statement, values)
        raise OutcomeUnknown("the answer was lost")

    session.conditional = loses
    with pytest.raises(StoreUnavailable):
        await stores.commit(A_BIT_OF_ALL[1:])
    del session.conditional
    await stores.commit(A_BIT_OF_ALL[1:])
    assert await stores.stream.read(1, 10) == [entry(1), entry(2)]
    assert await stores.registry.history() == [change(2), change(1)]
    assert await stores.traces.head() == 3
    await stores.commit([WriteTrace(trace(3))])
    assert await stores.traces.head() == 4


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


async def test_lanes_that_write_one_thing_after_the_other_leave_the_later(opened):
    """A mind that moved in through one lane goes on through another: nothing old shadows what is new."""
    copying, actor = await opened(lane="copy"), await opened(lane="text")
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


WRITER = """
    import asyncio, random, sys
    from environment.ports import WriteLevel, WriteTrace
    from environment.stores.opening import open_stores
    from tests.environment.stores.contract import trace

    async def main(place, mind, start):
        stores = await open_stores(place, mind)
        print("ready", flush=True)
        for n in range(start, start + 30):
            await stores.commit([WriteTrace(trace(n)), WriteTrace(trace(n + 1000)), WriteTrace(trace(5000))])
        await stores.close()

    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def run_python(script, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": ROOT},
    )


async def test_two_processes_write_through_one_lane(opened, shared_keyspace):
    place = f"{shared_keyspace}?dc={shared_keyspace.dc}"
    writers = [run_python(WRITER, place, opened.mind, start) for start in (0, 30)]
    for writer in writers:
        with writer:
            assert "ready" in await asyncio.to_thread(writer.stdout.read)
        assert writer.returncode == 0
    stores = await opened()
    expected = {trace(n).id for start in (0, 1000) for n in range(start, start + 60)} | {trace(5000).id}
    assert set(await live_ids(stores, 1000)) == expected
    assert await stores.traces.head() == len(expected)
    reached, changed = await stores.traces.changes(0, 1000)
    assert (reached, {t.id for t in changed}) == (len(expected), expected)
    figures = await stores.statistics()
    assert (figures["traces_rows"], figures["traces_live_rows"]) == (len(expected), len(expected))


DYING = """
    import asyncio, sys
    from environment.ports import WriteEntries, WriteTrace
    from environment.stores.opening import open_stores
    from tests.environment.stores.contract import entry, trace

    async def main(place, mind):
        stores = await open_stores(place, mind, lane="stream")
        seq = await stores.stream.head()
        fence = await stores.lead()
        seq = await stores.stream.head()
        while True:
            seq += 1
            await stores.commit([WriteEntries((entry(seq),)), WriteTrace(trace(seq))], fence)
            print(seq, flush=True)

    asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


async def test_the_stream_goes_on_without_gap_after_kill_9(opened, shared_keyspace):
    place = f"{shared_keyspace}?dc={shared_keyspace.dc}"
    said = 0
    for life in range(3):
        with run_python(DYING, place, opened.mind) as process:
            for _ in range(7 + life):
                said = int(await asyncio.to_thread(process.stdout.readline))
            process.send_signal(signal.SIGKILL)
            rest = (await asyncio.to_thread(process.stdout.read)).split()
            said = int(rest[-1]) if rest else said
    stores = await opened()
    await stores.lead()
    stream = await stores.stream.read(1, 1000)
    assert [each.seq for each in stream] == list(range(1, len(stream) + 1))
    assert [each.id for each in stream] == [name("c", n) for n in range(1, len(stream) + 1)]
    assert len(stream) >= said >= 24
    assert set(await live_ids(stores, 1000)) == {trace(each.seq).id for each in stream}


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_mixture_of_openings_and_deaths_keeps_one_history(data, shared_keyspace):
    """Openings take turns on the lanes, some die between a decision and its rows: nothing is lost, doubled or torn."""

    async def live():
        place, mind = f"{shared_keyspace}?dc={shared_keyspace.dc}", secrets.token_hex(6)
        openings = [await open_stores(place, mind, settings=SMALL, rng=random.Random(n)) for n in range(2)]
        seq, levels = 0, {}
        try:
            for _ in range(data.draw(st.integers(3, 10))):
                stores = openings[data.draw(st.integers(0, 1))]
                number, dies = data.draw(st.integers(1, 4)), data.draw(st.booleans())
                value = data.draw(st.sampled_from([0.25, 0.5, 0.75]))
                alive = data.draw(st.booleans())
                writes = [
                    WriteTrace(trace(number)),
                    WriteLevel(trace(number).id, Level(value, NOON, 60.0), live=alive, conscious=None),
                    WriteEntries((entry(seq + 1),)),
                ]
                whole = stores._writer.lanes.__class__
                if dies:
                    dies_before_its_rows(stores)
                try:
                    await stores.commit(writes)
                except StoreUnavailable:
                    assert dies
                    stores._writer.lanes.__class__ = whole
                    await openings[data.draw(st.integers(0, 1))].commit(writes)
                seq += 1
                levels[trace(number).id] = (value, alive)
            last = await open_stores(place, mind)
            openings.append(last)
            stream = await last.stream.read(1, 100)
            assert [each.id for each in stream] == [entry(n + 1).id for n in range(seq)]
            found = await last.traces.get(list(levels))
            assert {i: (t.level.value, t.live) for i, t in found.items()} == levels
            assert set(await live_ids(last)) == {i for i, (_, alive) in levels.items() if alive}
            figures = await last.statistics()
            assert figures["traces_live_rows"] == sum(alive for _, alive in levels.values())
        finally:
            for each in openings:
                await each.close()

    asyncio.run(live())
