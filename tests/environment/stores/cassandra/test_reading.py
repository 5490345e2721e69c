"""Reading the log from a real server: any part of it, large bodies, what is passed over, what was forgotten."""

import asyncio
import random

import pytest

from environment.errors import StoreBroken
from environment.messages import Image, Modality
from environment.stores.cassandra.log.layout import CHUNK, chunk_of
from tests.environment.stores.cassandra.logs import Paused, lines
from tests.environment.stores.making import NOON, perception

KEYS, STRETCHES = "SELECT mind FROM perception_keys", "SELECT mind FROM perception_stretches"


async def count(opening, query):
    """How many rows of the mind there are in a table."""
    mind = opening.perceptions._mind
    rows = await opening.session.execute(await opening.session.prepare(query), idempotent=True)
    return sum(row.mind == mind for row in rows)


async def test_any_part_is_read_whatever_was_written_together(opened):
    rng = random.Random(1)
    log, reader = await opened(), await opened()
    written = []
    while len(written) < 3 * CHUNK:
        size = rng.choice([1, 2, 47, 48, 300, 700])
        batch = [
            perception(n, key=f"k{n}") if n % 97 else perception(n, telemetry={"x": float(n)})
            for n in range(len(written), len(written) + size)
        ]
        await log.perceptions.append(batch)
        written += batch
        some = await reader.perceptions.read(len(written) - size, 1000)  # the reader is there while it grows
        assert [one.time for one in some] == [one.time for one in batch]
    for _ in range(30):
        after, limit = rng.randrange(len(written)), rng.choice([1, 10, 300, 5000])
        part = await reader.perceptions.read(after, limit)
        assert [one.time for one in part] == [one.time for one in written[after : after + limit]]
        assert [one.seq for one in part] == list(range(after + 1, after + 1 + len(part)))
    everything = await log.everything()
    wanted = rng.sample(everything, 50)
    found = await (await opened()).perceptions.get([one.id for one in wanted])
    assert found == {one.id: one for one in wanted}


async def test_a_reader_of_what_is_rare_does_not_look_again_at_what_it_passed_over(opened):
    log, reader = await opened(), await opened()
    for start in range(0, 6 * CHUNK, CHUNK):
        await log.give(*range(start, start + CHUNK), keyed=False)
    assert await reader.perceptions.read(0, 10, Modality.IMAGE) == []
    asked = []
    ask = reader.perceptions._table.index

    async def counting(chunk, head):
        asked.append(chunk)
        return await ask(chunk, head)

    reader.perceptions._table.index = counting
    assert await reader.perceptions.read(0, 10, Modality.IMAGE) == []
    await log.give(7000, keyed=False)
    image = perception(8000, image=Image(b"x", "image/png"))
    (receipt,) = await log.perceptions.append([image])
    assert [one.seq for one in await reader.perceptions.read(0, 10, Modality.IMAGE)] == [receipt.seq]
    assert [one.seq for one in await reader.perceptions.read(0, 10, Modality.IMAGE)] == [receipt.seq]
    assert set(asked) <= {6}
    assert await reader.perceptions.read(receipt.seq, 10, Modality.IMAGE) == []
    (late,) = await log.perceptions.append([image])
    for after, expected in ((0, [receipt.seq, late.seq]), (receipt.seq, [late.seq]), (late.seq, [])):
        assert [one.seq for one in await reader.perceptions.read(after, 10, Modality.IMAGE)] == expected
    texts = await reader.perceptions.read(6 * CHUNK - 3, 10, Modality.TEXT)
    assert [one.text for one in texts] == lines(6 * CHUNK - 3, 6 * CHUNK - 2, 6 * CHUNK - 1, 7000)


async def test_large_images_and_texts_come_back_whole(opened):
    rng = random.Random(2)
    log = await opened()
    given = [perception(n, image=Image(rng.randbytes(4 << 20), "image/png"), key=f"i{n}") for n in range(3)]
    given.append(perception(3, text="雪" * (1 << 20)))
    given += [perception(n, image=Image(rng.randbytes(size), "image/png")) for n, size in ((4, 65_000), (5, 66_000))]
    given += [perception(n, telemetry={f"name {i} {n}": 1.0 * i for i in range(1024)}) for n in range(6, 330)]
    await log.perceptions.append(given)
    for reader in (log, await opened()):
        found = await reader.everything()
        assert [(one.image, one.text, one.telemetry) for one in found] == [
            (one.image, one.text, one.telemetry) for one in given
        ]
        assert (await reader.perceptions.get([found[1].id]))[found[1].id].image == given[1].image
    assert [r.new for r in await log.perceptions.append(given[:2])] == [False, False]
    assert await log.perceptions.forget(NOON + 1e6, 1 << 60) == len(given)
    assert await log.everything() == []


