"""What whoever answers readers thinks with."""

import pytest

from actors.substrate.build import build_embedder
from actors.substrate.embedding import WordLlamaEmbedder
from actors.substrate.lengths import LENGTHS
from actors.substrate.settings import EmbedderSettings, SubstrateSettings
from environment.ports import WriteTrace
from orchestration.embedding import LazyEmbedder
from orchestration.settings import Settings
from orchestration.view.mind import MindView, ViewContext
from tests.actors.substrate.models import tiny_model
from tests.environment.stores.making import NOON, perception, trace


class Noted:
    """An embedder that notes what it is given."""

    dim = 256

    def __init__(self):
        self.given = []

    async def embed(self, texts):
        self.given += texts
        return WordLlamaEmbedder().embed_now(texts)


async def test_what_is_looked_for_has_the_prefix_of_a_query_and_what_is_found_has_none(stores):
    await stores.perceptions.append([perception(1, text="the boiler hums"), perception(2, text="lunch is at noon")])
    embedder = Noted()
    around = ViewContext(query_prefix="query: ")
    view = MindView(stores, embedder, mind="mind", clock=lambda: NOON, wall=lambda: NOON, surroundings=around)
    await view.recall("boiler", 5)
    await view.search("room 2", 5)
    assert sorted(embedder.given) == ["lunch is at noon", "query: boiler", "query: room 2", "the boiler hums"]


async def test_vectors_have_the_length_that_they_have_in_the_mind(stores):
    chosen = EmbedderSettings(kind="onnx", model_file=tiny_model(24) / "model.onnx", pooling="mean")
    await stores.commit([LENGTHS.write("another", 24)], 0)
    settings = Settings(substrate=SubstrateSettings(embedder=chosen))
    lazy = LazyEmbedder(settings, stores.collections)
    assert lazy.dim == 0
    await stores.commit([WriteTrace(trace(1))])
    view = MindView(stores, lazy, mind="mind", clock=lambda: NOON, wall=lambda: NOON)
    assert [found.id for found, _ in await view.live()] == [trace(1).id]  # the first that asks for its length
    assert lazy.dim == 25
    (query,) = await lazy.embed(["compressor of room 2"])
    (passage,) = await build_embedder(settings.substrate).embed(["compressor of room 2"])
    assert query == pytest.approx([*passage, 0.0])
    assert await view.search("room 2", 5) == []  # the trace is another embedder's, and nobody has embedded it anew


async def test_the_default_is_not_loaded_for_its_length(stores):
    lazy = LazyEmbedder(Settings(), stores.collections)
    assert lazy.dim == 256
    assert lazy._inner is None


async def test_without_a_fit_key_words_find_it(stores, tmp_path):
    await stores.perceptions.append([perception(1, text="the boiler hums")])
    server = {"base_url": "http://127.0.0.1:9/v1", "api_key_file": tmp_path / "none"}
    chosen = SubstrateSettings(server=server, embedder={"kind": "openai", "model": "small"})
    lazy = LazyEmbedder(Settings(substrate=chosen), stores.collections)
    view = MindView(stores, lazy, mind="mind", clock=lambda: NOON, wall=lambda: NOON)
    assert [one.text for one in await view.recall("boiler", 5)] == ["the boiler hums"]
