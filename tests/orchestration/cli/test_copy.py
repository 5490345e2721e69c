"""``submind copy`` and ``submind replay`` of a mind's own log, as people run them."""

from __future__ import annotations

import fcntl
import secrets
import signal
from pathlib import Path

import pytest

from environment.ports import WriteReport, WriteState
from environment.stores.copying import KINDS, MOVING, Mark
from environment.stores.opening import open_stores
from tests.environment.stores.furnished import furnish
from tests.environment.stores.making import NOON, perception, report
from tests.orchestration.cli.conftest import environ, start, submind


@pytest.fixture
async def old(tmp_path: Path) -> Path:
    stores = await open_stores(tmp_path / "old", "mind")
    await furnish(stores)
    await stores.close()
    return tmp_path / "old"


async def test_a_mind_moves_and_is_compared(old: Path, tmp_path: Path) -> None:
    done = await submind("copy", "--from", old, "--to", f"sqlite:{tmp_path / 'new'}")
    assert done.code == 0, done.err
    assert [line.split()[2] for line in done.out.splitlines()] == list(KINDS)
    assert all(line.startswith("✓") for line in done.out.splitlines())
    assert "is whole at" in done.err
    again = await submind("copy", "--from", old, "--to", tmp_path / "new", "--json")
    assert [told["same"] for told in again.objects if "same" in told] == [True] * len(KINDS)


async def test_it_says_so_where_the_two_differ(old: Path, tmp_path: Path) -> None:
    assert (await submind("copy", "--from", old, "--to", tmp_path / "new")).code == 0
    stores = await open_stores(tmp_path / "new", "mind")
    await stores.perceptions.append([perception(1)])
    await stores.close()
    done = await submind("copy", "--from", old, "--to", tmp_path / "new")
    assert done.code == 1
    assert "they differ in: perceptions" in done.err
    assert "✗" in done.out


async def test_what_cannot_be_moved_is_told_in_a_sentence(old: Path, tmp_path: Path) -> None:
    for given, told in (
        (("--from", tmp_path / "nowhere", "--to", tmp_path / "new"), "there is no mind in"),
        (("--from", old, "--to", f"sqlite:{old}"), "the same place"),
        (("--from", old, "--to", tmp_path / "new", "--name", "other"), "no mind called other"),
    ):
        done = await submind("copy", *given)
        assert done.code in {1, 2}
        assert told in done.err
    other = await open_stores(tmp_path / "lived-in", "mind")
    await other.commit([WriteState("stream", b"")])
    await other.close()
    assert "there is a mind of this name" in (await submind("copy", "--from", old, "--to", tmp_path / "lived-in")).err


async def test_a_mind_that_runs_is_not_moved(old: Path, tmp_path: Path) -> None:
    with (old / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = await submind("copy", "--from", old, "--to", tmp_path / "new")
    assert done.code == 1
    assert "already running" in done.err


async def test_a_mind_that_has_not_arrived_is_not_started(old: Path, tmp_path: Path) -> None:
    stores = await open_stores(tmp_path / "new", "mind")
    await stores.commit([MOVING.write("mark", Mark("/old", "traces"))])
    await stores.close()
    done = await submind("run", "--data-dir", tmp_path / "new", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
    assert done.code == 1
    assert "still moving" in done.err
    assert "--from /old" in done.err


@pytest.mark.soak
@pytest.mark.timeout(240)
async def test_onto_a_cluster_killed_again_and_again_and_back(old: Path, tmp_path: Path, keyspace) -> None:  # type: ignore[no-untyped-def]
    place = f"{keyspace}?dc={keyspace.dc}"
    name = f"m-{secrets.token_hex(4)}"
    stores = await open_stores(tmp_path / "here", name)
    await furnish(stores, 400)
    await stores.commit([WriteReport(report("causes", state="stopped")), WriteReport(report("people"))])
    await stores.close()
    assert (await submind("migrate", "--store", place)).code == 0
    command = ("copy", "--from", tmp_path / "here", "--to", place, "--name", name)
    for seconds in (1.2, 1.6, 2.0, 2.4):
        process = await start(*command, env=environ())
        try:
            done = await finish_within(process, seconds)
        except TimeoutError:
            process.send_signal(signal.SIGKILL)
            await process.wait()
            continue
        assert done == 0
    assert (await submind(*command)).code == 0
    back = ("copy", "--from", place, "--to", tmp_path / "back", "--name", name)
    refused = await submind(*back)
    assert refused.code == 1
    assert "has not stopped (people)" in refused.err
    assert (await submind(*back, "--take-over")).code == 0
    compared = await submind("copy", "--from", tmp_path / "here", "--to", tmp_path / "fresh", "--name", name, "--json")
    digests = {told["kind"]: told["source"] for told in compared.objects if "same" in told}
    final = await submind(*back, "--take-over", "--json")
    assert {told["kind"]: told["target"] for told in final.objects if "same" in told} == digests


async def finish_within(process, seconds: float) -> int:  # type: ignore[no-untyped-def]
    import asyncio

    return await asyncio.wait_for(process.wait(), seconds)


async def test_a_mind_replays_what_it_perceived_itself(old: Path, tmp_path: Path) -> None:
    whole = await submind("replay", "--data-dir", old, "--json")
    assert whole.code == 0, whole.err
    assert whole.objects
    by_address = await submind("replay", "--store", f"sqlite:{old}", "--json")
    assert by_address.objects == whole.objects
    from datetime import UTC, datetime

    at = datetime.fromtimestamp(NOON + 120, UTC).isoformat()
    early = await submind("replay", "--data-dir", old, "--until", at)
    late = await submind("replay", "--data-dir", old, "--since", at)
    counts = [int(done.err.split(" thoughts of ")[1].split()[0]) for done in (early, late)]
    assert sum(counts) == 43
    assert min(counts) > 0


async def test_a_replay_has_one_history(old: Path, tmp_path: Path) -> None:
    for given, told in (
        ((), "give a FILE"),
        (("-", "--data-dir", old), "two histories"),
        (("-", "--since", "2026-01-01T00:00:00Z"), "a mind's own log"),
        (("--data-dir", tmp_path / "nowhere"), "there is no mind in"),
        (("--data-dir", old, "--since", "2030-01-01T00:00:00Z"), "perceived nothing in that time"),
        (("--data-dir", old, "--since", "yesterday-ish"), "--since"),
    ):
        done = await submind("replay", *given)
        assert done.code in {1, 2}, given
        assert told in done.err, given
