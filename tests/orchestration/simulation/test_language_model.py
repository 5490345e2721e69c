"""A replay in the words of a real language model, of 135 million parameters: most of what it says can be used."""

import re
import subprocess
from pathlib import Path

import pytest

from actors.attention.pacing import Budget
from actors.substrate.sentences import words
from environment.messages import EntryKind
from orchestration.settings import Settings
from orchestration.simulation.replay import replay
from tests.orchestration.simulation.histories import day

ROOT = Path(__file__).resolve().parents[3]
NAME = "smollm2-135m"


@pytest.fixture(scope="module")
def language_model():
    """The address of a server, in the environment that ``.ci/model`` has made."""
    command = [ROOT / "build/model/bin/python", ROOT / "tests/servers/language_model.py", NAME]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().strip()
        assert address, "the server does not begin"
        yield f"{address}/v1"
        server.kill()


@pytest.mark.timeout(1200)
async def test_most_of_what_a_small_model_says_is_used(language_model):
    server = {"base_url": language_model, "timeout": 120, "attempts": 1, "structured": "quotes"}
    model = {"kind": "openai", "server": server, "fast": {"name": NAME}}
    settings = Settings(substrate=model)
    history, told = [line for line in day(60, 260) if line.text], {}
    budget = Budget(12, len(history), history[-1].time - history[0].time)
    entries = [entry async for entry in replay(settings, history, budget=budget, ended=told.update)]
    worded, ruled = told["worded_total"], told.get("fallbacks_total", 0)
    assert "fallback_causes_total:server" not in told, "it knows a form that it is asked for"
    assert worded >= 5
    assert told["matters_summed_total"] >= 1
    assert worded / (worded + ruled) >= 0.7, told
    assert told["tokens_out_total"] > 4 * worded
    assert NAME in {entry.worded_by for entry in entries}
    known = {word for perception in history for word in words(f"{perception.source} {perception.text}")}
    quotes = [quote for entry in entries for quote in re.findall("“([^”]+)", entry.text) if entry.worded_by == NAME]
    assert quotes
    assert {word for quote in quotes for word in words(quote)} <= known


async def test_what_it_judges_costs_of_the_one_budget_and_nothing_is_lost(language_model):
    server = {"base_url": language_model, "timeout": 120, "attempts": 1}
    budget = {"tokens_per_hour": None, "tokens_per_day": 30_000}
    model = {"kind": "openai", "server": server, "fast": {"name": NAME}, "budget": budget}
    settings = Settings(substrate=model, attention={"judge": 4.0, "judgements_per_hour": 4.0})
    history, told = [line for line in day(60, 120) if line.text], {}
    total = Budget(8, len(history), history[-1].time - history[0].time)
    entries = [entry async for entry in replay(settings, history, budget=total, ended=told.update)]
    missing = {name.partition(":")[2]: n for name, n in told.items() if name.startswith("judgements_missing_total")}
    assert told["judgements_total"] >= 3, told
    assert set(missing) <= {"limit", "budget", "form"}, "it knows a form that it is asked for, and none is lost"
    assert told["tokens_in_total"] + told["tokens_out_total"] <= 30_000
    assert len([entry for entry in entries if entry.kind is EntryKind.THOUGHT]) >= 4
