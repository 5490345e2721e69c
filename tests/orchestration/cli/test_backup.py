"""``submind backup`` and ``submind restore`` as people run them, and as they are killed."""

import asyncio
import fcntl
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from environment.erasure import FORGOTTEN, HOLDS, ForgetRecord, ForgetState, LegalHold, ScopeKind, scope_of
from environment.ports import WriteState
from environment.stores.copying import KINDS
from environment.stores.opening import open_stores
from orchestration.clock import wall
from orchestration.forgetting import ForgetRun
from tests.environment.stores.making import perception
from tests.orchestration.cli.conftest import finish, start, submind


@pytest.fixture
async def file(living: Path, tmp_path: Path) -> Path:
    done = await submind("backup", "--data-dir", living, "--to", tmp_path / "a.submind")
    assert done.code == 0, done.err
    assert "43 perceptions, 200 traces, 7 entries" in done.err
    assert (tmp_path / "a.submind").stat().st_mode & 0o777 == 0o600
    return tmp_path / "a.submind"


async def test_a_mind_is_backed_up_restored_and_compared(file: Path, living: Path, tmp_path: Path) -> None:
    (living / "clock.json").write_text('{"start": 1.0, "speed": 2.0, "origin": 3.0}')
    by_json = await submind("backup", "--data-dir", living, "--to", tmp_path / "b.submind", "--json")
    (told,) = [each for each in by_json.objects if "backup" in each]
    assert (told["mind"], told["head"], told["counts"]["traces"], told["counts"]["beside"]) == ("mind", 51, 200, 1)
    checked = await submind("restore", tmp_path / "b.submind", "--check", "--json")
    assert checked.code == 0
    whole, at_work = checked.objects[-2:]
    assert whole["id"] == told["id"]
    assert at_work["configuration"]["body"] == '{"attention": {"per_hour": 3}}'
    done = await submind("restore", tmp_path / "b.submind", "--data-dir", tmp_path / "new")
    assert done.code == 0, done.err
    assert [line.split()[2] for line in done.out.splitlines()] == list(KINDS)
    assert all(line.startswith("✓") for line in done.out.splitlines())
    assert "mind is whole at" in done.err
    assert (tmp_path / "new" / "clock.json").read_text() == (living / "clock.json").read_text()
    again = await submind("restore", tmp_path / "b.submind", "--data-dir", tmp_path / "new")
    assert again.code == 0
    other = await submind("restore", file, "--data-dir", tmp_path / "new")
    assert other.code == 1
    assert "came here from backup" in other.err


async def test_a_mind_that_lived_on_is_left_alone(file: Path, living: Path, tmp_path: Path) -> None:
    assert (await submind("restore", file, "--data-dir", tmp_path / "new")).code == 0
    for place in (tmp_path / "new", living):
        stores = await open_stores(place, "mind")
        await stores.perceptions.append([perception(1)])
        await stores.close()
    for place, told in ((tmp_path / "new", "has lived on since: nothing was changed"), (living, "with perceptions")):
        done = await submind("restore", file, "--data-dir", place)
        assert done.code == 1
        assert told in done.err
    stores = await open_stores(tmp_path / "new", "mind")
    assert await stores.perceptions.head() == 52
    await stores.close()


async def test_who_was_forgotten_after_a_backup_does_not_come_back_with_it(living: Path, tmp_path: Path) -> None:
    def left(place: Path) -> int:
        return sum(path.read_bytes().lower().count(b"quorvex") for path in place.iterdir())

    stores = await open_stores(living, "mind")
    await stores.perceptions.append([perception(n, text="Quorvex has the keys") for n in (90, 91)])
    (tmp_path / "kept").mkdir()
    old, late = tmp_path / "kept" / "old.submind", tmp_path / "kept" / "late.submind"
    assert (await submind("backup", "--data-dir", living, "--to", old)).code == 0
    record = ForgetRecord("f-1", scope_of(ScopeKind.PERSON, ["Quorvex"], "salt"), wall(), "ana")
    held = LegalHold("h-1", record.scope, "her", "case 12", wall(), "ana", 52, 0.0)
    done = await ForgetRun(stores, living, "mind", wall).carry_out(record, await stores.lead())
    assert (done.state, done.removed["perceptions"]) == ("done", 2)
    await stores.close()
    alone = await submind("restore", old, "--data-dir", tmp_path / "alone")
    assert "came later: 0," in alone.err
    assert left(tmp_path / "alone") > 0

    assert (await submind("backup", "--data-dir", living, "--to", late)).code == 0
    new = await submind("restore", old, "--data-dir", tmp_path / "new")
    assert (new.code, left(tmp_path / "new")) == (0, 0), new.err
    assert "came later: 1," in new.err
    assert "forgotten again, f-1 (person)" in new.err

    stores = await open_stores(tmp_path / "alone", "mind")  # as a restore leaves it that is killed before it forgets
    await stores.commit([FORGOTTEN.write(record.id, record), HOLDS.write(held.id, held)])
    await stores.close()
    refused = await submind("restore", old, "--data-dir", tmp_path / "alone")
    assert "h-1 holds some of it" in refused.err
    stores = await open_stores(tmp_path / "alone", "mind")
    await stores.commit([FORGOTTEN.write(record.id, replace(done, state=ForgetState.ASKED, done=held.at + 1))])
    await stores.close()
    again = await submind("restore", old, "--data-dir", tmp_path / "alone")
    assert (again.code, left(tmp_path / "alone")) == (0, 0), again.err

    (tmp_path / "kept" / "cut.submind").write_bytes(late.read_bytes()[:-40])
    (tmp_path / "asked").write_text('{"id": "f-1"}')
    told = await submind("restore", old, "--check", "--forgotten", tmp_path / "asked")
    assert (told.code, "asked:1 is no backup and no line of submind forget --list" in told.err) == (1, True)
    told = await submind("restore", old, "--check")
    assert (told.code, "what it knows to be forgotten is not known here" in told.err) == (0, True)


