"""Where a mind is kept, and how its processes hear of perceptions."""

import asyncio
from pathlib import Path

import pytest

from environment.errors import StoreUnavailable
from environment.messages import Modality, NewPerception, PerceptionBatch, Receipts
from environment.stores.sqlite import open_stores
from orchestration.host.appenders import HostAppender
from orchestration.loading import load_settings
from orchestration.runtime.settings import ReadSettings
from orchestration.runtime.worker.file_watcher import FileWatcher
from orchestration.runtime.worker.watch import LogWatch
from orchestration.store_factory import address_of, embedded_in, log_file, open_mind, open_patiently, settled

CLUSTER = "cassandra://db-1,db-2:9042/minds?dc=east"


def settings(address=""):
    return load_settings(environ={"SUBMIND__STORE__ADDRESS": address})


def test_by_default_a_mind_is_kept_in_its_data_directory(tmp_path):
    assert address_of(settings(), tmp_path) == tmp_path
    assert embedded_in(settings(), tmp_path) == tmp_path
    assert log_file(settings(), tmp_path) == tmp_path / "perceptions.db-wal"


def test_an_address_says_where_else(tmp_path):
    assert embedded_in(settings(f"sqlite:{tmp_path}/there"), tmp_path) == tmp_path / "there"
    assert log_file(settings(f"sqlite:{tmp_path}/there"), tmp_path) == tmp_path / "there" / "perceptions.db-wal"
    assert embedded_in(settings(CLUSTER), tmp_path) is None
    assert log_file(settings(CLUSTER), tmp_path).parent == tmp_path


def test_a_relative_directory_is_the_same_in_every_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = settled(settings("sqlite:there"))
    monkeypatch.chdir("/")
    assert embedded_in(there, Path("/elsewhere")) == tmp_path / "there"
    assert settled(settings()) == settings()
    assert settled(settings(CLUSTER)) == settings(CLUSTER)


async def test_a_mind_is_opened_where_its_address_says(tmp_path):
    stores = await open_mind(settings(f"sqlite:{tmp_path}/there"), tmp_path / "data", "host")
    await stores.close()
    assert (tmp_path / "there" / "mind.db").exists()
    assert not (tmp_path / "data").exists()


async def test_a_store_that_is_away_is_waited_for(tmp_path, monkeypatch):
    attempts = []

    async def away(*given):
        attempts.append(given)
        if len(attempts) < 4:
            raise StoreUnavailable("away", 0.001)
        return await open_mind(*given)

    monkeypatch.setattr("orchestration.store_factory.open_mind", away)
    pauses = []

    def pause(attempt):
        pauses.append(attempt)
        return 0.001

    stores = await open_patiently(settings(), tmp_path, "host", pause)
    assert pauses == [0, 1, 2]
    await stores.close()


class Refusing:
    ahead = 1

    def prepare(self, batch):
        return batch

    async def append_batches(self, batches):
        raise StoreUnavailable("away")


async def test_whoever_watches_hears_at_once_of_what_a_log_on_a_cluster_took_in(tmp_path):
    stores = await open_stores(tmp_path / "store", "mind")
    told = tmp_path / "perceived"
    log = HostAppender(stores.perceptions, 0.5, told=told)
    log.open(lambda: True)
    touch = FileWatcher(told)
    assert touch.sees
    watch = LogWatch(stores.perceptions, ReadSettings(certain=600.0), touch)
    waiting = asyncio.create_task(watch.next(0, 10, Modality.TEXT))
    await asyncio.sleep(0.05)
    batch = PerceptionBatch.of([NewPerception("ops", 1.0, 2.0, text="a line")])
    assert await log.append_batches([log.prepare(batch)]) == [Receipts(1, 1)]
    found = await asyncio.wait_for(waiting, 60.0)
    assert [one.text for one in found] == ["a line"]
    watch.close()
    log.release()
    log.release()
    await stores.close()


async def test_what_was_not_taken_in_is_not_told(tmp_path):
    log = HostAppender(Refusing(), 0.5, told=tmp_path / "perceived")
    log.open(lambda: True)
    with pytest.raises(StoreUnavailable):
        await log.append_batches([])
    assert (tmp_path / "perceived").read_bytes() == b""
    log.release()
