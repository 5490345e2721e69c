"""``submind watch`` against a gateway as it is served."""

import asyncio
import signal
from typing import Any

from tests.orchestration.cli.conftest import finish, start


async def test_it_is_live_and_ctrl_c_ends_it_well_and_says_how_to_resume(gateway: Any, at: list[str]) -> None:
    await gateway.think(1)
    process = await start("watch", "--from", 1, *at)
    assert process.stdout is not None
    assert b"    1 " in await asyncio.wait_for(process.stdout.readline(), 60)
    await gateway.think(2)
    assert b"    2 " in await asyncio.wait_for(process.stdout.readline(), 60)
    process.send_signal(signal.SIGINT)
    done = await finish(process)
    assert done.code == 0
    assert "go on with: submind watch --from 3" in done.err


async def test_a_reader_who_leaves_is_no_fault(gateway: Any, at: list[str]) -> None:
    await gateway.think(1, 3)
    process = await start("watch", "--from", 1, *at)
    assert process.stdout is not None
    await asyncio.wait_for(process.stdout.readline(), 60)
    process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
    await gateway.think(4, 50)
    assert process.stderr is not None
    assert b"Traceback" not in await asyncio.wait_for(process.stderr.read(), 60)
    assert await process.wait() == 1
