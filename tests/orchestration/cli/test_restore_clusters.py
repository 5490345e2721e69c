"""``submind restore`` onto a real Cassandra, killed midway as often as one likes."""

from __future__ import annotations

import asyncio
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from environment.stores.copying import KINDS, differences, mark_of, tally
from environment.stores.opening import open_stores
from tests.environment.stores.furnished import furnish
from tests.orchestration.cli.conftest import start, submind

STAGES = ("perceptions", "traces", "traces", "changes", "states")
"""Of each restore that is killed: once it is at least there."""


@pytest.mark.timeout(300)
async def test_killed_midway_again_and_again_everything_is_there_once(keyspace: Any, tmp_path: Path) -> None:
    living = await open_stores(tmp_path / "living", "mind")
    await furnish(living, 600, middle=False)
    file = tmp_path / "a.submind"
    assert (await submind("backup", "--data-dir", tmp_path / "living", "--to", file)).code == 0
    store = f"{keyspace}?dc={keyspace.dc}"
    assert (await submind("migrate", "--store", store)).code == 0
    target = await open_stores(store, "mind")
    command = ("restore", file, "--store", store)
    rng, killed = random.Random(7), []
    for stage in STAGES:
        process = await start(*command)
        while process.returncode is None:
            mark = await mark_of(target)
            if mark is not None and (not mark.stage or KINDS.index(mark.stage) >= KINDS.index(stage)):
                break
            await asyncio.sleep(0.002)
        await asyncio.sleep(rng.uniform(0.0, 0.03))
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()
        mark = await mark_of(target)
        if mark is not None and mark.stage:
            killed.append(mark.stage)
    assert killed
    done = await submind(*command)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line[0] for line in lines] == ["✓"] * len(KINDS), done.out
    assert differences(await tally(living), await tally(target)) == []
    assert (await target.traces.rows())[0] == (await living.traces.rows())[0]
    assert await target.stream.read(1, 1000) == await living.stream.read(1, 1000)
    again = await submind(*command)
    assert (again.code, again.out) == (0, done.out)
    await living.close()
    await target.close()