async def test_a_mind_that_runs_is_backed_up_but_not_restored_over(file: Path, living: Path, tmp_path: Path) -> None:
    with (living / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (await submind("backup", "--data-dir", living, "--to", tmp_path / "b.submind")).code == 0
        done = await submind("restore", file, "--data-dir", living)
    assert done.code == 1
    assert "already running" in done.err


async def test_what_is_asked_wrongly_is_told_in_a_sentence(file: Path, living: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.submind"
    for given, code, told in (
        (("backup", "--data-dir", tmp_path / "nowhere", "--to", new), 1, "there is no mind in"),
        (("backup", "--data-dir", living, "--to", new, "--name", "other"), 1, "no mind called other"),
        (("backup", "--data-dir", living, "--to", file), 2, "is there already"),
        (("backup", "--data-dir", living, "--to", tmp_path / "no" / "where"), 2, "is not a directory"),
        (("backup", "--data-dir", living, "--to", new, "--keep", "3"), 2, "--keep thins out a directory"),
        (("restore", file), 2, "say where to"),
        (("restore", file, "--data-dir", tmp_path / "new", "--as", "no/name"), 2, "--as"),
        (("restore", living / "mind.db", "--data-dir", tmp_path / "new"), 1, "is not the backup of a mind"),
        (("restore", tmp_path / "no-file", "--data-dir", tmp_path / "new"), 1, "No such file"),
    ):
        done = await submind(*given)
        assert (done.code, told in done.err, done.err.count("\n")) == (code, True, 1), (given, done.err)
    assert not new.exists()
    assert not (tmp_path / "new").exists()


async def test_a_damaged_file_is_refused_before_anything_is_written(file: Path, tmp_path: Path) -> None:
    whole = await asyncio.to_thread(file.read_bytes)
    changed = bytearray(whole)
    changed[len(whole) // 3] ^= 1
    for body, told in ((bytes(changed), "is damaged"), (whole[:-1000], "its end is missing")):
        await asyncio.to_thread(file.write_bytes, body)
        done = await submind("restore", file, "--data-dir", tmp_path / "new")
        assert done.code == 1
        assert told in done.err
        assert not (tmp_path / "new").exists()
        assert (await submind("restore", file, "--check")).code == 1


async def test_a_directory_keeps_the_newest(living: Path, tmp_path: Path) -> None:
    kept = tmp_path / "backups"
    kept.mkdir()
    for stamp in ("20200101T000000Z", "20210101T000000Z", "20220101T000000Z"):
        (kept / f"mind-{stamp}.submind").write_bytes(b"")
    (kept / "mind-notes.submind").write_text("mine")
    (kept / "mind-2-20200101T000000Z.submind").write_text("another's")
    done = await submind("backup", "--data-dir", living, "--to", kept, "--keep", "2")
    assert done.code == 0, done.err
    names = sorted(path.name for path in kept.iterdir())
    assert len(names) == 4
    assert {"mind-20220101T000000Z.submind", "mind-notes.submind", "mind-2-20200101T000000Z.submind"} < set(names)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_stopped_in_the_middle_it_leaves_nothing_that_looks_like_a_backup(
    living: Path, tmp_path: Path, how: signal.Signals
) -> None:
    kept = tmp_path / "backups"
    kept.mkdir()
    file = kept / "a.submind"
    slowly = ("backup", "--data-dir", living, "--to", file, "--rate", "0.01", "--json")
    process = await start(*slowly)
    async with asyncio.timeout(60):
        while not any(path.stat().st_size > 1000 for path in kept.iterdir()):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
    beside = await submind(*slowly)
    assert beside.code == 1
    assert "another backup is writing" in beside.err
    process.send_signal(how)
    if how is signal.SIGKILL:
        await process.wait()
    else:
        done = await finish(process)
        assert done.code == 1
        assert done.err == "submind: stopped: nothing was left behind\n"
        assert list(kept.iterdir()) == []
    assert not file.exists()
    assert (await submind("backup", "--data-dir", living, "--to", file)).code == 0
    assert list(kept.iterdir()) == [file]
    assert (await submind("restore", file, "--check")).code == 0


async def test_a_disk_that_is_full_leaves_nothing(living: Path, tmp_path: Path) -> None:
    small = (
        "import os, resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (36_000, 36_000))\n"  # the mind's own files are only read
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    kept = tmp_path / "backups"
    kept.mkdir()
    done = await submind("backup", "--data-dir", living, "--to", kept, under=[sys.executable, "-c", small])
    assert done.code == 1
    assert "could not be written: File too large; nothing was left behind" in done.err
    assert list(kept.iterdir()) == []


async def test_no_secret_is_in_a_backup(living: Path, tmp_path: Path) -> None:
    from environment.stores.backup.archive import ArchiveReader

    token = tmp_path / "token"
    token.write_text("a-token-nobody-may-see-0123456789")
    stores = await open_stores(living, "mind")
    await stores.commit([WriteState("text", b"nothing secret")])
    await stores.close()
    environment = {**os.environ, "SUBMIND__GATEWAY__TOKEN_FILE": str(token)}
    done = await submind("backup", "--data-dir", living, "--to", tmp_path / "s.submind", env=environment)
    assert done.code == 0, done.err
    reader = ArchiveReader(tmp_path / "s.submind")
    bodies = [reader.body(block) for block in reader.manifest.blocks]
    assert any(b"nothing secret" in body for body in bodies)
    assert not any(b"nobody-may-see" in body for body in bodies)
