"""The promises of ``environment.ports``, as one class of tests that every backend passes.

A backend's test module derives a class from ``StoreContract`` and gives it the fixture ``backend``: a ``Backend``.
"""

import asyncio
import math
import pickle
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
import pytest

from environment.errors import (
    ChangesGone,
    DuplicateEntry,
    FencedOut,
    SequenceGap,
    StaleRevision,
    StoreBroken,
    StoreFull,
    StoreUnavailable,
    WrongSchema,
)
from environment.index.shard import Shard
from environment.messages import (
    ChangeKind,
    Connection,
    ConnectionChange,
    EntryKind,
    Image,
    Level,
    Modality,
    NewPerception,
    PerceptionBatch,
    PerceptionRef,
    StreamEntry,
    SubmindReport,
    SubmindState,
    Thought,
    ThoughtKind,
    Trace,
    Via,
)
from environment.population import GrowthEvent, GrowthKind, Member
from environment.ports import (
    Configuration,
    Stores,
    WriteConfiguration,
    WriteConnections,
    WriteEntries,
    WriteGrowth,
    WriteLevel,
    WriteMember,
    WriteRemoved,
    WriteReport,
    WriteState,
    WriteTrace,
)
from environment.search import SearchFilters
from orchestration.view.follower import TraceFollower
from orchestration.view.settings import ViewSettings

DIM = 256
NOON = 1_772_539_200.0


@dataclass
class Backend:
    """How a backend is tested."""

    open: Callable[[str], Awaitable[Stores]]
    """Opens the stores of a mind; every call shares one place, as processes would."""


def name(prefix: str, *parts: object) -> str:
    return f"{prefix}-{blake2b(repr(parts).encode(), digest_size=10).hexdigest()}"