async def test_what_is_forgotten_goes_by_whole_partitions_and_with_its_keys(opened):
    log = await opened()
    total = 3 * CHUNK + 100
    for start in range(0, total, 62):
        await log.give(*range(start, min(total, start + 62)))
    await log.perceptions.append([perception(9, image=Image(bytes(100_000), "image/png"))])
    assert await count(log, KEYS) == total
    gone = await log.perceptions.forget(NOON + 1e6, 2 * CHUNK + 10, limit=CHUNK)
    assert CHUNK <= gone < CHUNK + 62
    gone += await log.perceptions.forget(NOON + 1e6, 2 * CHUNK + 10, limit=1 << 40)
    assert 2 * CHUNK - 52 < gone <= 2 * CHUNK + 10
    reader = await opened()
    assert (await reader.everything())[0].seq == gone + 1
    assert await reader.perceptions.get([f"p-{seq:020x}" for seq in (1, gone)]) == {}
    swept = (gone + 1) // CHUNK * CHUNK - 1
    assert await count(log, KEYS) == total - swept
    assert [r.new for r in await log.give(0, gone - 1, gone)] == [True, True, False]
    assert await log.perceptions.forget(NOON + 1e6, 1 << 60, limit=1 << 40) == total + 1 + 2 - gone
    assert await log.everything() == []
    log = await opened(recent=0)
    assert all(r.new for r in await log.give(*range(0, total, 40)))


async def test_forgetting_that_was_cut_short_goes_on_and_spares_what_was_accepted_again(opened):
    log = await opened()
    await log.give(*range(CHUNK + 200))
    paused = Paused()
    deleted = log.perceptions._table.delete
    log.perceptions._table.delete = lambda *_: paused(asyncio.sleep)  # dies when the keys are gone, not the rows
    going = asyncio.ensure_future(log.perceptions.forget(NOON + 1e6, CHUNK + 100, limit=1 << 40))
    await paused.reached.wait()
    going.cancel()
    log.perceptions._table.delete = deleted
    kept = await log.perceptions.rows()
    assert kept == 201
    again = await log.give(3, 4, 5)
    assert all(r.new for r in again)
    assert await count(log, STRETCHES) > 2
    await log.perceptions.forget(NOON - 1, 1)  # nothing more to forget: only what was left over
    other = await opened(recent=0)
    assert [r.seq for r in await other.give(3, 4, 5)] == [r.seq for r in again]
    assert await other.perceptions.rows() == kept + 3
    assert chunk_of((await other.everything())[0].seq) == 1
    rows = await other.session.prepare("SELECT position FROM perception_stretches WHERE mind = ? AND chunk = ?")
    left = [await other.session.execute(rows, (other.perceptions._mind, chunk), idempotent=True) for chunk in (0, 1)]
    assert [len(each) for each in left] == [0, 2]


async def test_what_is_missing_is_said_and_never_passed_over(opened):
    log = await opened()
    for start in range(0, 40, 10):
        await log.give(*range(start, start + 10))
    mind = log.perceptions._mind
    delete = "DELETE FROM perception_stretches WHERE mind = '{}' AND chunk = 0 AND position = 11"
    await log.session.run(delete.format(mind))
    reader = await opened()
    with pytest.raises(StoreBroken, match="damaged"):
        await reader.perceptions.read(0, 100)
    with pytest.raises(StoreBroken, match="missing"):
        await reader.perceptions.get([f"p-{15:020x}"])


async def test_a_reader_goes_on_while_what_it_reads_is_forgotten(opened):
    log, reader = await opened(), await opened()
    for start in range(0, 3 * CHUNK, 128):
        await log.give(*range(start, start + 128))

    async def read():
        found = 0
        for _ in range(6):
            part = await reader.perceptions.read(0, 2000)
            assert [one.seq for one in part] == sorted({one.seq for one in part})
            found += len(part)
        return found

    reading = asyncio.ensure_future(read())
    while await log.perceptions.forget(NOON + 1e6, 3 * CHUNK, limit=400):
        pass
    assert await reading > 0
    assert await reader.everything() == []
