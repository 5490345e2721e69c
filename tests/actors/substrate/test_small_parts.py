"""Circuit, memory cache, errors, scripts, settings."""

import asyncio

import numpy as np
import pytest
from pydantic import ValidationError

from actors.substrate.build import build_embedder, build_substrate, read_key
from actors.substrate.cache import MemoryAnswers, request_key
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.extractive import ExtractiveSubstrate, compose
from actors.substrate.ports import Act, Depth, Material, Request, Role
from actors.substrate.settings import EmbedderSettings, ServerSettings, SubstrateSettings
from environment.circuit import Circuit
from tests.actors.substrate.scripted import Line, ScriptedEmbedder, ScriptedSubstrate


def request(text="hello", act=Act.BIND, author="operations"):
    return Request(act, author, (Material(Role.EVENT, text),))


def test_a_circuit_opens_probes_and_closes():
    circuit = Circuit(failures=2, cooldown=10)
    assert circuit.admits(0)
    circuit.failed(0)
    assert circuit.admits(1)
    circuit.failed(1)
    assert not circuit.admits(5)
    assert circuit.state(5) == "open"
    assert circuit.admits(11)
    assert not circuit.admits(11), "one probe at a time"
    circuit.failed(12)
    assert not circuit.admits(21)
    assert circuit.admits(22)
    circuit.gave_up()
    assert circuit.admits(22)
    circuit.succeeded()
    assert circuit.state(22) == "closed"
    circuit.failed(23)
    assert circuit.admits(23)


async def test_memory_keeps_what_was_used_last():
    cache = MemoryAnswers(rows=2)
    await cache.put({"a": b"1", "b": b"2"})
    await cache.get(["a"])
    await cache.put({"c": b"3"})
    assert await cache.get(["a", "b", "c"]) == {"a": b"1", "c": b"3"}


def test_what_makes_requests_equal():
    key = request_key(request(), "m", "1")
    assert request_key(request(author="another"), "m", "1") == key
    others = [
        request_key(request("hallo"), "m", "1"),
        request_key(request(act=Act.PLAN), "m", "1"),
        request_key(request(), "n", "1"),
        request_key(request(), "m", "2"),
        request_key(request("\ud800"), "m", "1"),
    ]
    assert len({key, *others}) == 6


async def test_a_script_answers_by_the_first_line_that_fits():
    script = ScriptedSubstrate(
        "first",
        Line("planned", when=lambda r: r.act is Act.PLAN),
        Line(lambda r: r.materials[0].text.upper(), times=1),
        Line("late", delay=0.01, fallback="as if it failed", times=1),
    )
    asked = [request("a"), request("b", Act.PLAN), request("c"), request("d"), request("e")]
    answers = [await script.generate(r) for r in asked]
    assert [a.text for a in answers] == ["first", "planned", "C", "late", compose(request("e"))]
    assert answers[3].fallback == "as if it failed"
    assert script.requests == asked
    assert script.status()["requests"] == 5


def test_scripted_vectors():
    embedder = ScriptedEmbedder({"east": [2, 0], "nowhere": [0, 0]}, dim=2)
    vectors = embedder.embed_now(["east", "nowhere", "other", "other", "", "\ud800"])
    assert vectors.shape == (6, 2)
    assert vectors[0].tolist() == [1, 0]
    assert not vectors[1].any()
    assert not vectors[4].any()
    assert (vectors[2] == vectors[3]).all()
    assert np.linalg.norm(vectors[2]) == pytest.approx(1)
    assert embedder.embed_now([]).shape == (0, 2)
    with pytest.raises(ValueError, match="shape"):
        ScriptedEmbedder({"x": [1, 2, 3]}, dim=2)


def test_the_default_needs_nothing():
    settings = SubstrateSettings()
    assert isinstance(build_substrate(settings, lambda: 0.0), ExtractiveSubstrate)
    assert isinstance(build_embedder(settings), WordLlamaEmbedder)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"kind": "openai"}, "must name a model"),
        ({"kind": "magic"}, "extractive"),
        ({"embedder": {"kind": "openai"}}, "must name the server's embedding model"),
        ({"embedder": {"dim": 300}}, "leave it out"),
        ({"server": {"base_url": "ftp://x"}}, "must begin with http"),
        ({"budget": {"tokens_per_day": -1}}, "greater than or equal"),
        ({"sever": {}}, "Extra inputs"),
    ],
)
def test_wrong_settings_say_what_would_be_right(wrong, why):
    with pytest.raises(ValidationError, match=why):
        SubstrateSettings.model_validate(wrong)


def test_a_server_for_vectors_needs_the_clock():
    settings = SubstrateSettings(embedder=EmbedderSettings(kind="openai", model="m"))
    with pytest.raises(ValueError, match="clock"):
        build_embedder(settings)


@pytest.mark.parametrize("content", [b"", b"two keys", b"a\nb", b"\xff", b"a\x00b"])
def test_an_unfit_key_file_is_refused_without_showing_it(tmp_path, content):
    path = tmp_path / "key"
    path.write_bytes(content)
    settings = SubstrateSettings(server=ServerSettings(api_key_file=path))
    with pytest.raises(ValueError, match="api_key_file") as caught:
        read_key(settings)
    assert "two keys" not in str(caught.value)
    path.unlink()
    with pytest.raises(ValueError, match="FileNotFoundError"):
        read_key(settings)


def test_the_deep_model_defaults_to_the_fast_one(tmp_path):
    settings = SubstrateSettings.model_validate({"kind": "openai", "fast": {"name": "small"}})
    substrate = build_substrate(settings, lambda: 0.0)
    status = substrate.status()
    assert (status["model"], status["model_deep"]) == ("small", "small")
    assert Depth.DEEP == "deep"
    asyncio.run(substrate.close())
