"""``submind run``: refused where it is unsafe, and a whole mind from the command line."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.orchestration.cli.conftest import finish, start, submind

FREE = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")


async def test_what_keeps_it_from_starting_is_told(tmp_path: Path) -> None:
    done = await submind("run", *FREE, "--http", "0.0.0.0:0", "--data-dir", tmp_path, starts=False)
    assert (done.code, "a token is required" in done.err) == (2, True)
    (tmp_path / "file").write_text("")
    assert (await submind("run", *FREE, "--data-dir", tmp_path / "file")).code == 1
    absent = await submind("run", *FREE, "--data-dir", tmp_path, "--token-file", tmp_path / "absent", starts=False)
    assert (absent.code, "absent cannot be read: No such file" in absent.err) == (2, True)


@pytest.mark.timeout(180)
async def test_a_mind_is_started_spoken_to_watched_explained_and_stopped(tmp_path: Path) -> None:
    process = await start("run", *FREE, "--data-dir", tmp_path / "mind", "--json")
    try:
        assert process.stdout is not None
        where = json.loads(await asyncio.wait_for(process.stdout.readline(), 120))
        at = ("--grpc", where["grpc"])
        other = await submind("run", *FREE, "--data-dir", tmp_path / "mind")
        assert (other.code, "already running" in other.err) == (1, True)

        said = await submind("perceive", "-", "--source", "operator", *at, stdin=b"who looks after the red pump?\n")
        assert (said.code, said.out) == (0, "1 new, 0 known, 0 rejected\n")
        seen = await submind("watch", "--from", 1, "-n", 1, "--json", *at)
        entry = seen.objects[0]
        assert entry["seq"] == 1
        assert "red pump" in entry["text"]
        told = json.loads(await asyncio.wait_for(process.stdout.readline(), 120))
        assert told == entry, "run shows the same stream"

        lineage = (await submind("explain", 1, "--json", *at)).out
        assert '"kind":"perception"' in lineage
        assert (await submind("status", "--json", *at)).objects[0]["state"] in {"running", "degraded", "starting"}
        names = {told["name"] for told in (await submind("subminds", "--json", *at)).objects}
        assert {"text", "telemetry", "image", "attention", "stream"} <= names
    finally:
        process.send_signal(signal.SIGINT)
        done = await finish(process)
    assert done.code == 0
