"""Circuit, memory cache, errors, scripts, settings."""

import pytest
from pydantic import ValidationError

from actors.substrate.build import build_embedder, build_substrate, read_key
from actors.substrate.cache import MemoryAnswers, request_key
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.extractive import ExtractiveSubstrate
from actors.substrate.ports import Act, Material, Request, Role
from actors.substrate.settings import EmbedderSettings, ServerSettings, SubstrateSettings
from environment.circuit import Circuit


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
