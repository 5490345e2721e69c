"""What README and documents say is there: commands, flags, settings, paths, links, limits, examples that run."""

import functools
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
import yaml
from pydantic import BaseModel

from actors.shell import ActorShell
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.extractive import ExtractiveSubstrate
from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.cli import COMMANDS, command_of
from orchestration.loading import load_settings
from orchestration.pb.submind.v1 import consciousness_pb2, environment_pb2, mind_pb2, perception_pb2
from orchestration.settings import Settings
from orchestration.simulation.world import World
from orchestration.wiring import build_shell, plan
from tests.actors.making import thought

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (
    "README",
    "architecture",
    "operations",
    "backup",
    "cassandra",
    "cluster",
    "evolving",
    "forgetting",
    "mcp",
    "nodes",
    "plasticity",
    "recall",
    "security",
    "writing-a-submind",
)
OURS = ("README.md", *(f"docs/{name}.md" for name in DOCUMENTS))
PAGES = {name: (ROOT / name).read_text("utf-8") for name in OURS}
SUBMIND = PAGES["docs/writing-a-submind.md"]
EVERYTHING = "\n".join(PAGES.values())


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """The text without fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    """Every ``submind ...`` that a reader might type: indented lines, and code within sentences."""
    found: list[str] = []
    for page in PAGES.values():
        lines = [line for line in prose(page).splitlines() if line.startswith("    ")]
        lines += re.findall(r"`([^`\n]+)`", prose(page))
        found += [m[1] for line in lines for m in re.finditer(r"(?:^|[\s/|(])(submind [a-z][^|#>)]*)", line)]
    return sorted(set(found))


@functools.cache
def options(command: str) -> frozenset[str]:
    """The flags a command takes, from its help's own source."""
    parser = command_of(command)
    found: set[str] = set()
    for each in getattr(parser, "commands", {command: parser}).values():
        with typer.Context(each) as context:
            found |= {flag for one in each.get_params(context) for flag in (*one.opts, *one.secondary_opts)}
    return frozenset(found)


@pytest.mark.parametrize("line", commands())
def test_every_command_and_flag_exists(line):
    assert len(commands()) > 15
    words = shlex.split(line)
    assert words[1] in COMMANDS, line
    flags = [word.partition("=")[0] for word in words[2:] if re.fullmatch(r"--?[a-z][-a-z]*(=.*)?", word)]
    unknown = [flag for flag in flags if flag not in options(words[1])]
    assert not unknown, f"{line}: {unknown} is not among {sorted(options(words[1]))}"


def test_every_path_in_code_marks_exists():
    rooms = "actors|environment|orchestration|tests|docs|examples|benchmarks|proto|k8s"
    named = set(re.findall(rf"`((?:{rooms})/[\w./-]+)(?:::\w+)?`", EVERYTHING)) - {"actors/reminder/"}
    assert len(named) > 30
    assert not [name for name in sorted(named) if not (ROOT / name).exists()]


def test_every_named_test_exists():
    for path, test in set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", EVERYTHING)):
        assert f"def {test}" in (ROOT / path).read_text("utf-8"), f"{path}::{test}"


