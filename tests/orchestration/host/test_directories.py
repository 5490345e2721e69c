"""Locks, private directories, the clock's origin, retention."""

import json
import os
import subprocess
import sys

import pytest

from environment.collections import RESERVED, Document, RemoveDocument, WriteDocument
from environment.erasure import HOLDS, LegalHold, ScopeKind, scope_of
from environment.messages import NewPerception, SubmindReport
from environment.ports import WriteReport
from environment.stores.sqlite import open_stores
from orchestration.clock import CatchUpClock, WallClock
from orchestration.host.clock_file import clock_in
from orchestration.host.directories import LONGEST, DataLock, new_run_dir, run_base
from orchestration.host.errors import AlreadyRunning, LogCutShort, UnsafeDirectory
from orchestration.host.host import Host, check_log_reaches_cursors
from orchestration.host.retention import forget_once, lowest_cursor
from orchestration.host.settings import RetentionSettings
from orchestration.settings import ClockSettings, Settings


def test_a_directory_has_one_mind_and_the_other_is_told_who(tmp_path):
    with DataLock(tmp_path / "new"), pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"):
        DataLock(tmp_path / "new").take()
    with DataLock(tmp_path / "new"):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = (
        "import pathlib,sys,time\nfrom orchestration.host.directories import DataLock\n"
        "DataLock(pathlib.Path(sys.argv[1])).take()\nprint(1, flush=True)\ntime.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    other.stdout.readline()
    with pytest.raises(AlreadyRunning, match=f"process {other.pid}"):
        DataLock(tmp_path).take()
    other.kill()
    other.wait()
    with DataLock(tmp_path):
        pass


def test_sockets_lie_where_nobody_else_may_go(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    base = run_base("test-mark")
    assert base.stat().st_mode & 0o077 == 0
    place = new_run_dir(base)
    assert len(str(place)) <= LONGEST
    place.rmdir()
    base.chmod(0o755)
    with pytest.raises(UnsafeDirectory, match="entered by others"):
        run_base("test-mark")
    base.rmdir()


def test_a_catch_up_goes_on_over_a_restart(tmp_path):
    settings = ClockSettings(start=1000.0, speed=10.0)
    assert clock_in(tmp_path, settings, 5000.0) == CatchUpClock(1000.0, 10.0, 5000.0)
    assert clock_in(tmp_path, settings, 6000.0) == CatchUpClock(1000.0, 10.0, 5000.0)
    other = ClockSettings(start=2000.0, speed=10.0)
    assert clock_in(tmp_path, other, 7000.0) == CatchUpClock(2000.0, 10.0, 7000.0)
    assert clock_in(tmp_path, ClockSettings(), 7000.0) == WallClock()
    (tmp_path / "clock.json").write_text("half a l")
    assert clock_in(tmp_path, settings, 8000.0) == CatchUpClock(1000.0, 10.0, 8000.0)
    assert json.loads((tmp_path / "clock.json").read_text())["origin"] == 8000.0


async def heard(stores, *received, telemetry=()):
    said = [NewPerception("s", at, at, text=f"{at}") for at in received]
    for perception in [*said, *(NewPerception("s", at, at, telemetry={"x": 1.0}) for at in telemetry)]:
        await stores.perceptions.append([perception])


async def stands(stores, name, cursor):
    await stores.commit(
        [WriteReport(SubmindReport(name, "perceptual", "", "running", 0.0, metrics={"cursor": cursor}))]
    )


async def test_only_what_everybody_has_passed_is_forgotten(stores):
    settings = RetentionSettings(perceptions=100.0, batch=2)
    await heard(stores, *range(10), telemetry=(3.0, 4.0))
    assert await forget_once(stores, ["text", "telemetry"], settings, 1000.0, 1000.0) == 0
    await stands(stores, "text", 5.0)
    assert await lowest_cursor(stores, ["text", "telemetry"]) == 0
    await stands(stores, "telemetry", 11.0)
    assert await lowest_cursor(stores, ["text", "telemetry"]) == 5
    assert await forget_once(stores, ["text", "telemetry"], settings, 1000.0, 1000.0) == 5
    assert [p.seq for p in await stores.perceptions.read(0, 100)] == list(range(6, 13))
    await stands(stores, "text", 10.0)
    await stands(stores, "telemetry", 12.0)
    assert await forget_once(stores, ["text", "telemetry"], settings, 107.5, 107.5) == 5


async def test_one_that_never_hears_anything_holds_nothing_back(stores):
    await heard(stores, *range(10))
    await stands(stores, "text", 10.0)
    await stands(stores, "image", 0.0)
    assert await lowest_cursor(stores, ["text", "image"]) == 10
    assert await forget_once(stores, ["text", "image"], RetentionSettings(perceptions=None), 1e9, 1e9) == 0
    assert await forget_once(stores, ["text", "image"], RetentionSettings(perceptions=1.0), 1e9, 1e9) == 10


async def test_collections_forget_what_expired_and_hold_what_they_may(stores):
    def written(collection, *times, **more):
        return [WriteDocument(Document(collection, f"{at:04}", b"", float(at), **more)) for at in times]

    await stores.commit(
        [
            *written("notes", *range(10)),
            *written("notes", 100, expires=200.0),
            *written(f"{RESERVED}growth", *range(10)),
            RemoveDocument("notes", "0000", time=50.0),
        ]
    )
    settings = RetentionSettings(documents=60.0, documents_most=6, batch=2)
    assert await forget_once(stores, [], settings, 0.0, 105.0) == 4  # ten are left: the oldest four
    assert [each.key for each in await stores.collections.scan("notes")] == [
        "0005",
        "0006",
        "0007",
        "0008",
        "0009",
        "0100",
    ]
    assert await forget_once(stores, [], settings, 0.0, 261.0) == 2  # what expired, and what was removed
    assert len(await stores.collections.scan("notes")) == 5
    assert len(await stores.collections.scan(f"{RESERVED}growth")) == 10
    keeps = RetentionSettings(documents=None, documents_most=None)
    assert await forget_once(stores, [], keeps, 0.0, 1e9) == 0


async def test_a_log_that_was_cut_short_is_not_written_on(stores):
    """Numbers would be given again, and nobody would read what came under them."""
    await heard(stores, *range(10))
    await check_log_reaches_cursors(stores, ["text", "image"], "here")
    await stands(stores, "text", 10.0)
    await check_log_reaches_cursors(stores, ["text", "image"], "here")
    await stands(stores, "text", 11.0)
    with pytest.raises(LogCutShort, match=r"ends at number 10, and mind\.db beside it has read up to 11"):
        await check_log_reaches_cursors(stores, ["text", "image"], "here")


async def test_a_host_does_not_start_where_its_perceptions_are_gone(tmp_path):
    stores = await open_stores(tmp_path, "mind", synchronous="OFF")
    await heard(stores, *range(10))
    await stands(stores, "text", 10.0)
    await stores.close()
    for file in tmp_path.glob("perceptions.db*"):
        file.unlink()
    host = Host(Settings(), tmp_path)
    with pytest.raises(LogCutShort, match=str(tmp_path)):
        await host.start()


async def test_what_is_held_stays_whatever_its_age_and_so_does_what_is_younger(stores):
    await heard(stores, *range(10))
    await stands(stores, "text", 10.0)
    notes = [WriteDocument(Document("notes", f"{at}", b"", 0.0, expires=float(at))) for at in (3, 8)]
    scope = scope_of(ScopeKind.RANGE, [], "salt", since=5.0)
    hold = LegalHold("h-1", scope, "a stretch", "case 12", 0.0, "me", first=6, since=5.0)
    await stores.commit([*notes, HOLDS.write(hold.id, hold)])
    settings = RetentionSettings(perceptions=1.0, documents=1.0, documents_most=1, batch=100)
    assert await forget_once(stores, ["text"], settings, 1e9, 1e9) == 6
    assert [p.seq for p in await stores.perceptions.read(0, 100)] == list(range(6, 11))
    assert [each.key for each in await stores.collections.scan("notes")] == ["8"]
    await stores.commit([HOLDS.remove(hold.id)])
    assert await forget_once(stores, ["text"], settings, 1e9, 1e9) >= 6
    assert await stores.perceptions.read(0, 100) == []
