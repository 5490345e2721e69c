"""What stores promise as a whole: who leads, who sees what, closing. See ``contract.py``."""

import asyncio
import math

import pytest

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import Level
from environment.ports import Stores, WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState, WriteTrace
from tests.environment.stores.making import (
    NOON,
    change,
    connection,
    entry,
    live_ids,
    perception,
    report,
    revision,
    trace,
)


class CommonPromises:
    """What stores promise as a whole: who leads, who sees what, closing."""

    async def test_a_leader_begins_the_epoch_that_was_agreed_on(self, stores):
        assert await stores.lead(7) == 7
        await stores.commit([WriteState("x", b"1")], fence=7)
        for late in (7, 3, 0, -1):
            with pytest.raises(FencedOut) as refused:
                await stores.lead(late)
            assert (refused.value.fence, refused.value.current) == (late, 7)
        assert await stores.lead() == 8
        with pytest.raises(FencedOut):
            await stores.commit([WriteState("x", b"2")], fence=7)
        assert await stores.lead(100) == 100
        assert await stores.registry.state("x") == b"1"

    async def test_an_older_leader_is_fenced_out(self, stores, backend):
        first = await stores.lead()
        assert first >= 1
        await stores.commit([WriteState("x", b"1")], fence=first)
        elsewhere = await backend.open("alpha")
        try:
            second = await elsewhere.lead()
            assert second > first
            with pytest.raises(FencedOut) as refused:
                await stores.commit([WriteState("x", b"2"), WriteTrace(trace(1))], fence=first)
            assert (refused.value.fence, refused.value.current) == (first, second)
            await elsewhere.commit([WriteState("x", b"3")], fence=second)
        finally:
            await elsewhere.close()
        assert await stores.registry.state("x") == b"3"
        assert await stores.traces.get([trace(1).id]) == {}
        await stores.commit([WriteState("x", b"4")])
        assert await stores.registry.state("x") == b"4"

    async def test_minds_in_one_place_do_not_see_each_other(self, stores, backend):
        other = await backend.open("beta")
        try:
            everything = [
                WriteTrace(trace(1)),
                WriteEntries((entry(1),)),
                WriteConnections("causes", (connection(),), (), (change(),)),
                WriteState("causes", b"alpha"),
                WriteReport(report()),
            ]
            (ours,) = await stores.perceptions.append([perception(1, key="k")])
            await stores.commit(everything, fence=await stores.lead())
            assert await other.perceptions.read(0, 10) == []
            assert await other.perceptions.get([ours.id]) == {}
            assert await other.traces.get([trace(1).id]) == {}
            assert await other.traces.revisions(trace(1).id) == []
            assert await live_ids(other) == []
            assert await other.traces.changes(0, 10) == (0, [])
            assert await other.stream.read(0, 10) == []
            assert await other.stream.find(entry(1).id) is None
            assert await other.registry.connections() == []
            assert await other.registry.history() == []
            assert await other.registry.reports() == []
            assert await other.registry.state("causes") is None
            heads = await other.perceptions.head(), await other.traces.head(), await other.stream.head()
            assert heads == (0, 0, 0)
            (theirs,) = await other.perceptions.append([perception(1, key="k")])
            assert theirs.new
            await other.commit(everything)
            await other.commit([WriteTrace(revision(trace(1), "people", "theirs"))])
            await other.commit([WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)])
            assert await other.traces.forget(math.inf) == 1
            assert await other.registry.forget(math.inf) == 1
            assert await other.perceptions.forget(math.inf, 1 << 60) == 1
            assert (await stores.traces.revisions(trace(1).id)) == [trace(1)]
            assert await stores.registry.history() == [change()]
            assert len(await stores.perceptions.read(0, 10)) == 1
            assert await other.lead() == 1
        finally:
            await other.close()

    async def test_another_opening_sees_what_was_written(self, stores, backend):
        await stores.perceptions.append([perception(1)])
        await stores.commit([WriteTrace(trace(1)), WriteEntries((entry(1),)), WriteState("x", b"y")])
        elsewhere = await backend.open("alpha")
        try:
            assert await elsewhere.perceptions.read(0, 10) == await stores.perceptions.read(0, 10)
            assert await live_ids(elsewhere) == [trace(1).id]
            assert await elsewhere.stream.head() == 1
            await elsewhere.commit([WriteEntries((entry(2),))])
            assert await stores.stream.head() == 2
        finally:
            await elsewhere.close()

    async def test_many_callers_at_once_lose_nothing(self, stores, backend):
        elsewhere = await backend.open("alpha")
        try:

            async def feed(to: Stores, start: int):
                for n in range(start, start + 20):
                    await to.perceptions.append([perception(n, key=str(n % 30))])
                    await to.commit([WriteTrace(trace(n % 30))])

            await asyncio.gather(feed(stores, 0), feed(elsewhere, 20), feed(stores, 40))
        finally:
            await elsewhere.close()
        assert len(await stores.perceptions.read(0, 1000)) == 30
        assert len(await live_ids(stores)) == 30
        assert await stores.traces.head() == 30

    async def test_statistics_count_what_is_there(self, stores):
        await stores.perceptions.append([perception(n) for n in range(3)])
        await stores.commit([WriteTrace(trace(1)), WriteTrace(trace(2)), WriteEntries((entry(1),))])
        await stores.commit([WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)])
        figures = await stores.statistics()
        assert (figures["perceptions_rows"], figures["traces_rows"], figures["traces_live_rows"]) == (3, 2, 1)
        assert figures["entries_rows"] == 1

    async def test_closing_twice_is_fine_and_using_what_is_closed_says_so(self, backend):
        opened = await backend.open("alpha")
        await opened.close()
        await opened.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            await opened.stream.head()
