"""Every test is run by exactly one target of the Makefile, and the architecture says truly which holds a promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression

from tests.targets import MARKERS, target

ROOT = Path(__file__).resolve().parent.parent
HELD = re.compile(r"^\| .* \| (`tests/.*) \|$", re.MULTILINE)
LIST = """
import sys, pytest
from tests.targets import MARKERS
class Lister:
    def pytest_collection_finish(self, session):
        for item in session.items:
            print("HELD", item.nodeid.partition("[")[0], *({mark.name for mark in item.iter_markers()} & {*MARKERS}))
sys.exit(pytest.main(["--collect-only", "-qq", *sys.argv[1:]], plugins=[Lister()]))
"""


@pytest.mark.parametrize("marker", [*MARKERS, None])
@pytest.mark.parametrize("smoke", [False, True])
def test_every_test_is_run_by_exactly_one_target(marker: str | None, smoke: bool) -> None:
    rules = re.findall(r"^(test[a-z-]*):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert len(rules) == 1 + len(MARKERS)
    markers = {marker, "smoke"} if smoke else {marker}
    selected = {name: Expression.compile(re.search(r'-m "(.+)"', rule)[1]) for name, rule in rules}
    chosen = {name for name, one in selected.items() if one.evaluate(lambda name, **_: name in markers)}
    assert chosen == {f"test-{marker}" if marker else "test"}


def test_what_a_test_asks_for_says_which_target() -> None:
    assert target((), ()) is None
    assert target((), ("servers", "tmp_path")) == "servers"
    assert target(("smoke",), ("servers",)) is None
    assert target((), ("kubernetes",)) == "cluster"
    assert target((), ("language_model",)) == target((), ("sentence_model",)) == "model"
    assert target(("soak",), ("servers",)) == "soak"


def test_a_promise_is_held_where_the_architecture_says() -> None:
    said: dict[str, set[str]] = {}
    promised = (ROOT / "docs/architecture.md").read_text("utf-8").partition("## Promises")[2]
    for row in HELD.findall(promised):
        for test, where in re.findall(r"`(tests/[^`]+)`(?: \(`make test-([a-z]+)`\))?", row):
            said.setdefault(test, set()).add(where)
    contracts = {test for test in said if "/promises/" in test}  # what every store is held to
    for test in contracts:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text("utf-8") if name else (ROOT / file).is_file(), test
    listed = subprocess.run(
        [sys.executable, "-c", LIST, *said.keys() - contracts], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert listed.returncode == 0, listed.stdout[-2000:]
    held: dict[str, set[str]] = {}
    for line in re.findall(r"^HELD (.*)$", listed.stdout, re.MULTILINE):
        test, _, where = line.partition(" ")
        for name in {test, test.partition("::")[0]} & said.keys():
            held.setdefault(name, set()).add(where)
    for test in said.keys() - contracts:
        assert said[test] <= held[test], test
