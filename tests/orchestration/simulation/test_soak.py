"""Days on end: what is held stays level. ``SUBMIND_TEST_SOAK=30`` lives through a month at one perception a second."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DAYS = int(os.environ.get("SUBMIND_TEST_SOAK", "0"))


@pytest.mark.soak
@pytest.mark.timeout(7200 if DAYS else 300)
def test_nothing_that_is_held_grows_with_age():
    options = ["--days", str(DAYS)] if DAYS else ["--days", "12", "--per-second", "0.03"]
    command = [sys.executable, ROOT / "benchmarks" / "soak.py", "--json", *options]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    flat = json.loads(done.stdout)["flat"]
    assert flat["live_traces"] <= 1.3
    assert flat["connections"] <= 1.4
    assert flat["memory_mb"] <= 1.3
    assert flat["stored_mb"] <= 1.3, "what a day adds is the same"
