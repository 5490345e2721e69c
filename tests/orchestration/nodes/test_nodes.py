"""One mind on a real cluster of raylets: spread, moved, drained, lost, renewed, while it takes perceptions in."""

import asyncio
import contextlib
import json
import sqlite3
import time
import urllib.request

import psutil
import pytest

from tests.orchestration.cli import conftest as commands
from tests.orchestration.living import LivingMind, crowd_run, eventually
from tests.orchestration.nodes.raylets import Raylets
from tests.orchestration.nodes.telling import Teller, heard

pytestmark = pytest.mark.timeout(900)
OUTLIVED = "submind_mind_actors_outlived_total"
ALL = {"text", "environment", "stream", "sitter-0", "sitter-1", "sitter-2"}


@pytest.fixture(scope="module")
def raylets():
    made = Raylets().add("a", "b")
    yield made
    made.end()


@pytest.fixture(scope="module")
def mind(raylets, tmp_path_factory):
    with LivingMind(tmp_path_factory.mktemp("mind") / "data", crowd_run(raylets.address)) as living:
        living.start(running=False)
        living.running(seconds=180.0)
        yield living


async def submind(mind, *words, ok=True):
    done = await commands.submind(*words, "--grpc", mind.grpc)
    assert (done.code == 0) is ok, done
    return done.out if ok else done.err


def places(mind):
    """Node to who lives there; everybody has a place."""
    report = mind.report()
    assert not report["unschedulable"]
    return {node["name"]: set(node["actors"]) for node in report["nodes"]}


def live(raylets):
    return set(raylets.actors()) == ALL


def on(raylets, node):
    """Who has a process there."""
    children = raylets.raylet(node).children()
    return {name for name, process in raylets.actors().items() if process in children}


def settled(mind, raylets, node):
    """Who lives on a node, once it has its share and nobody is on the way."""
    report = places(mind)
    counts = [len(who) for who in report.values()]
    there = max(counts) - min(counts) < 2 and on(raylets, node) == report[node]
    return report[node] if there else set()


def ended(process):
    """Whether it has; nobody may have taken note of it yet."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def logged(mind, event, since=0):
    """What was logged of an event by all processes of the mind, past so many characters."""
    lines = map(json.loads, (mind.data_dir / "submind.log").read_text("utf-8")[since:].splitlines())
    return [line for line in lines if line["event"] == event]


def claims(mind):
    """What was claimed for which process."""
    with contextlib.closing(sqlite3.connect(mind.data_dir / "mind.db")) as store:
        found = store.execute("SELECT name, value FROM counters WHERE name LIKE 'life of %'").fetchall()
    return {name.removeprefix("life of "): value for name, value in found}


def shown(mind, metric):
    """The value of a metric of the host."""
    with urllib.request.urlopen(f"{mind.http}metrics", timeout=60) as answer:  # noqa: S310 - our own
        text = answer.read().decode()
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(metric))


async def becomes(what, seconds=180.0):
    return await asyncio.to_thread(eventually, what, seconds)


async def spread_over(mind, raylets, *nodes):
    """Have it live on these: so it does when the tests before have passed; after one that failed all begins anew."""
    for name in sorted(set(nodes) - set(raylets)):
        await asyncio.to_thread(raylets.add, name)
    each = len(ALL) // len(nodes)
    await becomes(lambda: {name: len(who) for name, who in places(mind).items()} == dict.fromkeys(nodes, each))
    await becomes(lambda: live(raylets))


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
    await spread_over(mind, raylets, "a", "b", "c")
    async with Teller(mind, "drain") as teller:
        told = await submind(mind, "drain", "b", "--wait", "200")
        assert "b is empty" in told
        assert not on(raylets, "b"), "who is gone from the list has saved and ended"
        assert not places(mind)["b"]
        listed = await submind(mind, "nodes", "--json")
        assert {node["name"]: node["drained"] for node in map(json.loads, listed.splitlines())}["b"]
        await becomes(lambda: live(raylets))
        await submind(mind, "drain", "b", "--undo")
        await becomes(lambda: len(places(mind)["b"]) == 2)
        await becomes(lambda: live(raylets))
        assert "there is no node 'x'" in await submind(mind, "drain", "x", ok=False)
    await heard(mind, [teller])
    assert mind.report()["actors"] == {}


async def test_all_are_renewed_one_after_the_other_and_nothing_is_lost(mind, raylets):
    before = {name: process.pid for name, process in raylets.actors().items()}
    async with Teller(mind, "renew") as teller:
        told = await submind(mind, "restart")
        assert sorted(told.splitlines()) == sorted(f"{name}: renewed" for name in ALL)
        after = await becomes(lambda: live(raylets) and {n: p.pid for n, p in raylets.actors().items()})
        assert not set(before.values()) & set(after.values())
    await heard(mind, [teller])
    assert mind.report()["actors"] == {}


async def test_what_lived_on_a_lost_node_lives_on_elsewhere(mind, raylets):
    await spread_over(mind, raylets, "a", "b", "c")
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


async def test_who_wakes_up_after_others_took_their_places_writes_nothing_and_ends(mind, raylets):
    """The machine stands still, is given up, and its actors go on as if nothing had been: each ends, and says why."""
    await asyncio.to_thread(raylets.add, "asleep")
    names = await becomes(lambda: live(raylets) and settled(mind, raylets, "asleep"))
    there = raylets.raylet("asleep").children()
    asleep = {name: process for name, process in raylets.actors().items() if process in there}
    assert asleep.keys() == names
    async with Teller(mind, "sleep") as teller:
        raylet = raylets.raylet("asleep")
        for process in (raylet, *asleep.values()):
            process.suspend()
        before, counted = claims(mind), shown(mind, OUTLIVED)
        since = len((mind.data_dir / "submind.log").read_text("utf-8"))
        with raylets.without("asleep"):
            await becomes(lambda: "asleep" not in places(mind) and live(raylets))
            await becomes(lambda: all(claims(mind)[name] > before[name] for name in names))
            for process in asleep.values():
                process.resume()
            await becomes(lambda: all(ended(process) for process in asleep.values()))
            told = logged(mind, "outlived", since)
            assert sorted(line["submind"] for line in told) == sorted(names)
            assert all(f"of {line['submind']} has begun since life" in line["reason"] for line in told)
            # who heard it from the store first got in touch with nobody any more
            stopped = "outlived_process_told_to_stop"
            await becomes(lambda: shown(mind, OUTLIVED) == counted + len(logged(mind, stopped, since)))
            assert {line["submind"] for line in logged(mind, stopped, since)} <= names
            assert live(raylets)
        await asyncio.to_thread(raylets.kill, "asleep")
    await heard(mind, [teller])
    assert mind.report()["restarts"] == 0
    assert not any(actor["quarantined"] for actor in mind.report()["actors"].values())


async def test_what_it_leaves_is_a_cluster_as_it_was(mind, raylets):
    assert mind.stop() == 0
    await becomes(lambda: not raylets.actors())
    assert all(raylets.raylet(name).is_running() for name in raylets)
