"""SQLite passes the contract, and keeps the promises that only files and processes can break."""

import asyncio
import json
import signal
import sqlite3
import stat
from pathlib import Path

import pytest

from environment.errors import FencedOut, StoreBroken, StoreFull, WrongSchema
from environment.ports import WriteEntries, WriteState, WriteTrace
from environment.stores.sqlite import open_stores
from environment.stores.sqlite.connection_executor import connect, translate
from environment.stores.sqlite.schema import MIND, migrate
from tests.environment.stores.contract import StoreContract
from tests.environment.stores.making import Backend, entry, live_ids, name, perception, trace
from tests.environment.stores.promises.collections import CollectionPromises
from tests.servers.process import run_python


class TestThreaded(StoreContract, CollectionPromises):
    @pytest.fixture
    def backend(self, tmp_path):
        return Backend(lambda mind, **writer: open_stores(tmp_path, mind, **writer))


class TestApart(StoreContract, CollectionPromises):
    """Perceptions are written by a process of their own."""

    @pytest.fixture
    def backend(self, tmp_path):
        return Backend(lambda mind, **writer: open_stores(tmp_path, mind, apart=True, **writer))


class TestInline(StoreContract, CollectionPromises):
    @pytest.fixture
    def backend(self, tmp_path):
        return Backend(lambda mind, **writer: open_stores(tmp_path, mind, inline=True, synchronous="OFF", **writer))


async def test_a_log_without_keys_gives_the_same_ids_in_every_run(tmp_path):
    runs = []
    for place in ("one", "two"):
        stores = await open_stores(tmp_path / place, "alpha", inline=True)
        runs.append([(await stores.perceptions.append([perception(n)]))[0].id for n in (1, 1, 2)])
        await stores.close()
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 3


