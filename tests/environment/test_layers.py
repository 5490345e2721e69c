"""The environment's pure modules stay clear of databases, indexes, servers and the other packages."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(ROOT.glob("environment/**/*.py"))]
ALLOWED = {
    "sqlite3": lambda module: module.startswith("environment.stores.sqlite"),
    "faiss": lambda module: module == "environment.index.shard",
    "cassandra": lambda module: module.startswith("environment.stores.cassandra"),
}
NEVER = ("ray", "grpc", "fastapi", "actors", "orchestration")


def loaded_by(modules: list[str]) -> set[str]:
    code = f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\nprint(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in said.stdout.split()}


@pytest.mark.parametrize("library", ALLOWED)
def test_one_place_alone_knows_a_library(library):
    others = [module for module in NAMED if not ALLOWED[library](module)]
    assert len(others) > 15
    assert library not in loaded_by(others)


def test_nothing_here_knows_who_lives_here_or_how_they_are_reached():
    assert loaded_by(NAMED).isdisjoint(NEVER)