def test_every_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^    |`)make ([a-z-]+)", EVERYTHING, re.MULTILINE))
    assert {"run", "test", "bench"} <= named <= targets


def setting(path: str) -> object:
    """The default of a setting. Raises ``KeyError`` where there is none."""
    value: object = Settings()
    for part in path.split("."):
        if not isinstance(value, BaseModel) or part not in type(value).model_fields:
            raise KeyError(path)
        value = getattr(value, part)
    return value


def test_every_setting_exists():
    sections = "|".join(Settings.model_fields)
    named = set(re.findall(rf"`((?:{sections})\.[a-z_.]+[a-z_])(?:: [^`]*)?`", EVERYTHING))
    named = {name for name in named if not name.endswith((".py", ".db", ".yaml", ".json", ".jsonl", ".log", ".err"))}
    assert len(named) > 50
    for name in sorted(named):
        setting(name)


def test_limits_are_told_with_their_defaults():
    rows = re.findall(r"^\| `([a-z_.]+)` \| `([^`]+)` \|", PAGES["README.md"], re.MULTILINE)
    assert len(rows) > 40
    wrong = {name: (told, setting(name)) for name, told in rows if yaml.safe_load(told) != setting(name)}
    assert not wrong


def test_variables_of_the_environment_name_settings():
    for name in set(re.findall(r"SUBMIND(?:__[A-Z_]+)+", EVERYTHING)):
        setting(name.removeprefix("SUBMIND__").lower().replace("__", "."))


@pytest.mark.parametrize("block", [block for page in PAGES.values() for block in blocks(page, "yaml")])
def test_every_configuration_is_one(block, tmp_path):
    (tmp_path / "mind.yaml").write_text(block, "utf-8")
    assert load_settings(tmp_path / "mind.yaml", environ={}) != Settings()


def test_addresses_are_the_defaults():
    grpc, http, probes = (str(setting(name)) for name in ("gateway.listen", "feed.listen", "front.probes"))
    assert f"http://{http}/" in PAGES["README.md"]
    chosen = {"127.0.0.1:11434", "127.0.0.1:0", "127.0.0.1:8765"}
    assert set(re.findall(r"127\.0\.0\.1:\d+", EVERYTHING)) - chosen <= {grpc, http, probes}


async def test_every_route_and_method_exists(tmp_path):
    from environment.stores.sqlite import open_stores
    from orchestration.feed.app import create_app
    from orchestration.gateway.erasure import ForgettingService
    from orchestration.gateway.intake import Intake
    from orchestration.gateway.services import all_handlers
    from orchestration.gateway.settings import IntakeSettings
    from orchestration.view.mind import MindView
    from orchestration.view.tail import StreamTail

    stores = await open_stores(tmp_path, "mind")
    view = MindView(stores, WordLlamaEmbedder(), mind="mind", clock=float, wall=float)
    forgetting, nobody = ForgettingService(stores, float), object()  # is called
    handlers = all_handlers(view, StreamTail(stores.stream), nobody, nobody, forgetting=forgetting)
    app = create_app(view, Intake(stores.perceptions, IntakeSettings(), float), handlers)
    await stores.close()
    routes = {re.sub(r"\{.*?\}", "{id}", path) for path in app.openapi()["paths"]} | {"/openapi.json"}
    named = re.sub(r"\{\w+\}", "{id}", EVERYTHING)
    told = set(
        re.findall(r"(?<![a-z.])(/v1/[a-z/]+(?:\{id\}(?:/[a-z]+)?)?|/metrics|/healthz|/readyz|/openapi\.json)", named)
    )
    assert "/v1/perceptions" in told
    assert told <= routes
    modules = (consciousness_pb2, environment_pb2, mind_pb2, perception_pb2)
    services = {s.full_name: s for m in modules for s in m.DESCRIPTOR.services_by_name.values()}
    calls = set(re.findall(r"(submind\.v1\.\w+)/(\w+)", EVERYTHING))
    assert calls
    assert all(method in services[service].methods_by_name for service, method in calls)


def test_metrics_are_known():
    """Each metric the documents tell people to watch is one that is shown; `docs/metrics.md` has all of them."""
    told = {
        name
        for page, text in PAGES.items()
        if page != "docs/metrics.md"
        for name in re.findall(r"`(submind_[a-z_]+[a-z])(?:\{[^`]*\})?`", text)
    }
    shown = set(re.findall(r"^\| `(submind_[a-z_]+)`", (ROOT / "docs/metrics.md").read_text("utf-8"), re.MULTILINE))
    assert len(told) > 30
    assert not told - shown


def test_the_sample_is_of_the_example():
    """Each entry shown cites things that were said on that day, at that time; a reminder comes when it is due."""
    day = [json.loads(line) for line in (ROOT / "examples/day.jsonl").read_text("utf-8").splitlines()]
    said = {(line["time"][:19].replace("T", " "), line["source"]) for line in day}
    (sample,) = re.findall(r"<!-- sample:.*?-->\n```text\n(.*?)```", PAGES["README.md"], re.DOTALL)
    lines = re.findall(
        r"^ *(\d+) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) [▮▯]{5} \[([^\],]+)[^\]]*\] (?!Due )", sample, re.MULTILINE
    )
    assert len(lines) >= 5
    assert [int(number) for number, _, _ in lines] == sorted(int(number) for number, _, _ in lines)
    assert {(time, source) for _, time, source in lines} <= said
    command = [sys.executable, "-m", "orchestration.cli", "replay", "examples/day.jsonl", "--budget", "24"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    again = [line for line in sample.splitlines() if line.strip() in printed]
    assert len(again) >= 5, "another processor may round otherwise, but this is of another version"


def executed(code: str, **given) -> dict[str, object]:
    space: dict[str, object] = {"__name__": "document", **given}
    sys.modules.setdefault("document", type(sys)("document"))
    exec(compile(code, "document", "exec", dont_inherit=True), space)  # noqa: S102 - our own document
    sys.modules["document"].__dict__.update(space)
    return space


def test_the_example_submind_passes_its_own_tests():
    core, tests = blocks(SUBMIND, "python")
    space = executed(core)
    ran = 0
    for name, test in executed(tests, ReminderCore=space["ReminderCore"]).items():
        if name.startswith("test_"):
            test(thought)
            ran += 1
    assert ran == 2


async def test_the_example_submind_lives_among_others(inline_stores):
    """In the simulator, wired to a real environment and real inline_stores."""
    core, _ = blocks(SUBMIND, "python")
    make = executed(core)["ReminderCore"]
    from actors.events import Message, Post

    embedder, settings = WordLlamaEmbedder(), Settings()
    plans = {one.name: one for one in plan(settings)}

    async def birth(name):
        if name == "reminder":
            return ActorShell(make(name, "Remind."), inline_stores, world, settings.shell, embedder=embedder)
        return await build_shell(plans[name], settings, inline_stores, world, embedder)

    world = World(inline_stores, ExtractiveSubstrate(), embedder, birth, seed=1)
    heard = thought(text="the van leaves in 20 min", time=1000.0, vector=(await embedder.embed(["the van leaves"]))[0])
    await world.begin(("environment", "reminder"), 1000.0)
    world.send("text", "environment", Post("text", (heard,)), 1.0)
    world.send("text", "reminder", Message(heard, "text", "k1", "vans", 0.5), 0.5)
    await world.run_until(1500.0)
    await world.shells["reminder"].save(1500.0)
    world.shells["reminder"] = await birth("reminder")
    await world.shells["reminder"].start(world.now)
    world._follow(world.shells["reminder"])
    await world.run_until(2300.0)
    _, traces = await inline_stores.traces.changes(0, 10)
    (said,) = [trace for trace in traces if trace.thought.author == "reminder"]
    assert said.live
    assert said.thought.at == pytest.approx(2200.0, abs=1)
    assert said.thought.parents == (heard.id,)
    assert not world.shells["reminder"].core._unacknowledged.dump()


async def test_the_backup_is_one(tmp_path):
    """The commands as they are told, run beside an open mind; what was restored is opened and read."""
    (script,) = blocks(PAGES["docs/operations.md"], "bash")
    (tmp_path / "backups").mkdir()
    for place in ("/var/lib/submind", "/var/lib/elsewhere", "/backups"):
        script = script.replace(place, str(tmp_path / place.rpartition("/")[2]))
    script = re.sub(r"^submind ", f"{sys.executable} -m orchestration.cli ", script, flags=re.MULTILINE)
    stores = await open_stores(tmp_path / "submind", "mind")
    await stores.perceptions.append([NewPerception(source="door", time=1.0, received=1.0, text="it is open")])
    done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: ASYNC221
    await stores.close()
    assert done.returncode == 0, done.stderr
    restored = await open_stores(tmp_path / "elsewhere", "mind")
    (kept,) = await restored.perceptions.read(0, 10)
    await restored.close()
    assert kept.text == "it is open"


async def test_the_client_example_runs(tmp_path, capsys):
    from tests.orchestration.gateway.conftest import serving

    (code,) = blocks(PAGES["README.md"], "python")
    async with serving(tmp_path) as gateway:
        await gateway.think(1)
        gateway.now[0] = time.time()
        code = code.replace("127.0.0.1:50051", gateway.target).replace("print(entry.seq, entry.text)", "return")
        await executed(code.replace("asyncio.run(main())", ""))["main"]()
        (kept,) = await gateway.stores.perceptions.read(0, 10)
    assert kept.text == "it is open"
    assert f"durable as {kept.id}" in capsys.readouterr().out


def test_every_command_is_told_of():
    assert all(f"submind {command}" in EVERYTHING for command in COMMANDS)
