"""Actors are forked from one process: whoever is killed, they live, and they end with their mind."""

import socket
import threading

import pytest

from orchestration.runtime import processes
from orchestration.runtime.worker.worker import hand_over
from tests.orchestration.living import LivingMind, eventually, tiny_run

FORKED = {f"actor:{name}": "fork_server" for name in ("text", "environment", "doomed")}


def actors(mind):
    """Role and process of each."""
    return [(role, each) for role, found in mind.processes().items() if role.startswith("actor:") for each in found]


def parents(mind):
    """The role of each actor's parent."""
    return {role: str(processes.role_of(each.parent())) for role, each in actors(mind)}


def pids(mind):
    """Of everything but the host."""
    return {each.pid for found in mind.processes().values() for each in found} - {mind.host.pid}


@pytest.mark.timeout(600)
def test_actors_live_whoever_is_killed_and_end_with_their_mind(tmp_path):
    with LivingMind(tmp_path, tiny_run) as mind:
        mind.start()
        assert parents(mind) == FORKED
        before = pids(mind)
        mind.kill("raylet")
        mind.running(restarts=1)
        assert not before & pids(mind)
        assert parents(mind) == FORKED
        mind.kill("actor:text")
        eventually(lambda: parents(mind) == FORKED)

        living = dict(actors(mind))
        mind.kill("fork_server")
        eventually(lambda: "fork_server_ended" in (tmp_path / "submind.log").read_text())
        assert dict(actors(mind)) == living
        mind.kill("actor:text")
        eventually(lambda: parents(mind).get("actor:text") == "raylet")
        mind.kill("host")
        mind.gone()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "env", [{"SUBMIND__RUNTIME__FORK_ACTORS": "false"}, {"TINY": "tests.orchestration.runtime.threaded"}]
)
def test_workers_are_whole_where_nothing_can_be_forked(tmp_path, env):
    with LivingMind(tmp_path, tiny_run, env) as mind:
        mind.start()
        assert set(parents(mind).values()) == {"raylet"}


def test_a_worker_that_is_not_answered_is_whole(tmp_path):
    place = str(tmp_path / "workers")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(place)
        listener.listen()
        ending = threading.Thread(target=lambda: listener.accept()[0].close())  # noqa: PLW0108 - accepts in there
        ending.start()
        assert not hand_over(place)
        ending.join()
    assert not hand_over(place)
