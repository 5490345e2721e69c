"""The shared environment finds what nobody was told, and leaves connections by which it is told the next time."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ways():
    command = [sys.executable, ROOT / "benchmarks" / "stigmergy.py", "--json", "--seeds", "2", "--stories", "60"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["ways"]


def test_some_stories_are_never_found_without_crawling_and_are_with_it(ways):
    blind, seeing = ways["without crawling"], ways["with crawling"]
    for half in ("first", "second"):
        assert blind[f"stories, {half} half"] >= 10
        assert seeing[f"found, {half} half"] >= blind[f"found, {half} half"] + 0.25


def test_the_connections_that_crawling_leaves_tell_both_halves_to_one(ways):
    assert ways["without crawling"]["told of both, second half"] == 0
    assert ways["with crawling"]["told of both, second half"] >= 0.15
    after = ways["first half only"]
    assert after["told of both, second half"] >= 0.1, "nobody crawls any more, and still it is told directly"
