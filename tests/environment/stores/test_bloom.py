"""A filter that is never wrong about what is new."""

import numpy as np
import pytest

from environment.stores import bloom
from environment.stores.bloom import Bloom
from environment.stores.sqlite.connection_executor import ConnectionExecutor
from environment.stores.sqlite.idempotency import PlaceFilter
from environment.stores.sqlite.schema import PERCEPTIONS, migrate


def hashes(seed, count):
    return np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, count, np.int64, endpoint=False)


def test_what_was_added_may_be_there_and_little_else():
    filled = Bloom()
    assert not filled.maybe(hashes(0, 100)).any()
    for part in np.split(hashes(1, bloom.FULL), 16):
        filled.add(part)
    assert filled.maybe(hashes(1, bloom.FULL)).all()
    assert filled.maybe(hashes(2, 100_000)).mean() < 1 / 1000
    assert len(filled) == 1


def test_it_grows_and_still_knows_everything(monkeypatch):
    monkeypatch.setattr(bloom, "FULL", 1000)
    filled = Bloom()
    for part in np.split(hashes(1, 5000), 50):
        filled.add(part)
    assert len(filled) > 1
    assert filled.maybe(hashes(1, 5000)).all()


@pytest.mark.parametrize("count", [0, 5, 8192, 20_000])
async def test_every_place_may_be_filed_until_the_file_was_read(tmp_path, count):
    writer = ConnectionExecutor(tmp_path / "perceptions.db", inline=True, synchronous="OFF", busy_timeout=1.0)
    there, new = np.unique(hashes(1, count)), hashes(2, 1000)

    def work(connection):
        migrate(connection, PERCEPTIONS)
        connection.executemany("INSERT INTO places VALUES (?, 1)", there[:, None].tolist())
        filed, parts = PlaceFilter(), 0
        while len(filed.among(new)) == len(new):
            assert set(filed.among(there)) == set(there)
            filed.read_on(connection)
            parts += 1
        assert set(filed.among(there)) == set(there)
        assert len(filed.among(new)) < 20
        assert parts == count // 8192 + 1

    await writer.write(work)
    await writer.close()
