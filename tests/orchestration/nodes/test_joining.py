"""A Ray cluster that is not there, is none, is another version, or does not want this mind: each in a sentence."""

import socket

import grpc
import pytest

from orchestration.placement.errors import ClusterUnreachable
from orchestration.placement.placement import ObservedNode, Placement
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime.machines.backend import _unusable
from orchestration.runtime.machines.joining import _why, found, join, joining_environment, reachable_from
from orchestration.runtime.machines.node_monitor import DirectoryProof, _has
from tests.orchestration.nodes.raylets import Raylets


async def refused(address, **settings):
    with pytest.raises(ClusterUnreachable) as error:
        await join(ClusterSettings(address=address, connect_within=20, **settings), "nobody")
    return str(error.value)


async def test_nobody_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ClusterUnreachable, match="no Ray cluster answers at"):
            await join(ClusterSettings(address=f"127.0.0.1:{port}", connect_within=0.5), "nobody")
    assert f"no Ray cluster answers at 127.0.0.1:{port}" in await refused(f"127.0.0.1:{port}")
    assert f"no Ray cluster answers at ray://127.0.0.1:{port}" in await refused(f"ray://127.0.0.1:{port}")


async def test_something_else_answers():
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        assert "is no GCS of a Ray cluster" in await refused(f"127.0.0.1:{port}")
    finally:
        await server.stop(0)


@pytest.mark.timeout(600)
async def test_a_token_is_refused_before_ray_waits_for_minutes(monkeypatch, tmp_path):
    raylets = Raylets(env={"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64})
    try:
        monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
        assert "it asks for a token; name the file" in await refused(raylets.address)
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        monkeypatch.setenv("RAY_AUTH_TOKEN", "b" * 64)
        assert "this mind's token is refused" in await refused(raylets.address)
        monkeypatch.setenv("RAY_AUTH_TOKEN", "")
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "gone"))
        assert "No such file" in await refused(raylets.address)
    finally:
        raylets.end()


def test_another_version_is_named():
    from ray._private.utils import check_version_info

    with pytest.raises(RuntimeError) as error:
        check_version_info({"ray_version": "2.40.0", "python_version": "3.9.1"}, "node 10.0.0.1")
    said = _why("10.0.0.1:6379", error.value)
    assert said.startswith("the Ray cluster at 10.0.0.1:6379 has another version")
    assert "2.40.0" in said
    assert "\n" not in said


def test_auto_is_what_the_operator_or_ray_start_named(tmp_path):
    told = tmp_path / "ray_current_cluster"
    with pytest.raises(ClusterUnreachable, match="no Ray cluster was joined on this machine"):
        found("auto", {}, told)
    told.write_text("10.0.0.1:6379")
    assert found("auto", {}, told) == "10.0.0.1:6379"
    assert found("auto", {"RAY_ADDRESS": "10.0.0.2:6379"}, told) == "10.0.0.2:6379"
    assert found("10.0.0.3:6379", {"RAY_ADDRESS": "10.0.0.2:6379"}, told) == "10.0.0.3:6379"
    with pytest.raises(ClusterUnreachable, match=r"RAY_ADDRESS says 'ray://head': .* HOST:PORT or ray://HOST:PORT"):
        found("auto", {"RAY_ADDRESS": "ray://head"}, told)
    told.write_text("nonsense")
    with pytest.raises(ClusterUnreachable, match="ray_current_cluster says 'nonsense'"):
        found("auto", {}, told)


def test_a_token_file_holds_over_what_the_environment_says(tmp_path):
    said = joining_environment(ClusterSettings(address="a:1", token_file=tmp_path / "token"))
    assert said["RAY_AUTH_MODE"] == "token"
    assert said["RAY_AUTH_TOKEN_PATH"] == str(tmp_path / "token")
    assert said["RAY_AUTH_TOKEN"] == ""
    assert "RAY_AUTH_MODE" not in joining_environment(ClusterSettings(address="a:1"))


def test_this_machine_as_the_nodes_reach_it():
    assert reachable_from("ray://127.0.0.1:10001") == "127.0.0.1"


def test_who_cannot_see_the_files_of_an_embedded_mind_takes_nobody(tmp_path):
    proof = DirectoryProof(tmp_path)
    assert _has(str(proof._path), proof._word)
    assert not _has(str(tmp_path / "elsewhere"), proof._word)
    other = "another-machine " + proof._word.split(" ")[1]
    proof._path.write_text(other)
    assert not _has(str(proof._path), other)  # the same file, on a network drive
    placement = Placement(ClusterSettings(), [])
    placement.looked([ObservedNode("i", "n7", "10.0.0.7", 4.0, 4.0, "it cannot see /data")], 0.0)
    said = _unusable(placement, "10.0.0.1:6379", "submind")
    assert said.startswith("node n7 of the Ray cluster at 10.0.0.1:6379 takes no actors: it cannot see /data; ")
    assert "--store cassandra://" in said
    placement.looked([], 1.0)
    assert "no node of the Ray cluster" in _unusable(placement, "10.0.0.1:6379", "submind")
