"""What every store of collections promises. See ``contract.py``."""

import asyncio
import random
from dataclasses import replace

import pytest

from environment.collections import Collection, Document, RemoveDocument, WriteDocument, scanned
from environment.errors import ChangesGone, FencedOut, Outlived, SequenceGap, StaleRevision
from environment.ports import WriteEntries, WriteState, WriteTrace
from tests.environment.stores.making import NOON, document, entry, trace, vector

NOTES = Collection("notes", tuple[str, int])


def put(number=0, base=None, **changes):
    return WriteDocument(document(number, **changes), base)


async def keys(stores, collection="notes", **asked):
    return [each.key for each in await stores.collections.scan(collection, **asked)]


async def followed(stores, after=0, limit=3, collection="notes"):
    """All changes after a position, read in pages, and the position reached."""
    found = []
    while True:
        after, page = await stores.collections.changes(collection, after, limit)
        assert len(page) <= limit
        found += page
        if len(page) < limit:
            return after, found


class CollectionPromises:
    """What every store of collections promises."""

    async def test_a_document_is_read_as_it_was_written(self, stores):
        plain, full = document(1), document(2, expires=NOON + 9, vector=vector(2), body=b"\0\xff" * 40_000)
        await stores.commit([WriteDocument(plain), WriteDocument(full)])
        found = await stores.collections.get("notes", [plain.key, full.key, "nowhere"])
        assert found == {plain.key: plain, full.key: full}
        assert [(one.version, one.removed) for one in found.values()] == [(1, False)] * 2
        assert found[full.key].vector == pytest.approx(vector(2), abs=1e-3)
        assert await stores.collections.get("others", [plain.key]) == {}
        assert await stores.collections.get("notes", []) == {}

    async def test_a_collection_keeps_values_of_its_type(self, stores):
        await stores.commit([NOTES.write("a/1", ("one", 1), time=NOON), NOTES.write("a/2", ("two", 2))])
        await stores.commit([NOTES.write("b", ("b", 3)), NOTES.write("a/1", ("one", 10))])
        assert await NOTES.get(stores.collections, "a/1") == ("one", 10)
        assert await NOTES.get(stores.collections, "c") is None
        assert await NOTES.all_of(stores.collections, "a/") == {"a/1": ("one", 10), "a/2": ("two", 2)}
        assert await NOTES.all_of(stores.collections, "a/", having="tw") == {"a/2": ("two", 2)}
        assert [one.key async for one in scanned(stores.collections, NOTES.name, "a/", page=1)] == ["a/1", "a/2"]
        await stores.commit([NOTES.remove("a/1")])
        assert list(await NOTES.all_of(stores.collections)) == ["a/2", "b"]

    async def test_who_builds_on_an_old_version_is_refused_and_nothing_of_its_commit_stays(self, stores):
        await stores.commit([put(1, base=0)])
        await stores.commit([put(1, base=1, body=b"second")])
        for late in (
            *(put(1, base=0), put(1, base=1, body=b"late"), put(1, base=9), put(2, base=1)),
            RemoveDocument("notes", document(1).key, base=1),
        ):
            with pytest.raises(StaleRevision) as refused:
                await stores.commit([WriteState("x", b"y"), put(3), late])
            there = 0 if late == put(2, base=1) else 2
            assert (refused.value.base, refused.value.current) == (late.base, there)
        assert await keys(stores) == [document(1).key]
        assert await stores.registry.state("x") is None
        (found,) = (await stores.collections.get("notes", [document(1).key])).values()
        assert (found.version, found.body) == (2, b"second")

    async def test_a_copy_keeps_versions(self, stores):
        await stores.commit([put(1, version=7)])
        await stores.commit([put(1, version=7), put(1, version=3, body=b"then"), put(1, base=8, body=b"now")])
        (found,) = (await stores.collections.get("notes", [document(1).key])).values()
        assert (found.version, found.body) == (9, b"now")

    async def test_keys_are_scanned_in_order_by_prefix_and_in_pages(self, stores):
        names = ["Zoë", "a", "a/", "a/1", "a/10", "a/2", "a0", "b", "\ud7ff", "\ud7ff/x", "\U0001f331", "\U0010ffffz"]
        chance = random.Random(1)
        await stores.commit([put(0, key=each) for each in chance.sample(names, len(names))])
        names.sort(key=str.encode)
        assert await keys(stores) == names
        assert await keys(stores, backwards=True) == names[::-1]
        for prefix in ("a", "a/", "a/1", "\ud7ff", "\U0010ffff", "b", "c", "\U0001f331"):
            some = [each for each in names if each.startswith(prefix)]
            assert await keys(stores, prefix=prefix) == some
            assert await keys(stores, prefix=prefix, backwards=True, limit=2) == some[::-1][:2]
        for backwards in (False, True):
            found, after = [], ""
            while page := await keys(stores, after=after, limit=5, backwards=backwards):
                found += page
                after = found[-1]
            assert found == names[:: -1 if backwards else 1]
        assert await keys(stores, limit=0) == []
        assert await keys(stores, "others") == []

    async def test_documents_are_found_by_time_the_latest_first(self, stores):
        hours = [0, 5, 3, 400, 1, 2]
        await stores.commit([put(n, time=NOON + 3600 * hour) for n, hour in enumerate(hours)])
        await stores.commit([put(1, time=NOON + 3600 * 2.5)])  # it is found at its newest time only

        async def between(since, until, limit=100):
            found = await stores.collections.between("notes", NOON + 3600 * since, NOON + 3600 * until, limit)
            return [int(each.key) for each in found]

        assert await between(-1, 1000) == [3, 2, 1, 5, 4, 0]
        assert await between(1, 3) == [1, 5, 4]
        assert await between(-1, 1000, limit=2) == [3, 2]
        assert await between(4, 6) == []

    async def test_who_follows_the_changes_misses_nothing(self, stores):
        assert (await stores.collections.head(), await followed(stores)) == (0, (0, []))
        await stores.commit([put(n) for n in range(7)])
        position, found = await followed(stores)
        assert found == [document(n) for n in range(7)]
        assert position == await stores.collections.head() == 7
        await stores.commit([put(2, body=b"two"), put(2, collection="others"), put(8)])
        await stores.commit([put(2, body=b"three"), RemoveDocument("notes", document(5).key, time=NOON)])
        position, found = await followed(stores, position)
        told = [(int(each.key), each.body, each.removed) for each in found]
        assert told == [(8, document(8).body, False), (2, b"three", False), (5, b"", True)]
        assert position == await stores.collections.head()
        assert await followed(stores, position) == (position, [])
        _, others = await followed(stores, 0, collection="others")
        assert others == [document(2, collection="others")]

    async def test_a_follower_reads_while_others_write(self, stores, backend):
        elsewhere, last = await backend.open("alpha"), {}

        async def write(through, who):
            for n in range(15):
                await through.commit([WriteDocument(Document("notes", f"{who}{n % 4}", b"%d" % n))])

        writing = asyncio.gather(write(stores, "a"), write(elsewhere, "b"))
        try:
            after = 0
            while True:
                done = writing.done()
                after, found = await followed(stores, after, limit=2)
                last.update((each.key, each.body) for each in found)
                if done:
                    break
                await asyncio.sleep(0)
        finally:
            await writing
            await elsewhere.close()
        assert last == {each.key: each.body for each in await stores.collections.scan("notes")}
        assert len(last) == 8
        assert after == await stores.collections.head() == 30

    async def test_what_is_over_is_forgotten_and_followers_are_told(self, stores):
        await stores.commit([put(n, expires=NOON + 10 * n) for n in range(4)] + [put(9)])
        await stores.commit([put(8), RemoveDocument("notes", document(8).key, time=NOON + 5)])
        position, _ = await followed(stores)
        await stores.commit([put(3, expires=None)])
        assert await stores.collections.forget(NOON - 1) == 0
        assert await keys(stores) == ["0", "1", "2", "3", "9"]  # nothing is hidden before it is forgotten
        assert await stores.collections.forget(NOON + 10.5, limit=1) == 1
        while await stores.collections.forget(NOON + 10.5):
            pass
        assert await keys(stores) == ["2", "3", "9"]
        assert await stores.collections.between("notes", 0, NOON * 2) == [
            document(9),
            document(3),
            *[document(2, expires=NOON + 20)],
        ]
        with pytest.raises(ChangesGone):
            await followed(stores, 0)
        _, found = await followed(stores, position)
        assert [each.key for each in found] == ["3"]
        await stores.commit([put(0, base=0)])
        assert (await followed(stores, position + 1))[1] == [document(0)]

    async def test_a_collection_is_kept_within_its_quota(self, stores):
        await stores.commit([put(n, time=NOON - n) for n in range(9)] + [put(20, collection="others")])
        # What was written again, removed or forgotten is not held any more.
        await stores.commit([put(3, time=NOON - 3, body=b"again"), put(30, expires=NOON), put(31)])
        await stores.commit([RemoveDocument("notes", "31")])
        assert await stores.collections.forget(NOON + 1) == 2
        assert await stores.collections.trim("notes", 9) == 0
        assert await stores.collections.trim("notes", 4, limit=2) == 2
        assert await stores.collections.trim("notes", 4) == 3
        assert await keys(stores) == ["0", "1", "2", "3"]
        assert await keys(stores, "others") == ["20"]
        assert await stores.collections.names() == ["notes", "others"]

    async def test_documents_share_a_commit_with_all_else(self, stores):
        fence = await stores.lead()
        mixed = [WriteTrace(trace(1)), WriteEntries((entry(1),)), put(1, base=0), WriteState("x", b"y")]
        await stores.commit(mixed, fence)
        await stores.commit(mixed, fence)  # its answer was lost
        assert await stores.stream.head() == await stores.collections.head() == 1
        with pytest.raises(SequenceGap):
            await stores.commit([put(2), WriteEntries((entry(7),))], fence)
        with pytest.raises(StaleRevision):
            await stores.commit([WriteTrace(trace(2)), WriteEntries((entry(2),)), put(1, base=0, body=b"no")], fence)
        assert await keys(stores) == ["1"]
        assert await stores.stream.head() == 1
        assert await stores.traces.get([trace(2).id]) == {}

    async def test_an_older_leader_writes_no_document(self, stores, backend):
        fence = await stores.lead()
        await stores.commit([put(1)], fence)
        elsewhere = await backend.open("alpha")
        try:
            newer = await elsewhere.lead()
            for late in (put(1, body=b"late"), put(2), RemoveDocument("notes", "1")):
                with pytest.raises(FencedOut):
                    await stores.commit([late], fence)
            await elsewhere.commit([put(3)], newer)
        finally:
            await elsewhere.close()
        assert await keys(stores) == ["1", "3"]

    async def test_of_several_lives_the_last_writes_documents(self, stores, backend):
        fence = await stores.lead()
        first, second = [await backend.open("alpha", writer="text") for _ in range(2)]
        try:
            await first.claim(fence, 1, numbers=True)
            await first.commit([put(1)], fence)
            await second.claim(fence, 2, numbers=True)
            with pytest.raises(Outlived):
                await first.commit([put(1, body=b"late")], fence)
            await second.commit([put(2)], fence)
        finally:
            await first.close()
            await second.close()
        assert await stores.collections.scan("notes") == [document(1), document(2)]
        assert await stores.collections.head() == 2

    async def test_of_many_who_write_one_version_at_once_one_does(self, stores, backend):
        elsewhere, won = await backend.open("alpha"), []

        async def count(through, who):
            for _ in range(5):
                while True:
                    there = await through.collections.get("notes", ["n"])
                    base = there["n"].version if there else 0
                    try:
                        await through.commit([WriteDocument(Document("notes", "n", f"{who}{base}".encode()), base)])
                    except StaleRevision:
                        continue
                    won.append(base)
                    break

        try:
            await asyncio.gather(count(stores, "a"), count(elsewhere, "b"), count(stores, "c"))
        finally:
            await elsewhere.close()
        assert sorted(won) == list(range(15))
        (found,) = (await stores.collections.get("notes", ["n"])).values()
        assert (found.version, found.change) == (15, 15)

    async def test_another_mind_has_collections_of_its_own(self, stores, backend):
        await stores.commit([put(1), put(2)])
        other = await backend.open("beta")
        try:
            assert await keys(other) == await other.collections.names() == []
            assert await other.collections.head() == 0
            await other.commit([put(1, base=0, body=b"its own")])
            assert await other.collections.trim("notes", 0) == 1
        finally:
            await other.close()
        assert await stores.collections.scan("notes") == [document(1), document(2)]

    @pytest.mark.parametrize("seed", range(4))
    async def test_it_does_as_a_table_in_memory_would(self, stores, seed):
        chance, model, change = random.Random(seed), {}, 0
        for _ in range(60):
            writes, after = [], dict(model)
            for _ in range(chance.randint(1, 4)):
                key, there = chance.choice("abcde"), None
                there = after.get(key)
                if chance.random() < 0.3:
                    writes.append(RemoveDocument("notes", key))
                    change += after.pop(key, None) is not None
                else:
                    said = document(chance.randint(0, 3), key=key, time=NOON + chance.randint(0, 9))
                    writes.append(WriteDocument(said))
                    if there != said:
                        change += 1
                        after[key] = replace(said, version=there.version + 1 if there else 1)
            stale = chance.random() < 0.2
            if stale:
                writes.append(put(0, key="z", base=3))
            change_before = await stores.collections.head()
            try:
                await stores.commit(writes)
                assert not stale
                model = after
            except StaleRevision:
                assert stale
                change = change_before
            found = await stores.collections.scan("notes")
            assert [(each, each.version) for each in found] == [(model[k], model[k].version) for k in sorted(model)]
            by_time = sorted(model.values(), key=lambda each: (-each.time, each.key))
            assert await stores.collections.between("notes", 0, NOON * 2) == by_time
            assert await stores.collections.head() == change