def vector(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


def perception(number: int = 0, **changes: object) -> NewPerception:
    given = {"source": "ops", "time": NOON + number, "received": NOON + number + 0.25, "text": f"line {number}"}
    if changes.keys() & {"telemetry", "image"}:
        del given["text"]
    return NewPerception(**(given | changes))


def trace(number: int = 0, **changes: object) -> Trace:
    thought = Thought(
        id=name("t", number),
        author="text",
        kind=ThoughtKind.PERCEPT,
        text=f"thought {number} \0 \u202e 雪",
        time=NOON + number,
        at=NOON + number + 1,
        vector=vector(number),
        salience=0.5,
        confidence=0.75,
        trust=0.4,
        perceptions=(PerceptionRef(name("p", number), NOON + number, "ops"),),
        parents=(name("p", number),),
        topic="disks",
        depth=1,
        via=(Via("causes", "k1"),),
        emotions={"fear": 0.25},
        associations=("db-1", "disk"),
        insights=("rate x4",),
        count=3,
    )
    given = {"thought": thought, "version": 1, "level": Level(0.5, NOON + number, 3600.0), "authors": ("text",)}
    return Trace(**(given | changes))


def revision(of: Trace, author: str, text: str) -> Trace:
    return replace(
        of,
        thought=replace(of.thought, author=author, text=text),
        version=of.version + 1,
        authors=(*of.authors, author),
    )


def entry(seq: int, **changes: object) -> StreamEntry:
    given = {
        "seq": seq,
        "id": name("c", seq),
        "kind": EntryKind.THOUGHT,
        "text": f"conscious {seq}",
        "time": NOON + seq,
        "at": NOON + seq + 2,
        "salience": 0.8,
        "confidence": 0.7,
        "trust": 0.4,
        "perceptions": (PerceptionRef(name("p", seq), NOON + seq, "ops"),),
        "lineage": (name("t", seq),),
        "focus": name("t", seq),
        "author": "causes",
    }
    return StreamEntry(**(given | changes))


def connection(owner: str = "causes", topic: str = "k1", peer: str = "people", **changes: object) -> Connection:
    given = {
        "label": "disks",
        "weight": 0.3,
        "ltp": False,
        "uses": 4,
        "credited": 2,
        "last_use": NOON,
        "history": ((NOON - 5, "sent"), (NOON, "credited")),
    }
    return Connection(owner=owner, topic=topic, peer=peer, **(given | changes))


def change(number: int = 0, owner: str = "causes") -> ConnectionChange:
    return ConnectionChange(
        owner, "k1", "people", NOON + number, ChangeKind.CREDITED, 0.3, f"reason {number}", "lost keys"
    )


def report(actor: str = "causes", **changes: object) -> SubmindReport:
    given = {"role": "cognitive", "goal": "find causes", "state": SubmindState.RUNNING, "at": NOON}
    given |= {"topics": ("disks",), "mailbox": 3, "metrics": {"thoughts_total": 5.0}, "reason": ""}
    return SubmindReport(name=actor, **(given | changes))


def grown(seq: int, **changes: object) -> GrowthEvent:
    """An event of growth."""
    return replace(
        GrowthEvent(seq, NOON + seq, GrowthKind.DIVIDED, "guard", "causes", "divide", f"causes-{seq}", ("k1", "k2")),
        **changes,
    )


def member(number: int, **changes: object) -> Member:
    """A member that was born by event ``number``."""
    goals = ("Find out why.", "Say so.")
    made = Member(f"causes-{number}", "cognitive", goals, "causes", 1, number, NOON + number, 0.5, ("k1", "k2"))
    return replace(made, **changes)


async def live_ids(stores: Stores, batch: int = 2) -> list[str]:
    return [found.id async for part in stores.traces.live(batch) for found in part]


class StoreContract:
    """Every promise of the ports."""

    @pytest.fixture
    async def stores(self, backend: Backend):
        opened = await backend.open("alpha")
        yield opened
        await opened.close()

    # The perception log

    async def test_perceptions_come_back_as_they_were_given(self, stores):
        given = [
            perception(1, labels={"level": "warn"}, trust=0.7, key="k"),
            perception(2, telemetry={"load": 1.5, "temp": -3.0}),
            perception(3, image=Image(b"\x89PNG\0\xff" * 1000, "image/png")),
            perception(4, text="null \0 and \u202e and 雪" * 1000),
        ]
        receipts = await stores.perceptions.append(given)
        read = await stores.perceptions.read(0, 10)
        assert [r.new for r in receipts] == [True] * 4
        assert [(p.id, p.seq) for p in read] == [(r.id, r.seq) for r in receipts]
        for before, after in zip(given, read, strict=True):
            for field in NewPerception.__dataclass_fields__:
                assert getattr(after, field) == getattr(before, field), field
        strange = ["p-nowhere", "", "t-0", "p-" + "f" * 20, "p-" + "0" * 20, "p-" + "٣" * 20, read[0].id.upper()]
        assert await stores.perceptions.get([read[2].id, *strange]) == {read[2].id: read[2]}

    async def test_ids_are_a_letter_and_twenty_hexadecimal_digits_and_numbers_grow(self, stores):
        receipts = await stores.perceptions.append([perception(n) for n in range(20)])
        receipts += await stores.perceptions.append([perception(n) for n in range(20)])
        assert all(re.fullmatch("p-[0-9a-f]{20}", r.id) for r in receipts)
        assert len({r.id for r in receipts}) == 40
        numbers = [r.seq for r in receipts]
        assert numbers == sorted(set(numbers))
        assert numbers[0] >= 1

    async def test_a_key_is_accepted_once_within_its_source(self, stores):
        first, twin, other = await stores.perceptions.append(
            [perception(1, key="k"), perception(2, key="k"), perception(3, key="k", source="feed")]
        )
        assert first.new
        assert not twin.new
        assert (twin.id, twin.seq) == (first.id, first.seq)
        assert other.new
        assert other.id != first.id
        (again,) = await stores.perceptions.append([perception(9, key="k")])
        assert again == replace(first, new=False)
        assert [p.text for p in await stores.perceptions.read(0, 10)] == ["line 1", "line 3"]

    async def test_keys_and_sources_that_join_alike_stay_apart(self, stores):
        pair = [perception(1, source="ab", key="c"), perception(1, source="a", key="bc")]
        assert all(r.new for r in await stores.perceptions.append(pair))

    async def test_the_log_is_read_from_any_position_and_by_modality(self, stores):
        assert await stores.perceptions.head() == 0
        batch = [perception(n, telemetry={"x": 1.0}) if n % 3 == 0 else perception(n) for n in range(12)]
        receipts = await stores.perceptions.append(batch)
        head = await stores.perceptions.head()
        assert head == receipts[-1].seq
        seqs = [r.seq for r in receipts]
        assert [p.seq for p in await stores.perceptions.read(seqs[3], 4)] == seqs[4:8]
        telemetry = await stores.perceptions.read(seqs[0], 10, Modality.TELEMETRY)
        assert [p.seq for p in telemetry] == [seqs[3], seqs[6], seqs[9]]
        assert await stores.perceptions.read(head, 10) == []
        assert await stores.perceptions.read(1 << 70, 10) == []
        assert len(await stores.perceptions.read(-5, 1 << 70)) == 12
        assert await stores.perceptions.append([]) == []

    async def test_forgetting_takes_what_is_old_and_has_been_read(self, stores):
        receipts = [(await stores.perceptions.append([perception(n)]))[0] for n in range(10)]
        head = await stores.perceptions.head()
        assert await stores.perceptions.forget(NOON + 5, receipts[7].seq, limit=3) == 3
        assert await stores.perceptions.forget(NOON + 100, receipts[4].seq) == 2
        left = await stores.perceptions.read(0, 100)
        assert [p.seq for p in left] == [r.seq for r in receipts[5:]]
        assert await stores.perceptions.forget(NOON + 100, head) == 5
        assert await stores.perceptions.head() == head
        (late,) = await stores.perceptions.append([perception(99)])
        assert late.seq > head

    async def test_what_was_written_together_goes_together(self, stores):
        receipts = await stores.perceptions.append([perception(n, key=str(n)) for n in range(4)])
        assert await stores.perceptions.forget(NOON + 2, receipts[-1].seq) == 0
        assert await stores.perceptions.forget(NOON + 100, receipts[2].seq) == 0
        assert await stores.perceptions.forget(NOON + 100, receipts[-1].seq, limit=1) == 4
        assert await stores.perceptions.get([r.id for r in receipts]) == {}
        again = await stores.perceptions.append([perception(n, key=str(n)) for n in range(4)])
        assert all(r.new for r in again)
        assert again[0].seq > receipts[-1].seq

    async def test_batches_of_many_callers_are_answered_one_by_one(self, stores):
        await stores.perceptions.append([perception(0, key="a")])
        batches = [
            PerceptionBatch.of([perception(1, key="b"), perception(2, key="a")]),
            PerceptionBatch.of([]),
            PerceptionBatch(["feed", "feed"], [NOON, NOON], [NOON, NOON], text=["x", "y"]),
            PerceptionBatch.of([perception(3, key="b"), perception(4, telemetry={"x": 1.0})]),
        ]
        ready = [stores.perceptions.prepare(batch) for batch in batches]
        answers = [list(answer) for answer in await stores.perceptions.append_batches(ready)]
        assert [[r.new for r in answer] for answer in answers] == [[True, False], [], [True, True], [False, True]]
        assert answers[3][0].id == answers[0][0].id
        kept = await stores.perceptions.read(0, 10)
        assert [p.id for p in kept][1:] == [r.id for answer in answers for r in answer if r.new]
        assert [p.text for p in kept] == ["line 0", "line 1", "x", "y", None]
        assert [(p.key, dict(p.labels), p.trust) for p in kept[2:4]] == [(None, {}, 0.5)] * 2

    async def test_a_long_and_mixed_batch_is_read_in_any_part(self, stores):
        def one(n):
            if n % 50 == 7:
                return perception(n, image=Image(b"x" * 50_000, "image/png"))
            return perception(n, telemetry={"x": 1.0 * n}) if n % 7 == 0 else perception(n, key=f"k{n}")

        receipts = await stores.perceptions.append([one(n) for n in range(700)])
        everything = await stores.perceptions.read(0, 1000)
        assert [p.id for p in everything] == [r.id for r in receipts]
        assert [p.time - NOON for p in everything] == list(range(700))
        for modality in Modality:
            wanted = [p for p in everything if p.modality is modality]
            assert await stores.perceptions.read(0, 1000, modality) == wanted
            for at in (3, len(wanted) // 2):
                assert await stores.perceptions.read(wanted[at].seq, 5, modality) == wanted[at + 1 : at + 6]
        found = await stores.perceptions.get([r.id for r in receipts[::13]])
        assert list(found.values()) == everything[::13]

    async def test_who_led_the_log_before_may_not_write_to_it(self, stores, backend):
        first = await stores.perceptions.lead()
        await stores.perceptions.append([perception(1, key="a")])
        elsewhere = await backend.open("alpha")
        try:
            second = await elsewhere.perceptions.lead()
            assert second > first
            with pytest.raises(FencedOut) as refused:
                await stores.perceptions.append([perception(2)])
            assert (refused.value.fence, refused.value.current) == (first, second)
            with pytest.raises(FencedOut):
                await stores.perceptions.forget(math.inf, 1 << 60)
            known, new = await elsewhere.perceptions.append([perception(3, key="a"), perception(4)])
            assert (known.new, new.new) == (False, True)
            assert [p.text for p in await stores.perceptions.read(0, 10)] == ["line 1", "line 4"]
            assert await stores.perceptions.lead() > second
            await stores.perceptions.append([perception(5)])
        finally:
            await elsewhere.close()
        assert [p.text for p in await stores.perceptions.read(0, 10)] == ["line 1", "line 4", "line 5"]

    async def test_a_token_from_outside_begins_an_epoch_once(self, stores, backend):
        assert await stores.perceptions.lead(7) == 7
        elsewhere = await backend.open("alpha")
        try:
            for late in (7, 3):
                with pytest.raises(FencedOut) as refused:
                    await elsewhere.perceptions.lead(late)
                assert (refused.value.fence, refused.value.current) == (late, 7)
            await stores.perceptions.append([perception(1)])
            assert await elsewhere.perceptions.lead() == 8
        finally:
            await elsewhere.close()
        with pytest.raises(FencedOut):
            await stores.perceptions.append([perception(2)])

    async def test_who_never_led_the_log_takes_it_when_it_writes(self, stores, backend):
        leader = await backend.open("alpha")
        try:
            led = await leader.perceptions.lead()
            await stores.perceptions.append([perception(1)])
            with pytest.raises(FencedOut) as refused:
                await leader.perceptions.append([perception(2)])
            assert refused.value.current > led
            await leader.perceptions.lead()
            await leader.perceptions.append([perception(3)])
            await stores.perceptions.append([perception(4)])
        finally:
            await leader.close()
        assert [p.text for p in await stores.perceptions.read(0, 10)] == ["line 1", "line 3", "line 4"]

    # Traces

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
        assert (refused.value.trace_id, refused.value.base, refused.value.current) == (first.id, version - 1, 2)
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

    async def test_traces_are_met_by_time_author_and_topic(self, stores):
        def thought(number, **changes):
            made = trace(number)
            return replace(made, thought=replace(made.thought, **changes))

        first = thought(1, author="text", topic="disks")
        second = thought(2, author="people", topic="disks")
        third = thought(3, author="text", topic="")
        retired = replace(thought(4000, author="text", topic="disks"), live=False)
        written = [second, first, retired, third]
        await stores.commit([WriteTrace(each) for each in written])
        later = replace(
            revision(first, "causes", "because"),
            thought=replace(first.thought, author="causes", at=NOON + 9000, topic="fans"),
        )
        await stores.commit([WriteTrace(later)])
        now = math.inf
        found = stores.traces.between
        assert await found(-math.inf, now) == [later, retired, third, second]
        assert await found(-math.inf, now, limit=2) == [later, retired]
        assert await found(-math.inf, now, limit=0) == []
        assert await found(NOON + 2, NOON + 4) == [second, later]
        assert await found(NOON + 4, NOON + 4001) == [third]
        assert await found(-math.inf, now, author="text") == [retired, third, later]
        assert await found(-math.inf, now, topic="disks") == [retired, second, later]
        assert await found(-math.inf, now, author="causes", topic="disks") == []
        assert await found(-math.inf, now, author="causes", topic="fans") == [later]
        assert await found(-math.inf, now, author="text", topic="disks", limit=1) == [retired]
        assert await found(NOON, NOON + 3, author="people") == []
        assert await found(-math.inf, now, author="nobody") == []
        await stores.commit([WriteTrace(later), WriteLevel(second.id, Level(0.9, NOON, 60.0), live=True, conscious=1)])
        assert [each.id for each in await found(-math.inf, now)] == [
            each.id for each in (later, retired, third, second)
        ]

    async def test_forgotten_traces_are_no_longer_met(self, stores):
        await stores.commit([WriteTrace(replace(trace(n), live=n > 1)) for n in range(4)])
        assert await stores.traces.forget(math.inf) == 2
        assert [each.id for each in await stores.traces.between(-math.inf, math.inf)] == [trace(3).id, trace(2).id]
        await stores.commit([WriteTrace(trace(1))])
        assert trace(1) in await stores.traces.between(-math.inf, math.inf, author="text")

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

    # The stream

    async def test_the_stream_is_read_from_any_position(self, stores):
        assert await stores.stream.head() == 0
        segue = entry(3, kind=EntryKind.SEGUE, focus="", author="", vector=vector(3))
        written = [entry(1), entry(2), segue, entry(4)]
        await stores.commit([WriteEntries(tuple(written[:2])), WriteEntries(tuple(written[2:]))])
        assert await stores.stream.head() == 4
        assert await stores.stream.read(1, 10) == written
        assert await stores.stream.read(2, 2) == written[1:3]
        assert await stores.stream.read(5, 10) == []
        assert await stores.stream.find(segue.id) == segue
        assert (await stores.stream.read(3, 1))[0].vector == pytest.approx(vector(3), abs=1e-3)
        assert await stores.stream.find("c-nowhere") is None
        assert await stores.stream.read(1 << 70, 10) == []
        assert await stores.stream.read(1, 0) == []
        assert len(await stores.stream.read(-5, 1 << 70)) == 4

    @pytest.mark.parametrize("seq", [0, 1, 2, 4, -1])
    async def test_a_gap_or_a_repeated_number_is_refused(self, stores, seq):
        await stores.commit([WriteEntries((entry(1), entry(2)))])
        with pytest.raises(SequenceGap) as refused:
            await stores.commit([WriteState("x", b"y"), WriteEntries((entry(seq, id="c-new"),))])
        assert (refused.value.expected, refused.value.got) == (3, seq)
        with pytest.raises(SequenceGap):
            await stores.commit([WriteEntries((entry(3), entry(5)))])
        assert await stores.stream.head() == 2
        assert await stores.registry.state("x") is None

    async def test_a_repeated_id_is_refused(self, stores):
        await stores.commit([WriteEntries((entry(1),))])
        with pytest.raises(DuplicateEntry) as refused:
            await stores.commit([WriteTrace(trace(1)), WriteEntries((entry(2, id=entry(1).id),))])
        assert (refused.value.entry_id, refused.value.seq) == (entry(1).id, 1)
        assert await stores.stream.head() == 1
        assert await stores.traces.get([trace(1).id]) == {}

    # The registry

    async def test_connections_are_kept_changed_and_removed(self, stores):
        strong, weak = connection(peer="a", weight=0.9, ltp=True), connection(peer="b", weight=0.1)
        foreign = connection(owner="people", peer="a", weight=0.5)
        await stores.commit([WriteConnections("causes", (weak, strong), (), (change(1), change(2)))])
        await stores.commit([WriteConnections("people", (foreign,), (), (change(3, "people"),))])
        assert await stores.registry.connections("causes") == [strong, weak]
        assert await stores.registry.connections() == [strong, foreign, weak]
        raised = replace(weak, weight=0.95, uses=5, history=())
        await stores.commit([WriteConnections("causes", (raised,), (("k1", "a"), ("k1", "nobody")), ())])
        assert await stores.registry.connections("causes") == [raised]
        assert await stores.registry.history() == [change(3, "people"), change(2), change(1)]
        assert await stores.registry.history("causes", limit=1) == [change(2)]
        assert await stores.registry.forget(NOON + 2) == 1
        assert await stores.registry.history() == [change(3, "people"), change(2)]

    async def test_the_history_is_read_in_pages_while_it_grows(self, stores):
        made = [replace(change(n // 4, "causes" if n % 3 else "people"), reason=f"{n}") for n in range(24)]
        for start in range(0, 24, 6):  # several at one time, in one commit and across commits
            for owner in ("causes", "people"):
                mine = tuple(c for c in made[start : start + 6] if c.owner == owner)
                await stores.commit([WriteConnections(owner, (), (), mine)])
        whole = await stores.registry.history()
        assert sorted(int(c.reason) for c in whole) == list(range(24))
        assert [c.at for c in whole] == sorted((c.at for c in made), reverse=True)
        assert await stores.registry.history("causes") == [c for c in made[::-1] if c.owner == "causes"]
        paged = await stores.registry.history(limit=5)
        await stores.commit([WriteConnections("causes", (), (), (change(9), change(10)))])
        while page := await stores.registry.history(limit=5, before=paged[-1].mark):
            paged += page
        assert paged == whole
        assert len({c.mark for c in paged}) == 24
        assert await stores.registry.history("people", since=NOON + 3) == [
            c for c in whole if c.owner == "people" and c.at >= NOON + 3
        ]
        later = await stores.registry.history(since=NOON + 4, before=whole[2].mark)
        assert later == [c for c in whole[3:] if c.at >= NOON + 4]
        for wrong in ("soon", "[1,2]", "-1", "9" * 40):
            with pytest.raises(ValueError, match="not a mark"):
                await stores.registry.history(before=wrong)

    async def test_states_and_reports_replace_the_ones_before(self, stores):
        assert await stores.registry.state("causes") is None
        await stores.commit([WriteState("causes", b"\0one"), WriteReport(report()), WriteReport(report("alpha"))])
        await stores.commit([WriteState("causes", b"two"), WriteReport(report(mailbox=9, reason="busy"))])
        assert await stores.registry.state("causes") == b"two"
        assert await stores.registry.reports() == [report("alpha"), report(mailbox=9, reason="busy")]

    async def test_changes_are_followed_in_the_order_in_which_they_were_written(self, stores):
        assert (await stores.registry.last_written(), await stores.registry.written("", 9)) == ("", [])
        order = [5, 1, 9, 2, 9, 0, 7]  # whatever their mind times
        for place, second in enumerate(order):
            made = replace(change(second, "ab"[place % 2]), reason=f"{place}")
            await stores.commit([WriteConnections(made.owner, (), (), (made,))])
        last, found, after = await stores.registry.last_written(), [], ""
        async with asyncio.timeout(30):
            while len(found) < len(order):  # it may take a moment until it is known that nothing comes before
                page = await stores.registry.written(after, 3)
                assert len(page) <= 3
                found += page
                after = page[-1].mark if page else after
        assert [int(c.reason) for c in found] == list(range(len(order)))
        assert after == last
        for place, one in enumerate(found):
            assert await stores.registry.written(one.mark, 99) == found[place + 1 :]
        for wrong in ("soon", "[1,2]", "-1", "9" * 40):
            with pytest.raises(ValueError, match="not a mark"):
                await stores.registry.written(wrong, 1)

    async def test_reports_and_owners_are_read_page_by_page(self, stores):
        names = sorted(["Zoë", "zebra", "a", "ab", "b-10", "b-9", "\U0001f331", "\uffee"], key=str.encode)
        await stores.commit([WriteReport(report(name)) for name in names])
        await stores.commit([WriteConnections(n, (connection(owner=n),), (), ()) for n in names])
        for read, name_of in ((stores.registry.reports, lambda r: r.name), (stores.registry.owners, str)):
            assert [name_of(one) for one in await read()] == names
            found, after = [], ""
            while page := await read(after, 3):
                assert len(page) <= 3
                found += [name_of(one) for one in page]
                after = found[-1]
            assert found == names
            assert [name_of(one) for one in await read("b", 2)] == ["b-10", "b-9"]

    async def test_configurations_stay_as_they_were_put_to_work(self, stores, backend):
        assert await stores.registry.configurations() == []
        made = [Configuration(version, NOON + version, "ann", '{"floor": 0.05}') for version in (1, 2, 3, 250)]
        await stores.commit([WriteConfiguration(each) for each in made])
        await stores.commit([WriteConfiguration(replace(made[1], by="bob"))])
        assert await stores.registry.configurations() == made[::-1]
        assert await stores.registry.configurations(limit=2) == [made[3], made[2]]
        other = await backend.open("beta")
        try:
            assert await other.registry.configurations() == []
        finally:
            await other.close()

    async def test_the_log_of_growth_has_no_gap_and_the_first_to_write_decides(self, stores, backend):
        assert (await stores.registry.growth_head(), await stores.registry.growth(0, 10)) == (0, [])
        await stores.commit([WriteGrowth(grown(1)), WriteMember(member(1)), WriteState("causes-1", b"first")])
        elsewhere = await backend.open("alpha")
        try:
            await elsewhere.commit([WriteGrowth(grown(2, kind=GrowthKind.FROZEN, by="ann"))])
            for late in (grown(2), grown(4), grown(0), grown(-1), grown(1, reason="another")):
                with pytest.raises(SequenceGap) as refused:
                    await stores.commit([WriteState("causes-1", b"late"), WriteMember(member(9)), WriteGrowth(late)])
                assert (refused.value.expected, refused.value.got) == (3, late.seq)
            await stores.commit([WriteGrowth(grown(2, kind=GrowthKind.FROZEN, by="ann"))])  # the very same
            await stores.commit([WriteGrowth(grown(3)), WriteGrowth(grown(4))])
            assert await elsewhere.registry.growth_head() == 4
            assert [event.seq for event in await elsewhere.registry.growth(1, 2)] == [2, 3]
            assert await elsewhere.registry.growth(0, 1) == [grown(1)]
            assert await elsewhere.registry.growth(4, 10) == []
            assert await elsewhere.registry.state("causes-1") == b"first"
        finally:
            await elsewhere.close()

    async def test_many_who_decide_at_once_decide_one_after_the_other(self, stores, backend):
        elsewhere, won = await backend.open("alpha"), []

        async def decide(through: Stores, who: str) -> None:
            for _ in range(5):
                while True:
                    seq = await through.registry.growth_head() + 1
                    try:
                        await through.commit([WriteGrowth(grown(seq, by=who))])
                    except SequenceGap:
                        continue
                    won.append((seq, who))
                    break

        try:
            await asyncio.gather(decide(stores, "a"), decide(elsewhere, "b"), decide(stores, "c"))
        finally:
            await elsewhere.close()
        assert sorted(seq for seq, _ in won) == list(range(1, 16))
        assert [(event.seq, event.by) for event in await stores.registry.growth(0, 100)] == sorted(won)

    async def test_members_come_in_the_order_of_their_births_as_they_are_now(self, stores, backend):
        assert await stores.registry.members() == []
        await stores.commit([WriteGrowth(grown(1)), WriteMember(member(1))])
        await stores.commit([WriteGrowth(grown(2)), WriteMember(member(2))])
        gone = member(1, retired=NOON + 99, heir="causes")
        retired = grown(3, kind=GrowthKind.RETIRED, submind="causes-1", other="causes")
        await stores.commit([WriteGrowth(retired), WriteMember(gone)])
        assert await stores.registry.members() == [gone, member(2)]
        assert [each.living for each in await stores.registry.members()] == [False, True]
        other = await backend.open("beta")
        try:
            assert await other.registry.members() == []
            assert await other.registry.growth_head() == 0
        finally:
            await other.close()

    async def test_what_an_actor_left_is_removed_and_what_it_thought_stays(self, stores):
        fence = await stores.lead()
        writes = [WriteReport(report("causes-1")), WriteState("causes-1", b"mine"), WriteState("~of causes-1", b"too")]
        await stores.commit([*writes, WriteReport(report("alpha")), WriteState("alpha", b"kept")], fence)
        thought = replace(trace(1).thought, author="causes-1")
        await stores.commit([WriteTrace(replace(trace(1), thought=thought))], fence)
        for _ in range(2):
            await stores.commit([WriteRemoved(("causes-1", "nobody"), ("~of causes-1",))], fence)
            assert await stores.registry.reports() == [report("alpha")]
            assert [await stores.registry.state(name) for name in ("causes-1", "~of causes-1", "alpha")] == [
                *(None, None, b"kept")
            ]
            assert (await stores.traces.get([trace(1).id]))[trace(1).id].thought.author == "causes-1"
            assert await stores.traces.between(0, NOON * 2, author="causes-1") != []
        await stores.commit([WriteReport(report("causes-1")), WriteRemoved(("causes-1",)), WriteState("x", b"")], fence)
        assert await stores.registry.reports() == [report("alpha")]
        await stores.lead()
        with pytest.raises(FencedOut):
            await stores.commit([WriteRemoved(("alpha",))], fence)
        assert await stores.registry.reports() == [report("alpha")]

    async def test_who_leads_no_more_decides_on_no_growth(self, stores, backend):
        first = await stores.lead()
        await stores.commit([WriteGrowth(grown(1))], fence=first)
        elsewhere = await backend.open("alpha")
        try:
            await elsewhere.lead()
        finally:
            await elsewhere.close()
        with pytest.raises(FencedOut):
            await stores.commit([WriteGrowth(grown(2)), WriteMember(member(2))], fence=first)
        assert await stores.registry.growth_head() == 1
        assert await stores.registry.members() == []

    # All together

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

    def test_errors_survive_pickling(self):
        for error in (
            StoreUnavailable("busy", 0.5),
            StoreFull("full", 5.0),
            StaleRevision("t-1", 1, 2),
            FencedOut(1, 2),
            SequenceGap(3, 5),
            DuplicateEntry("c-1", 4),
            StoreBroken("mind.db", "damaged"),
            WrongSchema(9, 1, "upgrade"),
        ):
            twin = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
            assert type(twin) is type(error)
            assert (str(twin), vars(twin), twin.args) == (str(error), vars(error), error.args)
