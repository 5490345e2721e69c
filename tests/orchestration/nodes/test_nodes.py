"""One mind on a real cluster of raylets: spread, moved, drained, lost, renewed, while it takes perceptions in."""

import asyncio
import json
import subprocess
import sys
import time

import pytest

from tests.orchestration.living import ROOT, LivingMind, eventually
from tests.orchestration.nodes.raylets import Raylets
from tests.orchestration.nodes.telling import Teller, heard

pytestmark = pytest.mark.timeout(900)
ALL = {"text", "environment", "stream", "sitter-0", "sitter-1", "sitter-2"}


@pytest.fixture(scope="module")
def raylets():
    made = Raylets().add("a", "b")
    yield made
    made.end()


@pytest.fixture(scope="module")
def mind(raylets, tmp_path_factory):
    living = LivingMind(
        tmp_path_factory.mktemp("mind") / "data",
        lambda data_dir: [sys.executable, "-m", "tests.orchestration.nodes.crowd", str(data_dir), raylets.address],
    )
    try:
        living.start(running=False)
        living.running(seconds=180.0)
        yield living
    finally:
        living.end()


def submind(mind, *words, ok=True):
    done = subprocess.run(
        [sys.executable, "-m", "orchestration.cli", *words, "--grpc", mind.grpc],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode == 0) is ok, done.stderr + done.stdout
    return done.stdout if ok else done.stderr


def places(mind):
    """Node to who lives there; everybody has a place."""
    report = mind.report()
    assert not report["homeless"]
    return {node["name"]: set(node["actors"]) for node in report["nodes"]}


def live(raylets):
    return set(raylets.actors()) == ALL


def on(raylets, node):
    """Who has a process there."""
    children = raylets.raylet(node).children()
    return {name for name, process in raylets.actors().items() if process in children}


async def becomes(what, seconds=180.0):
    return await asyncio.to_thread(eventually, what, seconds)


async def test_it_is_spread_and_a_new_node_takes_its_share(mind, raylets):
    assert sorted(len(who) for who in places(mind).values()) == [3, 3]
    assert set().union(*places(mind).values()) == ALL
    async with Teller(mind, "spread") as teller:
        await asyncio.to_thread(raylets.add, "c")
        await becomes(lambda: sorted(len(who) for who in places(mind).values()) == [2, 2, 2])
        await becomes(lambda: live(raylets))
    told, said = await heard(mind, [teller])
    assert told >= len(teller.acknowledged) > 0
    assert said > 0
    assert mind.report()["restarts"] == 0
    assert mind.report()["actors"] == {}  # nobody died of being moved


async def test_a_drained_node_gives_up_its_subminds_without_loss(mind, raylets):
    async with Teller(mind, "drain") as teller:
        told = await asyncio.to_thread(submind, mind, "drain", "b", "--wait", "200")
        assert "b is empty" in told
        assert not on(raylets, "b"), "who is gone from the list has saved and ended"
        assert not places(mind)["b"]
        listed = await asyncio.to_thread(submind, mind, "nodes", "--json")
        assert {node["name"]: node["drained"] for node in map(json.loads, listed.splitlines())}["b"]
        await becomes(lambda: live(raylets))
        await asyncio.to_thread(submind, mind, "drain", "b", "--undo")
        await becomes(lambda: len(places(mind)["b"]) == 2)
        await becomes(lambda: live(raylets))
        assert "there is no node 'x'" in await asyncio.to_thread(submind, mind, "drain", "x", ok=False)
    await heard(mind, [teller])
    assert mind.report()["actors"] == {}


async def test_all_are_renewed_one_after_the_other_and_nothing_is_lost(mind, raylets):
    before = {name: process.pid for name, process in raylets.actors().items()}
    async with Teller(mind, "renew") as teller:
        for name in sorted(ALL):
            told = await asyncio.to_thread(submind, mind, "restart", name)
            assert f"{name}: renewed" in told
            assert raylets.actors()[name].pid != before[name], "as soon as it says so"
        after = await becomes(lambda: live(raylets) and {n: p.pid for n, p in raylets.actors().items()})
        assert not set(before.values()) & set(after.values())
    await heard(mind, [teller])
    assert mind.report()["actors"] == {}


async def test_what_lived_on_a_lost_node_lives_on_elsewhere(mind, raylets):
    lost = places(mind)["c"]
    assert lost
    async with Teller(mind, "loss") as teller:
        at = await asyncio.to_thread(raylets.kill, "c")
        await becomes(lambda: "c" not in places(mind) and live(raylets))
        print(f"\na node with {sorted(lost)} was lost; all lived again after {time.monotonic() - at:.1f} s")  # noqa: T201
    await heard(mind, [teller])
    assert mind.report()["restarts"] == 0
    assert set(mind.report()["actors"]) == lost
    assert not any(actor["quarantined"] for actor in mind.report()["actors"].values())


async def test_two_minds_share_nothing_and_leave_each_other_their_part(mind, raylets, tmp_path):
    """The second one wants more than its quota; the first goes on where it is, and hears nothing of it."""
    mine = places(mind)
    env = {"CROWD": "12", "SUBMIND__RUNTIME__CLUSTER__QUOTA": "5"}
    other = LivingMind(
        tmp_path / "data",
        lambda data_dir: [sys.executable, "-m", "tests.orchestration.nodes.crowd", str(data_dir), raylets.address],
        env,
    )
    try:
        await asyncio.to_thread(other.start, running=False)
        await becomes(lambda: other.report()["state"] == "running", 180.0)
        report = other.report()
        assert sum(node["taken"] for node in report["nodes"]) == 5
        assert len(report["homeless"]) == 10
        assert all("may take 5 units" in why for why in report["homeless"].values())
        assert {"text", "environment", "stream"} <= {who for node in report["nodes"] for who in node["actors"]}
        async with Teller(other, "theirs", pause=0.0, batch=64), Teller(mind, "ours") as ours:
            heard_now = len(ours.acknowledged)
            await becomes(lambda: len(ours.acknowledged) > heard_now + 80)
        await heard(mind, [ours])
        assert places(mind) == mine
        assert other.stop() == 0
        assert mind.report()["state"] == "running"
        assert live(raylets)
    finally:
        other.end()


async def test_what_it_leaves_is_a_cluster_as_it_was(mind, raylets):
    assert mind.stop() == 0
    await becomes(lambda: not raylets.actors())
    assert all(raylets.raylet(name).is_running() for name in raylets)
