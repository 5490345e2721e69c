"""The process that writes perceptions: killed, overtaken, left alone."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from environment.errors import FencedOut, StoreUnavailable
from environment.stores.sqlite import open_stores
from tests.environment.stores.making import perception

ROOT = str(Path(__file__).parents[3])


@pytest.fixture
async def stores(tmp_path):
    stores = await open_stores(tmp_path, "alpha", apart=True)
    yield stores
    await stores.close()


def new(first, count=3):
    return [perception(n, key=f"k{n}") for n in range(first, first + count)]


async def patiently(log, batch):
    """Append until it is taken in, as a caller does; how often that was refused."""
    for refusals in range(20):
        try:
            await log.append(batch)
        except StoreUnavailable as error:
            await asyncio.sleep(error.retry_after)
        else:
            return refusals
    raise AssertionError("never taken in")


async def test_what_was_answered_outlives_the_writer_and_another_takes_over(stores):
    log = stores.perceptions
    await log.lead()
    refusals, given = 0, 0
    for _ in range(5):
        writing = asyncio.create_task(patiently(log, new(given)))
        given += 3
        await asyncio.sleep(0.01)  # in the middle of it, or just after
        if log.pid is not None:
            os.kill(log.pid, signal.SIGKILL)
        refusals += await writing
    assert [p.key for p in await log.read(0, 100)] == [f"k{n}" for n in range(given)]
    assert refusals


async def test_a_writer_that_takes_over_is_fenced_out_as_the_one_before_would_be(stores, tmp_path):
    log = stores.perceptions
    first = await log.lead()
    await log.append(new(0))
    other = await open_stores(tmp_path, "alpha", apart=True)
    try:
        assert await other.perceptions.lead() > first
        os.kill(log.pid, signal.SIGKILL)
        with pytest.raises(FencedOut):
            await patiently(log, new(3))
        await other.perceptions.append(new(3))
    finally:
        await other.close()
    assert len(await log.read(0, 100)) == 6


async def test_closing_ends_it(tmp_path):
    stores = await open_stores(tmp_path, "alpha", apart=True)
    await stores.perceptions.append(new(0))
    writer = psutil.Process(stores.perceptions.pid)
    await stores.close()
    await stores.close()
    assert not writer.is_running()
    with pytest.raises(StoreUnavailable, match="closed"):
        await stores.perceptions.append(new(3))


ABANDON = """
import asyncio, os, signal, sys
from pathlib import Path
from environment.stores.sqlite import open_stores
from environment.messages import NewPerception

async def main():
    stores = await open_stores(Path(sys.argv[1]), "alpha", apart=True)
    await stores.perceptions.append([NewPerception("s", 1.0, 1.0, text="t")])
    print(stores.perceptions.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def test_it_ends_with_who_started_it(tmp_path):
    command = [sys.executable, "-c", ABANDON, str(tmp_path)]
    env = os.environ | {"PYTHONPATH": ROOT}
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)
    assert ended.returncode == -signal.SIGKILL
    pid = int(ended.stdout)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(60)
    assert not psutil.pid_exists(pid)
