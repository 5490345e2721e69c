"""A whole mind that reached its cluster through a Ray client server: it lives as any, and ends as any."""

import psutil
import pytest

from orchestration.client import MindClient
from tests.orchestration.living import LivingMind, crowd_run, eventually
from tests.orchestration.nodes.raylets import Raylets
from tests.orchestration.nodes.telling import Teller, heard
from tests.orchestration.nodes.test_nodes import ALL, becomes, places, submind
from tests.servers.process import free_ports

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]
GRACE = {"RAY_CLIENT_RECONNECT_GRACE_PERIOD": "5"}


@pytest.fixture(scope="module")
def port():
    return free_ports(1)[0]


@pytest.fixture(scope="module")
def raylets(port):
    made = Raylets(env=GRACE, ray_client_server_port=port).add("a", "b")
    yield made
    made.end()


@pytest.fixture
def mind(raylets, port, tmp_path):
    address = f"ray://127.0.0.1:{port}"
    with LivingMind(tmp_path / "data", crowd_run(address), GRACE) as living:
        living.start(running=False)
        living.running(seconds=180.0)
        yield living
    eventually(lambda: not raylets.actors(), 90.0)


async def test_it_perceives_speaks_explains_and_leaves_nothing(mind, raylets):
    assert set().union(*places(mind).values()) == ALL
    assert sorted(len(who) for who in places(mind).values()) == [3, 3]
    begun = mind.report()["restarts"]  # a client server that is busy lets nobody in for a while
    async with Teller(mind, "client") as teller:
        async with MindClient(mind.grpc) as client:
            entry = await anext(client.watch(from_seq=1))
            lineage = await client.explain(entry.id)
            assert lineage.text == entry.text
            assert any(receipt.id in str(lineage) for receipt in teller.acknowledged.values())
        told = await submind(mind, "restart", "sitter-0")
        assert "sitter-0: renewed" in told
    told, said = await heard(mind, [teller])
    assert told >= len(teller.acknowledged) > 0
    assert said > 0
    assert mind.report()["restarts"] == begun
    assert mind.stop() == 0
    await becomes(lambda: not raylets.actors())
    assert all(raylets.raylet(name).is_running() for name in raylets)


async def test_killed_it_lives_on_and_its_old_actors_end(mind, raylets):
    before, begun = {process.pid for process in raylets.actors().values()}, mind.report()["restarts"]
    async with Teller(mind, "killed") as teller:
        mind.kill("mind")
        await becomes(lambda: mind.report()["restarts"] > begun and mind.report()["state"] == "running")
        await becomes(lambda: not any(psutil.pid_exists(pid) for pid in before), 60.0)
    await heard(mind, [teller])
    assert set(raylets.actors()) == ALL


async def test_without_its_client_server_it_says_so_and_its_actors_end(mind, raylets, port):
    assert raylets.actors()
    servers = [one for one in psutil.process_iter() if _serves(one, port)]
    assert servers
    for server in servers:
        server.kill()
    await becomes(lambda: f"no Ray cluster answers at ray://127.0.0.1:{port}" in str(mind.report()), 90.0)
    await becomes(lambda: not raylets.actors(), 90.0)
    log = (mind.data_dir / "submind.log").read_text("utf-8")
    assert f"the connection to the Ray client server at ray://127.0.0.1:{port} broke" in log


def _serves(process, port):
    try:
        line = process.cmdline()
    except psutil.Error:
        return False
    return "ray.util.client.server" in line and f"--port={port}" in line
