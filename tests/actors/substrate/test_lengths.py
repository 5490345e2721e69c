"""Vectors tell by their length whose they are."""

import pytest

from actors.substrate.build import build_embedder
from actors.substrate.lengths import LENGTHS, name_of, told_apart
from actors.substrate.settings import EmbedderSettings, SubstrateSettings
from environment.stores.sqlite import open_stores
from tests.actors.substrate.models import tiny_model


def chosen(folder) -> EmbedderSettings:
    return EmbedderSettings(kind="onnx", model_file=folder / "model.onnx", pooling="mean")


async def test_no_two_embedders_of_a_mind_have_one_length(tmp_path):
    stores = await open_stores(tmp_path, "mind")
    default, one, other = EmbedderSettings(), chosen(tiny_model(256)), chosen(tiny_model(256, seed=1))
    lengths = []
    for settings in (default, one, other, one, default):
        embedder = build_embedder(SubstrateSettings(embedder=settings))
        told, said = await told_apart(embedder, settings, stores.collections)
        await stores.commit(said, 0)
        lengths.append(told.dim)
        bare, longer = await embedder.embed(["cold", "freezer"]), await told.embed(["cold", "freezer"])
        assert longer.shape == (2, told.dim)
        assert longer @ longer.T == pytest.approx(bare @ bare.T)
    assert lengths == [256, 257, 258, 257, 256]
    assert told is embedder
    assert await LENGTHS.all_of(stores.collections) == {name_of(one): 257, name_of(other): 258}
    await stores.close()