async def test_the_event_loop_goes_on_while_another_process_writes(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    blocker = sqlite3.connect(tmp_path / "mind.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    commit = asyncio.ensure_future(stores.commit([WriteState("x", b"y")]))
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert not commit.done()
    assert await stores.registry.state("x") is None  # reading does not wait for the writer
    blocker.execute("ROLLBACK")
    await commit
    assert await stores.registry.state("x") == b"y"
    blocker.close()
    await stores.close()


@pytest.mark.parametrize("inline", [True, False])
async def test_a_full_disk_refuses_and_leaves_nothing_half_written(tmp_path, inline):
    stores = await open_stores(tmp_path, "alpha", inline=inline)

    async def bound(writer, extra):
        def work(connection):
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + extra if extra is not None else 1 << 30}")

        await writer.write(work)

    (first,) = await stores.perceptions.append([perception(0, key="k")])
    await bound(stores._perception_executor, 8)
    await bound(stores._executor, 8)
    with pytest.raises(StoreFull, match=r"perceptions\.db"):
        await stores.perceptions.append([perception(n, text=f"{n} " * 2000) for n in range(50)])
    with pytest.raises(StoreFull, match=r"mind\.db"):
        await stores.commit([WriteState("x", b"y"), *(WriteTrace(trace(n)) for n in range(100))])
    assert [p.seq for p in await stores.perceptions.read(0, 100)] == [first.seq]
    assert await live_ids(stores) == []
    assert await stores.registry.state("x") is None
    await bound(stores._perception_executor, None)
    await bound(stores._executor, None)
    assert len(await stores.perceptions.append([perception(n, text=f"{n} " * 2000) for n in range(50)])) == 50
    await stores.commit([WriteTrace(trace(n)) for n in range(100)])
    assert len(await live_ids(stores, 1000)) == 100
    await stores.close()


async def test_a_newer_schema_is_refused_with_advice(tmp_path):
    await (await open_stores(tmp_path, "alpha")).close()
    with sqlite3.connect(tmp_path / "mind.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(WrongSchema, match="newer") as refused:
        await open_stores(tmp_path, "alpha")
    assert (refused.value.found, refused.value.known) == (99, len(MIND))


@pytest.mark.parametrize("file", ["perceptions.db", "mind.db"])
async def test_a_file_of_before_the_schema_began_anew_is_refused_as_it_is(tmp_path, file):
    with sqlite3.connect(tmp_path / file) as connection:
        connection.execute("CREATE TABLE members (mind TEXT)")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(WrongSchema, match="choose another data folder"):
        await open_stores(tmp_path, "alpha")
    with sqlite3.connect(tmp_path / file) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("members",)]
    connection.close()


@pytest.mark.parametrize("file", ["perceptions.db", "mind.db"])
async def test_a_damaged_file_is_named(tmp_path, file):
    (tmp_path / file).write_bytes(b"this is no database, " * 400)
    with pytest.raises(StoreBroken) as refused:
        await open_stores(tmp_path, "alpha")
    assert str(tmp_path / file) in str(refused.value)


async def test_a_page_that_was_overwritten_is_said_to_be_damage(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    await stores.close()
    file = tmp_path / "mind.db"
    kept = file.stat().st_size  # what says which tables there are
    stores = await open_stores(tmp_path, "alpha")
    await stores.commit([WriteTrace(trace(n)) for n in range(50)])
    await stores.close()
    data = bytearray(file.read_bytes())
    data[kept:] = b"\xff" * (len(data) - kept)
    file.write_bytes(data)

    async def use():  # who finds the schema damaged does not even open the file
        stores = await open_stores(tmp_path, "alpha")
        try:
            await stores.commit([WriteTrace(trace(60))])
        finally:
            await stores.close()

    with pytest.raises(StoreBroken, match="damaged"):
        await use()


async def test_a_row_that_says_nothing_anybody_wrote_is_said_to_be_damage(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    await stores.perceptions.append([perception(1)])
    await stores.commit([WriteTrace(trace(1))])
    await stores.close()
    for file, table in (("perceptions.db", "segments"), ("mind.db", "contents")):
        with sqlite3.connect(tmp_path / file) as connection:
            connection.execute(f"UPDATE {table} SET body = ?", (b"\xa4\xff\xff\xff\xff",))  # noqa: S608 - our own words
        connection.close()
    stores = await open_stores(tmp_path, "alpha")
    for read in (stores.perceptions.read(0, 9), stores.traces.get([trace(1).id])):
        with pytest.raises(StoreBroken, match=r"\.db cannot be used: it is damaged"):
            await read
    await stores.close()


async def test_a_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreBroken, match="file/mind"):
        await open_stores(tmp_path / "file" / "mind", "alpha")
    (tmp_path / "mind.db").mkdir()
    with pytest.raises(StoreBroken, match=r"mind\.db"):
        await open_stores(tmp_path, "alpha")


async def test_what_a_mind_knows_is_its_owner_s_alone_and_permissions_that_were_given_stay(tmp_path):
    stores = await open_stores(tmp_path, "mind", inline=True)
    await stores.commit([])
    made = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert {"mind.db", "mind.db-wal", "perceptions.db"} <= set(made)
    assert set(made.values()) == {0o600}
    await stores.close()
    (tmp_path / "mind.db").chmod(0o640)
    await (await open_stores(tmp_path, "mind", inline=True)).close()
    assert stat.S_IMODE((tmp_path / "mind.db").stat().st_mode) == 0o640


async def test_two_openings_at_once_make_one_schema(tmp_path):
    for place in range(5):
        directory = tmp_path / str(place)
        opened = await asyncio.gather(*(open_stores(directory, f"mind-{n}") for n in range(6)))
        for stores in opened:
            await stores.commit([WriteTrace(trace(1))])
            assert len(await live_ids(stores)) == 1
            await stores.close()


WRITER = """
    import asyncio, sys
    from pathlib import Path
    from environment.ports import WriteLevel, WriteTrace
    from environment.stores.sqlite import open_stores
    from tests.environment.stores.making import perception, trace

    async def main(directory, start):
        stores = await open_stores(Path(directory), "alpha")
        print("ready", flush=True)
        for n in range(start, start + 100):
            await stores.commit([WriteTrace(trace(n)), WriteTrace(trace(n + 1000))])
            await stores.perceptions.append([perception(n, key=str(n))])
        await stores.close()

    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def test_two_processes_write_at_once(tmp_path):
    writers = [run_python(WRITER, tmp_path, start) for start in (0, 100)]
    for writer in writers:
        with writer:
            assert "ready" in writer.stdout.read()
        assert writer.returncode == 0
    stores = await open_stores(tmp_path, "alpha")
    assert len(await live_ids(stores, 1000)) == 400
    assert await stores.traces.head() == 400
    reached, changed = await stores.traces.changes(0, 1000)
    assert (reached, len({t.id for t in changed})) == (400, 400)
    log = await stores.perceptions.read(0, 1000)
    assert [p.seq for p in log] == list(range(1, 201))
    await stores.close()


DYING = """
    import asyncio, json, sys
    from pathlib import Path
    from environment.ports import WriteEntries, WriteTrace
    from environment.stores.sqlite import open_stores
    from tests.environment.stores.making import entry, perception, trace

    async def main(directory, life):
        stores = await open_stores(Path(directory), "alpha")
        seq = await stores.stream.head()
        while True:
            seq += 1
            receipts = await stores.perceptions.append([perception(n, key=f"{life}-{seq}-{n}") for n in range(8)])
            await stores.commit([WriteTrace(trace(seq)), WriteEntries((entry(seq),))])
            print(json.dumps({"seq": seq, "ids": [r.id for r in receipts]}), flush=True)

    asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


async def test_what_was_acknowledged_outlives_kill_9(tmp_path):
    acknowledged, head = [], 0
    for life in range(4):
        with run_python(DYING, tmp_path, life) as process:
            for line in process.stdout:
                said = json.loads(line)
                acknowledged += said["ids"]
                head = said["seq"]
                if len(acknowledged) % 7 == life or len(acknowledged) > 800 * (life + 1):
                    break
            process.send_signal(signal.SIGKILL)
            for line in process.stdout.read().splitlines():  # said before it died
                said = json.loads(line)
                acknowledged += said["ids"]
                head = said["seq"]
    stores = await open_stores(tmp_path, "alpha")
    kept = [p.id for p in await stores.perceptions.read(0, 1 << 30)]
    assert len(kept) == len(set(kept))
    assert set(acknowledged) <= set(kept)
    stream = await stores.stream.read(1, 1 << 30)
    assert [e.seq for e in stream] == list(range(1, len(stream) + 1))
    assert len(stream) >= head >= 4
    assert len(await live_ids(stores, 1000)) == len(stream)
    await stores.close()


LEADER = """
    import asyncio, sys
    from pathlib import Path
    from environment.ports import WriteState
    from environment.stores.sqlite import open_stores

    async def main(directory):
        stores = await open_stores(Path(directory), "alpha")
        print(await stores.lead(), flush=True)

    asyncio.run(main(sys.argv[1]))
"""


async def test_a_leader_in_another_process_fences_this_one_out(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    epoch = await stores.lead()
    with run_python(LEADER, tmp_path) as process:
        newer = int(process.stdout.readline())
    assert newer > epoch
    with pytest.raises(FencedOut):
        await stores.commit([WriteEntries((entry(1, id=name("c", "late")),))], fence=epoch)
    assert await stores.stream.head() == 0
    await stores.close()


def test_migrations_only_add_and_are_applied_in_order(tmp_path):
    first = ("CREATE TABLE one (a TEXT)", "INSERT INTO one VALUES ('kept')")
    second = ("ALTER TABLE one ADD COLUMN b TEXT DEFAULT 'new'",)
    connection = connect(tmp_path / "x.db", "FULL", 1.0)
    migrate(connection, (first,))
    migrate(connection, (first,))
    migrate(connection, (first, second))
    assert connection.execute("SELECT a, b FROM one").fetchall() == [("kept", "new")]
    broken = (*second, "ALTER TABLE nowhere ADD COLUMN c TEXT")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (first, second, ("CREATE TABLE three (a)", *broken)))
    assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'three'").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), sqlite3.OperationalError("database or disk is full")]
)
def test_no_room_is_said_in_one_way(error):
    if isinstance(error, sqlite3.Error):
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
    said = translate(error, Path("mind.db"))
    assert isinstance(said, StoreFull)
    assert "mind.db" in str(said)
