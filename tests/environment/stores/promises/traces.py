"""What every store of traces promises. See ``contract.py``."""

import math
from dataclasses import replace

import numpy as np
import pytest

from environment.errors import (
    ChangesGone,
    StaleRevision,
)
from environment.index.shard import Shard
from environment.messages import (
    Level,
    Trace,
)
from environment.ports import (
    WriteLevel,
    WriteState,
    WriteTrace,
)
from environment.search import SearchFilters
from orchestration.view.follower import TraceFollower
from orchestration.view.settings import ViewSettings
from tests.environment.stores.making import DIM, NOON, live_ids, revision, trace, vector


class TracePromises:
    """What every store of traces promises."""

    async def test_a_trace_comes_back_as_it_was_written(self, stores):
        written = trace(1, conscious=7)
        await stores.commit([WriteTrace(written)])
        read = (await stores.traces.get([written.id, "t-nowhere"]))[written.id]
        assert read == written
        assert read.thought.vector.dtype == np.float32
        assert float(read.thought.vector @ written.thought.vector) == pytest.approx(1, abs=2e-3)

    async def test_writing_a_trace_twice_changes_nothing(self, stores):
        await stores.commit([WriteTrace(trace(1)), WriteTrace(trace(1))])
        await stores.commit([WriteLevel(trace(1).id, Level(0.9, NOON, 60.0), live=True, conscious=3)])
        before = (await stores.traces.head(), await stores.traces.get([trace(1).id]))
        again = replace(trace(1), thought=replace(trace(1).thought, at=NOON + 500, text="thought again, other words"))
        await stores.commit([WriteTrace(trace(1)), WriteTrace(again)])
        assert (await stores.traces.head(), await stores.traces.get([trace(1).id])) == before

    async def test_a_revision_keeps_what_was_before_and_names_what_it_builds_on(self, stores):
        first = trace(1)
        second = revision(first, "causes", "because of the disk")
        third = revision(second, "people", "and Ann knows")
        await stores.commit([WriteTrace(first)])
        await stores.commit([WriteTrace(second), WriteTrace(third)])
        found = await stores.traces.revisions(first.id)
        written = [(r.version, r.thought, r.authors) for r in (first, second, third)]
        assert [(r.version, r.thought, r.authors) for r in found] == written
        assert (await stores.traces.get([first.id]))[first.id] == third
        assert await stores.traces.revisions("t-nowhere") == []

    async def test_a_revision_written_again_changes_nothing(self, stores):
        first = trace(1)
        second = revision(first, "causes", "because")
        third = revision(second, "people", "and so")
        await stores.commit([WriteTrace(first), WriteTrace(second), WriteTrace(third)])
        before = await stores.traces.head()
        await stores.commit([WriteTrace(first), WriteTrace(second), WriteTrace(third)])
        assert await stores.traces.head() == before
        assert [r.thought.text for r in await stores.traces.revisions(first.id)][1:] == ["because", "and so"]

    @pytest.mark.parametrize("version", [2, 5])
    async def test_a_stale_revision_is_refused_and_nothing_of_its_commit_stays(self, stores, version):
        first = trace(1)
        await stores.commit([WriteTrace(first), WriteTrace(revision(first, "causes", "because"))])
        conflicting = replace(revision(first, "people", "no, because"), version=version)
        with pytest.raises(StaleRevision) as refused:
            await stores.commit([WriteTrace(trace(2)), WriteState("x", b"y"), WriteTrace(conflicting)])
        assert (refused.value.key, refused.value.base, refused.value.current) == (first.id, version - 1, 2)
        assert await stores.traces.get([trace(2).id]) == {}
        assert await stores.registry.state("x") is None

    async def test_a_trace_under_anothers_id_is_refused(self, stores):
        await stores.commit([WriteTrace(trace(1))])
        forged = replace(trace(1), thought=replace(trace(1).thought, author="operator", trust=1.0))
        with pytest.raises(StaleRevision):
            await stores.commit([WriteTrace(forged)])
        with pytest.raises(StaleRevision):
            await stores.commit([WriteTrace(replace(trace(2), version=2))])
        assert (await stores.traces.get([trace(1).id]))[trace(1).id].thought.trust == 0.4

    async def test_a_level_changes_the_standing_and_not_the_content(self, stores):
        await stores.commit([WriteTrace(trace(1)), WriteTrace(trace(2))])
        level = Level(0.125, NOON + 50, 60.0)
        await stores.commit([WriteLevel(trace(1).id, level, live=False, conscious=4)])
        found = (await stores.traces.get([trace(1).id]))[trace(1).id]
        assert found == replace(trace(1), level=level, live=False, conscious=4)
        await stores.commit([WriteLevel("t-nowhere", level, live=True, conscious=None)])
        assert await stores.traces.get(["t-nowhere"]) == {}

    async def test_the_last_write_of_a_commit_has_the_last_word(self, stores):
        low, high = Level(0.1, NOON, 60.0), Level(0.9, NOON, 60.0)
        first = trace(1)
        second = revision(replace(first, level=high), "causes", "because")
        await stores.commit(
            [WriteTrace(first), WriteLevel(first.id, low, live=True, conscious=None), WriteTrace(second)]
        )
        assert (await stores.traces.get([first.id]))[first.id].level == high
        await stores.commit([WriteLevel(first.id, level, live=True, conscious=None) for level in (high, low)])
        assert (await stores.traces.get([first.id]))[first.id].level == low

    async def test_the_live_are_found_in_batches_each_once(self, stores):
        await stores.commit([WriteTrace(trace(n)) for n in range(7)])
        gone = [trace(n).id for n in (2, 5)]
        await stores.commit([WriteLevel(i, Level(0.01, NOON, 60.0), live=False, conscious=None) for i in gone])
        expected = sorted(trace(n).id for n in (0, 1, 3, 4, 6))
        for batch in (1, 2, 5, 100):
            assert sorted(await live_ids(stores, batch)) == expected

    async def test_who_reads_the_live_is_told_how_far_it_is(self, stores):
        await stores.commit([WriteTrace(trace(n)) for n in range(7)])
        told = []
        async for found in stores.traces.live(3, lambda read, total: told.append((read, total))):
            assert told[-1][0] == 3 * (len(told) - 1) + len(found)
        assert told == [(3, 7), (6, 7), (7, 7)]

    async def test_changes_lead_a_follower_to_what_is_there(self, stores):
        mirror: dict[str, Trace] = {}
        reached = 0

        async def follow():
            nonlocal reached
            while True:
                reached_now, changed = await stores.traces.changes(reached, 3)
                assert len(changed) <= 3
                assert reached_now >= reached
                mirror.update({t.id: t for t in changed})
                if not changed:
                    assert reached_now == reached
                    return
                reached = reached_now

        await stores.commit([WriteTrace(trace(n)) for n in range(8)])
        await follow()
        assert reached == await stores.traces.head()
        await stores.commit([WriteTrace(revision(trace(3), "causes", "because"))])
        await stores.commit([WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)])
        _, changed = await stores.traces.changes(reached, 100)
        assert [t.id for t in changed] == [trace(3).id, trace(1).id]
        await follow()
        assert mirror == await stores.traces.get([trace(n).id for n in range(8)])

    async def test_a_follower_that_cannot_be_told_what_changed_is_told_so(self, stores):
        await stores.commit([WriteTrace(trace(n)) for n in range(3)])
        seen, _ = await stores.traces.changes(0, 10)
        retired = WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)
        await stores.commit([retired])
        assert await stores.traces.forget(math.inf) == 1
        for after in (0, seen):  # nobody can tell any more that this one is not live
            with pytest.raises(ChangesGone, match=f"since change {after} "):
                await stores.traces.changes(after, 10)
        head = await stores.traces.head()
        assert sorted(await live_ids(stores)) == sorted(trace(n).id for n in (0, 2))
        assert await stores.traces.changes(head, 10) == (head, [])
        await stores.commit([WriteTrace(trace(3))])
        assert (await stores.traces.changes(head, 10))[1] == [trace(3)]

    async def test_a_reader_follows_across_what_it_cannot_be_told(self, stores):
        follower = TraceFollower(stores.traces, lambda: Shard(DIM, 25_000), ViewSettings())
        await stores.commit([WriteTrace(trace(n)) for n in range(3)])
        assert len(await follower.most_salient(10, NOON)) == 3
        await stores.commit([WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)])
        await stores.traces.forget(math.inf)
        await stores.commit([WriteTrace(trace(3))])
        found = {found.id for found, _ in await follower.most_salient(10, NOON)}
        assert found == {trace(n).id for n in (0, 2, 3)}
        assert {hit.trace.id for hit in await follower.search(vector(1), 10, SearchFilters(), NOON)} == found

    async def test_forgetting_traces_spares_the_live_the_conscious_and_the_young(self, stores):
        old, young = Level(0.01, NOON, 60.0), Level(0.01, NOON + 1000, 60.0)
        await stores.commit([WriteTrace(trace(n)) for n in range(5)])
        await stores.commit([WriteTrace(revision(trace(1), "causes", "because"))])
        await stores.commit(
            [
                WriteLevel(trace(0).id, old, live=True, conscious=None),
                WriteLevel(trace(1).id, old, live=False, conscious=None),
                WriteLevel(trace(2).id, old, live=False, conscious=9),
                WriteLevel(trace(3).id, young, live=False, conscious=None),
                WriteLevel(trace(4).id, old, live=False, conscious=None),
            ]
        )
        head = await stores.traces.head()
        assert await stores.traces.forget(NOON + 500, limit=1) == 1
        assert await stores.traces.forget(NOON + 500) == 1
        assert await stores.traces.forget(NOON + 500) == 0
        left = await stores.traces.get([trace(n).id for n in range(5)])
        assert set(left) == {trace(n).id for n in (0, 2, 3)}
        assert await stores.traces.revisions(trace(1).id) == []
        assert await stores.traces.head() == head
        await stores.commit([WriteTrace(trace(4))])
        assert (await stores.traces.revisions(trace(4).id)) == [trace(4)]
