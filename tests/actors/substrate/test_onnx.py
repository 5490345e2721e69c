"""A sentence model of one's own: real ONNX models, small ones made here."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from actors.substrate.build import build_embedder
from actors.substrate.errors import UnusableModel
from actors.substrate.onnx import OnnxEmbedder
from actors.substrate.settings import EmbedderSettings, SubstrateSettings
from tests.actors.substrate.models import tiny_model


def chosen(folder, **more) -> EmbedderSettings:
    return EmbedderSettings(kind="onnx", model_file=folder / "model.onnx", pooling="mean", **more)


async def test_meaning_shows_in_whatever_company():
    embedder = build_embedder(SubstrateSettings(embedder=chosen(tiny_model(24))))
    texts = ["room 2 compressor clicks", "the compressor of room 2", "a letter for the fund", "...", ""]
    vectors = await embedder.embed(texts)
    assert vectors.shape == (5, embedder.dim) == (5, 24)
    assert vectors.dtype == np.float32
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0, 0], abs=1e-5)
    for text, vector in zip(texts, vectors, strict=True):
        assert ((await embedder.embed([text]))[0] == vector).all()
    assert (await embedder.embed([])).shape == (0, 24)


async def test_pooling_takes_the_first_token_or_all_and_a_model_may_pool_by_itself():
    first = OnnxEmbedder(chosen(tiny_model(24)).model_copy(update={"pooling": "cls"}))
    mean, own = OnnxEmbedder(chosen(tiny_model(24))), OnnxEmbedder(chosen(tiny_model(24, pooled=True)))
    word, more = "compressor", "compressor of room 2"
    assert first.embed_now([more]) == pytest.approx(first.embed_now([word]))
    assert mean.embed_now([more]) == pytest.approx(own.embed_now([more]), abs=1e-6)
    assert float((mean.embed_now([more]) @ mean.embed_now([word]).T).item()) < 0.9


def test_only_so_many_tokens_count():
    embedder = OnnxEmbedder(chosen(tiny_model(24), max_tokens=8))
    eight = "the compressor of room 2 is too loud"
    assert embedder.embed_now([eight + " and clicks"]) == pytest.approx(embedder.embed_now([eight]))


def test_what_is_wrong_is_said(tmp_path, monkeypatch):
    with pytest.raises(ValidationError, match="model_file must name the model"):
        EmbedderSettings(kind="onnx")
    with pytest.raises(UnusableModel, match=r"model_file .*model\.onnx is not a file"):
        OnnxEmbedder(chosen(tmp_path))
    (tmp_path / "model.onnx").write_bytes(b"no model")
    with pytest.raises(UnusableModel, match=r"tokenizer_file .*tokenizer\.json is not a file"):
        OnnxEmbedder(chosen(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(UnusableModel, match="is no tokenizer"):
        OnnxEmbedder(chosen(tmp_path))
    right = tiny_model(24) / "tokenizer.json"
    with pytest.raises(UnusableModel, match="is no ONNX model"):
        OnnxEmbedder(chosen(tmp_path, tokenizer_file=right))
    with pytest.raises(UnusableModel, match="asks for pixels: a sentence model takes input_ids"):
        OnnxEmbedder(chosen(tiny_model(24, fed="pixels")))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert importlib.util.find_spec("tokenizers")
    with pytest.raises(UnusableModel, match=r"onnxruntime is missing: pip install 'submind\[onnx\]'"):
        OnnxEmbedder(chosen(tiny_model(25)))


def test_loading_a_model_begins_no_thread_so_that_a_process_can_be_forked_from_it():
    code = f"""
import os, numpy
from actors.substrate.onnx import OnnxEmbedder
from actors.substrate.settings import EmbedderSettings
before = os.listdir("/proc/self/task")
made = OnnxEmbedder(EmbedderSettings(kind="onnx", model_file={str(tiny_model(24) / "model.onnx")!r}))
assert made.embed_now(["cold"]).any()
assert os.listdir("/proc/self/task") == before
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
