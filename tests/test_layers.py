"""Layers, purity and size, read from the code itself."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("environment", "actors", "orchestration")
GENERATED = ROOT / "orchestration" / "pb"

ABOVE = {"environment": {"actors", "orchestration"}, "actors": {"orchestration"}, "orchestration": set[str]()}
"""Layer to the layers it may not know."""

BACKWARD = {
    ("orchestration.client.erasing", "orchestration.client.mind"),
    ("orchestration.client.growth", "orchestration.client.mind"),
    ("orchestration.client.nodes", "orchestration.client.mind"),
    ("orchestration.client.upload", "orchestration.client.mind"),
}
"""Imports that lead back to who imports, for types alone."""

HEAVY = frozenset({"ray", "grpc", "fastapi", "faiss", "sqlite3", "httpx", "uvicorn", "starlette", "cassandra"})
"""What pure modules do not import."""
EDGES = (
    "environment/stores/sqlite",
    "environment/stores/cassandra",
    "environment/index/shard.py",
    "actors/substrate/openai.py",
    "actors/substrate/protocol.py",
)
"""Where the lower layers touch the world: SQLite, Cassandra, FAISS, and the client of language model servers."""
DRAWS = ("actors/substrate/build.py",)
"""Gives that client its chance (pauses between attempts) where nobody injects any."""
ORCHESTRATION_ONLY = frozenset({"ray", "grpc", "fastapi", "uvicorn", "starlette"})

TIME_AND_CHANCE = frozenset(
    {
        "time.time", "time.time_ns", "time.monotonic", "time.perf_counter", "time.sleep", "datetime.datetime.now",
        "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today", "uuid.uuid1", "uuid.uuid4",
        "random.random", "random.seed", "random.choice", "random.choices", "random.randint", "random.uniform",
        "random.shuffle", "random.sample", "random.gauss", "random.randrange", "random.getrandbits",
        "random.SystemRandom", "secrets.token_hex", "secrets.token_bytes", "secrets.randbits", "os.urandom",
        "numpy.random.rand", "numpy.random.randn", "numpy.random.seed", "numpy.random.random",
        "numpy.random.normal", "numpy.random.choice", "numpy.random.permutation", "numpy.random.shuffle",
    }
)  # fmt: skip
"""Calls by which time or chance would enter by themselves."""

SHARED_FILES = {
    "__init__",
    "settings",  # a room's section of the configuration
    "errors",  # what goes wrong in a room
    "core",  # an actor's pure core
    "faculty",  # what a kind of actor says of itself
    "ports",  # the Protocols that a room asks for
}
"""Names of files that three rooms or more may have."""

MOST_LINES = 400


def sources() -> list[Path]:
    return sorted(
        path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if not path.is_relative_to(GENERATED)
    )


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_edge(path: Path) -> bool:
    name = name_of(path)
    return any(name == edge or name.startswith((f"{edge}/", f"{edge}.", f"{edge}_")) for edge in EDGES)


def pure() -> list[Path]:
    return [path for path in sources() if path.relative_to(ROOT).parts[0] != "orchestration" and not is_edge(path)]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def imports(path: Path, *, deep: bool = False) -> Iterator[tuple[str, int]]:
    """Every module that a file imports anywhere, also within functions and for type checking, and the line.

    ``deep``: what is imported from a module by its full name, since that may be a module as well.
    """
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno}: relative imports hide the layer"
            names = [f"{node.module}.{alias.name}" for alias in node.names] if deep else [node.module or ""]
            yield from ((name, node.lineno) for name in names)


def calls(path: Path) -> Iterator[tuple[str, int]]:
    """Every call by its full dotted name, as far as imports tell it, and the line."""
    known: dict[str, str] = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            dotted = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
            first, _, rest = dotted.partition(".")
            if first in known:
                yield f"{known[first]}.{rest}" if rest else known[first], node.lineno


def offending(
    paths: Iterable[Path], found: Callable[[Path], Iterator[tuple[str, int]]], refused: Callable[[str], bool]
) -> str:
    """Where what is found in these files is refused, a line each."""
    wrong = [f"{name_of(path)}:{line} {what}" for path in paths for what, line in found(path) if refused(what)]
    return "\n".join(wrong)


def of(*packages: str) -> list[Path]:
    return [path for path in sources() if path.relative_to(ROOT).parts[0] in packages]


def top(module: str) -> str:
    return module.partition(".")[0]


def test_there_is_code_to_look_at() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in sources()} == set(PACKAGES)
    assert len(pure()) > 30


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_one_way(package: str) -> None:
    assert not (wrong := offending(of(package), imports, lambda module: top(module) in ABOVE[package])), wrong


def knows(package: str, room: Callable[[str], str]) -> dict[str, set[str]]:
    """What each room of a package imports of it; ``room`` says of a module which that is."""
    modules = {module_of(path): path for path in sources() if path.relative_to(ROOT).parts[0] == package}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        known = graph.setdefault(room(module), set())
        named = (name if name in modules else name.rpartition(".")[0] for name, _ in imports(path, deep=True))
        back = {name for importer, name in BACKWARD if importer == module}
        known |= {room(name) for name in named if name in modules and name not in back} - {room(module)}
    return graph


def sections(package: str) -> dict[str, str]:
    """The settings of each room, and whatever of the room they rest on, to those settings: a room below the others.

    The tree of settings is composed of them all, and every room may be handed the whole tree.
    """
    graph, found = knows(package, str), dict[str, str]()
    for settings in (module for module in graph if module.count(".") > 1 and module.endswith(".settings")):
        room, left = settings.rpartition(".")[0], [settings]
        while left:
            module = left.pop()
            found[module] = settings
            left += [name for name in graph[module] if name.startswith(f"{room}.") and name not in found]
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_of_a_package_import_each_other_one_way(package: str) -> None:
    graph = knows(package, str)
    assert len(graph) > 10
    TopologicalSorter(graph).prepare()  # raises ``CycleError``, which names those in it


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_of_a_package_import_each_other_one_way(package: str) -> None:
    section = sections(package)
    graph = knows(package, lambda module: section.get(module) or ".".join(module.split(".")[:2]))
    assert len(graph) > 10
    TopologicalSorter(graph).prepare()


def test_no_class_has_the_name_of_another() -> None:
    """Of those that a module shows: whoever reads a name, anywhere, knows what is meant."""
    where: dict[str, list[str]] = {}
    for path in sources():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(name_of(path))
    wrong = [f"{name}: {', '.join(at)}" for name, at in where.items() if len(at) > 1]
    assert not wrong, "\n".join(wrong)


def test_no_file_has_the_name_of_two_others() -> None:
    where: dict[str, list[str]] = {}
    for path in sources():
        where.setdefault(path.stem, []).append(name_of(path))
    wrong = [f"{stem}: {', '.join(at)}" for stem, at in where.items() if len(at) > 2 and stem not in SHARED_FILES]
    assert not wrong, "\n".join(wrong)


def test_only_orchestration_knows_servers_and_ray() -> None:
    below = of("environment", "actors")
    assert not (wrong := offending(below, imports, lambda module: top(module) in ORCHESTRATION_ONLY)), wrong


def test_pure_modules_import_nothing_heavy() -> None:
    assert not (wrong := offending(pure(), imports, lambda module: top(module) in HEAVY)), wrong


def test_importing_every_pure_module_loads_nothing_heavy() -> None:
    modules = [module_of(path) for path in pure()]
    probe = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        f"print(sorted(set({sorted(HEAVY)!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *modules], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_time_and_chance_are_arguments_below_orchestration() -> None:
    below = [path for path in pure() if name_of(path) not in DRAWS]
    assert not (wrong := offending(below, calls, TIME_AND_CHANCE.__contains__)), wrong


def test_the_simulator_has_no_time_or_chance_of_its_own() -> None:
    own = ("orchestration/simulation/", "orchestration/wiring.py", "orchestration/settings.py")
    simulator = [path for path in sources() if name_of(path).startswith(own)]
    assert not (wrong := offending(simulator, calls, TIME_AND_CHANCE.__contains__)), wrong


def test_nothing_waits_in_a_way_that_forgets_to_be_cancelled() -> None:
    """``wait_for`` of Python 3.11 goes on where it is cancelled in the moment in which what it waits for is there."""
    wrong = offending(sources(), calls, "asyncio.wait_for".__eq__)
    assert not wrong, f"{wrong}: say `async with asyncio.timeout(...)`"


def test_no_file_is_too_long() -> None:
    wrong = [
        f"{name_of(path)} has {lines} lines"
        for path in sources()
        if (lines := len(path.read_text("utf-8").splitlines())) > MOST_LINES
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_named_for_a_lack_of_a_name() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef) and node.name.endswith(("Manager", "Helper", "Util", "Utils"))
    ]
    wrong += [name_of(path) for path in sources() if path.stem in {"utils", "util", "helpers", "helper", "misc"}]
    assert not wrong, "\n".join(wrong)


def test_the_environment_is_not_read_at_import() -> None:
    """Nothing at module level looks at the process's environment variables."""
    wrong = []
    for path in sources():
        outside = [
            node
            for node in tree(path).body
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
        wrong += [
            f"{name_of(path)}:{inner.lineno}"
            for node in outside
            for inner in ast.walk(node)
            if isinstance(inner, ast.Attribute) and ast.unparse(inner) in {"os.environ", "os.getenv"}
        ]
    assert not wrong, "\n".join(wrong)


def test_the_detectors_detect(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(
        "import time as clock\nimport numpy as np\nfrom datetime import datetime\nfrom random import choice\n"
        "import os.path\ndef f():\n    import ray\n"
        "    return clock.time(), np.random.rand(3), datetime.now(), choice([1]), os.urandom(3)\n"
    )
    assert {"ray", "time", "numpy"} <= {module for module, _ in imports(file)}
    found = {called for called, _ in calls(file)} & TIME_AND_CHANCE
    assert found == {"time.time", "numpy.random.rand", "datetime.datetime.now", "random.choice", "os.urandom"}
