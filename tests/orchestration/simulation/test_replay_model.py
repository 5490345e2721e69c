"""A replay with a model: on a real server that speaks the OpenAI protocol, asked over HTTP."""

from environment.messages import NewPerception
from orchestration.settings import Settings
from orchestration.simulation.replay import replay
from tests.actors.substrate.conftest import Day, _model_server, server  # noqa: F401 - fixtures

LINES = [
    (0.0, "desk", "the pump at berth 4 leaks, Ada looks after it"),
    (60.0, "yard", "pump at berth 4 leaks again, the seal is worn"),
    (120.0, "operator", "who looks after the pump at berth 4?"),
]
HISTORY = [NewPerception(source, 1e9 + at, 1e9 + at, text=text) for at, source, text in LINES]


async def lived(server):  # noqa: F811 - a fixture
    model = {"kind": "openai", "server": {"base_url": server.url, "attempts": 1}, "fast": {"name": "small"}}
    told = {}
    settings = Settings(substrate=model)
    entries = [entry async for entry in replay(settings, HISTORY, ended=told.update)]
    return [(entry.worded_by, entry.text) for entry in entries if entry.kind == "answer"], told


async def test_a_slow_model_is_waited_for_in_virtual_time(server):  # noqa: F811
    server.always = Day(text="Ada looks after it.", delay=4.2)  # longer than somebody who waits would be kept waiting
    answers, told = await lived(server)
    assert answers == [("small", "Ada looks after it.")]
    assert told["generations_total"] == len(server.seen) > 0
    assert not told.get("fallbacks_total")


async def test_what_a_model_makes_up_is_counted_by_cause_and_said_by_rule(server):  # noqa: F811
    server.always = Day(text="Bob 77 looks after it.")
    ((by, text),), told = await lived(server)
    assert (by, "Ada" in text) == ("rule", True)
    assert told["fallbacks_total"] == told["fallback_causes_total:number"] == told["generations_total"] > 0
    assert told["tokens_in_total"] == 100 * len(server.seen)
