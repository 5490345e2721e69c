"""A faculty of another package is installed, and lives: built, configured, told, counted, kept and shown like any."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.client import MindClient
from tests.orchestration.living import LivingMind, submind_run

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import asyncio, json, sys
from pathlib import Path

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration import wiring
from orchestration.cli.tree import settings_tree
from orchestration.faculties import added, page_places
from orchestration.links.codec import decode, encode
from orchestration.links.frames import Batch
from orchestration.membership.tunables import settings_update, tuned
from orchestration.settings import Settings
from orchestration.simulation.faults import NONE, ROUGH
from orchestration.simulation.replay import Replay
from orchestration.telemetry import names
from submind_tally import COLLECTION, Milestone

settings = Settings.model_validate({"faculties": {"tally": {"every": 2}}, "attention": {"per_hour": 60, "worth": 0.0}})


def day():
    for n in range(120):
        text = f"pump {n % 7} of hall {n % 3} reports fault number {n}: pressure fell to {n * 3} and the alarm rang"
        yield NewPerception(source="radio", time=1e9 + 60 * n, received=1e9 + 60 * n, text=text, trust=0.8)


async def main(folder, faults):
    stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
    said = []
    mind = Replay(settings, stores, faults=faults)
    mind.world.note = lambda owner, effect: said.append(owner) if owner == "herald" else None
    thoughts = [entry async for entry in mind.run(day())]
    kept = {d.key: d.body[0] for d in await stores.collections.scan(COLLECTION)}
    again = await wiring.build_shell(
        next(a for a in wiring.plan(settings) if a.name == "tally"), settings, stores, mind.world, mind._embedder
    )
    changed = tuned(settings, {"faculties.tally.every": 7})
    batch = Batch("a", "b", 1, [("herald", [(Milestone("radio", 4), 0.5)])])
    print(json.dumps({
        "added": [faculty.role for faculty in added()],
        "thoughts": sum(bool(e.perceptions) for e in thoughts),
        "kept": kept,
        "figures": {name: mind.world.figures().get(name, 0) for name in ("tallied_total", "milestones_total")},
        "said": len(said),
        "crashes": mind.world.crashes,
        "restored": again.core.describe().figures["tallied_sources"],
        "travels": decode(encode(batch)[4:]) == batch,
        "changed": settings_update(changed, 1).over(settings).faculties.tally.every,
        "documented": [s.doc for s in settings_tree() if s.dotted == "faculties.tally.every"],
        "help": names.HELP["milestones_total"],
        "page": page_places()["tally"],
    }))
    await stores.close()


asyncio.run(main(sys.argv[1], ROUGH if sys.argv[2:] else NONE))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The example, as pip installs it."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "-q", "--target", target, "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--no-index", ROOT / "examples" / "tally"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


def lived(installed, folder, *more):
    env = os.environ | {"PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", SCRIPT, folder, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_it_lives_in_the_mind_like_any_other(installed, tmp_path):
    told = lived(installed, tmp_path)
    assert told["added"] == ["herald", "tally"]
    assert told["thoughts"] >= 2
    assert told["kept"] == {"radio": told["thoughts"]}
    assert told["figures"] == {"tallied_total": told["thoughts"], "milestones_total": told["thoughts"] // 2}
    assert told["said"] == told["thoughts"] // 2
    assert told["restored"] == 1
    assert told["travels"]
    assert told["changed"] == 7
    assert told["documented"] == ["So many conscious thoughts about one source are a round number."]
    assert told["help"] == "Round numbers said."
    assert told["page"] == {"place": "left", "rank": 100}


def test_what_it_keeps_and_says_survives_a_rough_day(installed, tmp_path):
    told = lived(installed, tmp_path, "rough")
    assert told["crashes"] > 0
    assert 0 < told["kept"]["radio"] <= told["thoughts"] + told["crashes"]


@pytest.mark.timeout(400)
async def test_it_lives_in_a_running_mind(installed, tmp_path):
    """Each in a process of its own: what the one counts is kept, and the other hears of every second."""
    (tmp_path / "mind.yaml").write_text("faculties: {tally: {every: 2}}\nattention: {per_hour: 3600, worth: 0}\n")
    config = ("--mind", str(tmp_path / "mind.yaml"))
    path = {"PYTHONPATH": f"{installed}{os.pathsep}{ROOT}"}
    with LivingMind(tmp_path / "data", lambda directory: submind_run(directory, *config), path) as mind:
        mind.start()
        async with MindClient(mind.grpc) as client:
            told = {}
            for n in range(300):
                text = f"pump {n % 7} of hall {n % 3} reports fault number {n}: pressure fell to {n * 3}, alarm"
                await client.perceive([NewPerception("radio", time.time(), time.time(), text=text)])
                told = {one.name: one.metrics for one in await client.subminds()}
                if told["herald"].get("milestones_total", 0):
                    break
                await asyncio.sleep(0.2)
        assert {"actor:tally", "actor:herald"} <= mind.processes().keys()
        assert mind.stop() == 0
    stores = await open_stores(tmp_path / "data", "mind")
    (kept,) = await stores.collections.scan("tally")
    count = msgspec.msgpack.decode(kept.body)
    reports = {one.name: one.metrics for one in await stores.registry.reports()}
    await stores.close()
    assert kept.key == "radio"
    assert count == reports["tally"]["tallied_total"] >= 2
    assert reports["herald"]["milestones_total"] == count // 2


def test_without_it_there_is_no_such_faculty():
    code = "from orchestration.faculties import added; print(len(added()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "0"
