"""What every perception log promises. See ``contract.py``."""

import math
import re
from dataclasses import replace

import pytest

from environment.errors import FencedOut
from environment.messages import Image, Modality, NewPerception, PerceptionBatch
from tests.environment.stores.making import NOON, perception


class PerceptionPromises:
    """What every perception log promises."""

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

    async def test_a_clock_that_was_set_forward_keeps_nothing_for_ever(self, stores):
        wrong = {2, 3, 6}
        receipts = []
        for n in range(8):
            one = perception(n)
            received = NOON + 100 * 365 * 86_400 if n in wrong else one.received
            receipts += await stores.perceptions.append([replace(one, received=received, key=str(n))])
        head, believed = receipts[-1].seq, NOON + 86_400
        assert await stores.perceptions.forget(NOON + 4, head, 10, believed) == 2  # nothing behind 2 and 3 is old yet
        assert await stores.perceptions.forget(NOON + 6, receipts[4].seq, 10, believed) == 3
        assert await stores.perceptions.forget(NOON + 7, head, 10, believed) == 1
        assert [p.seq for p in await stores.perceptions.read(0, 10)] == [r.seq for r in receipts[6:]]
        assert await stores.perceptions.forget(NOON + 8, head, 10, believed) == 2
        assert await stores.perceptions.read(0, 10) == []
        assert (await stores.perceptions.append([perception(3, key="3")]))[0].new

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
