"""``submind doctor``: real faults, each with its fix."""

import socket
from pathlib import Path
from typing import Any

from orchestration.cli.doctor.checks import State, place
from tests.actors.substrate.models import tiny_model
from tests.orchestration.cli.conftest import by_check, environ, here, submind


async def test_a_machine_that_can_run_a_mind_is_found_so(gateway: Any, at: list[str], tmp_path: Path) -> None:
    done = await submind("doctor", *at, "--http", "127.0.0.1:0", "--data-dir", tmp_path, "--json")
    found = by_check(done)
    assert done.code == 0, done.out
    assert {"python", "index", "settings", "data", "lock", "disk", "sync", "clock", "grpc", "http", "mind"} <= set(
        found
    )
    assert "alpha is" in found["mind"]["found"]
    assert "by the running mind" in found["grpc"]["found"]
    assert not any("doctor" in name for name in left(tmp_path)), "nothing is left behind"


async def test_every_fault_comes_with_its_fix(tmp_path: Path) -> None:
    settings = tmp_path / "mind.yaml"
    settings.write_text("mind: {nmae: x}")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = await submind(
            "doctor", "--grpc", f"127.0.0.1:{port}", "--http", "0.0.0.0:0", "--data-dir", settings, "--json"
        )
    found = by_check(done)
    assert done.code == 1
    told = await submind("doctor", "--grpc", "127.0.0.1:1", "--data-dir", tmp_path)
    assert ("✓ python" in told.out, "→ submind run starts one" in told.out) == (True, True)
    for check, told in (("grpc", "in use"), ("http", "a token is required"), ("data", "is not a directory")):
        assert found[check]["state"] == "bad"
        assert told in found[check]["found"]
        assert found[check]["fix"]
    wrong = by_check(await submind("doctor", "--mind", settings, "--data-dir", tmp_path, "--json"))
    assert wrong["settings"]["state"] == "bad"
    assert "did you mean `mind.name`?" in wrong["settings"]["found"]


async def test_a_sentence_model_that_cannot_be_used_is_found(tmp_path: Path) -> None:
    settings = tmp_path / "mind.yaml"
    for folder, state, told in ((tmp_path, "bad", "is not a file"), (tiny_model(24), "good", "vectors of 24 numbers")):
        settings.write_text(f"substrate: {{embedder: {{kind: onnx, model_file: {folder / 'model.onnx'}}}}}")
        done = await submind("doctor", "--mind", settings, "--data-dir", tmp_path, "--json")
        found = by_check(done)["embedder"]
        assert found["state"] == state
        assert told in found["found"]


def test_an_open_directory_is_doubted(tmp_path: Path) -> None:
    tmp_path.chmod(0o701)
    found = {finding.check: finding for finding in place(tmp_path)}
    assert found["data"].state is State.DOUBTFUL
    assert "chmod o-rwx" in found["data"].fix


def left(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


async def test_store_and_coordination_are_examined_where_they_are_configured(  # type: ignore[no-untyped-def]
    keyspace, etcd: str, tmp_path: Path
) -> None:
    place = f"{keyspace}?dc={keyspace.dc}"
    unmade = by_check(await submind(*here(tmp_path), "--store", place))
    assert unmade["store"]["state"] == "bad"
    assert "submind migrate" in unmade["store"]["fix"]
    assert (await submind("migrate", "--store", place)).code == 0
    done = await submind(*here(tmp_path), "--store", place, "--coordination", f"etcd://{etcd}")
    found = by_check(done)
    assert "answers a read in" in found["store"]["found"]
    lasting = found["durability"]
    sync = lasting["found"].rpartition(" ")[2]
    assert lasting["state"] == ("doubtful" if sync == "periodic" else "good")
    assert ("commitlog_sync: batch" in lasting["fix"]) is (sync == "periodic")
    assert "1 of 1 named members answer; nobody leads" in found["agreement"]["found"]
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        away = f"127.0.0.1:{nobody.getsockname()[1]}"
        done = await submind(
            *(*here(tmp_path), "--store", f"cassandra://{away}/x?dc={keyspace.dc}"),
            *("--coordination", f"etcd://{away}"),
            env=environ(SUBMIND__STORE__CASSANDRA__CONNECT_TIMEOUT="3", SUBMIND__COORDINATION__CONNECT_TIMEOUT="2"),
        )
    found = by_check(done)
    assert done.code == 1
    assert (found["store"]["state"], found["agreement"]["state"]) == ("bad", "bad")
