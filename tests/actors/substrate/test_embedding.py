"""The embedded embedder: what it promises of every text there is."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.substrate.embedding import WordLlamaEmbedder

EMBEDDER = WordLlamaEmbedder()
DAY = Path(__file__).parents[3] / "examples" / "day.jsonl"


def day() -> list[str]:
    return [t for line in DAY.read_text().splitlines() if (t := json.loads(line).get("text"))]


def cosine(a: str, b: str) -> float:
    x, y = EMBEDDER.embed_now([a, b])
    return float(x @ y)


def test_it_is_wordllama_itself():
    import wordllama

    bare = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    texts = day()[:200]
    np.testing.assert_allclose(EMBEDDER.embed_now(texts), bare.embed(texts, norm=True), atol=1e-5)


@pytest.mark.parametrize("text", ["", "   ", "!!! --- ???", "\x00\x01\x02", "\u200f\u202e", "…", "\ud800", "___"])
def test_nothing_to_say_is_a_zero_row(text):
    assert not EMBEDDER.embed_now([text]).any()


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "\x00x" * 500_000, "\u202eroom two", "\ud83d alone", "x\ufeff", "ſ" * 99_999, "z͑ͫ̓ͪ" * 9999]
)
def test_hostile_texts_have_vectors(text):
    started = time.process_time()  # the machine may be others' meanwhile
    vector = EMBEDDER.embed_now([text])[0]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
    assert time.process_time() - started < 5


def test_only_the_first_characters_count():
    short = WordLlamaEmbedder(max_chars=10)
    a, b = short.embed_now(["0123456789 compressor", "0123456789 invoice"])
    assert (a == b).all()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=80), max_size=12), st.randoms(use_true_random=False))
def test_company_changes_nothing(texts, random):
    together = EMBEDDER.embed_now(texts)
    order = list(range(len(texts)))
    random.shuffle(order)
    assert (EMBEDDER.embed_now([texts[i] for i in order]) == together[order]).all()
    for text, row in zip(texts, together, strict=True):
        assert (EMBEDDER.embed_now([text])[0] == row).all()
        assert np.isfinite(row).all()
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-4) or not row.any()


def test_importing_is_cheap_and_loading_leaves_the_log_alone():
    code = (
        "import sys, logging, asyncio\n"
        "from actors.substrate.embedding import WordLlamaEmbedder\n"
        "assert 'wordllama' not in sys.modules and 'scipy' not in sys.modules\n"
        "e = WordLlamaEmbedder(); assert e.dim == 256 and 'wordllama' not in sys.modules\n"
        "asyncio.run(e.embed(['hello']))\n"
        "assert logging.getLogger().handlers == [] and logging.getLogger().level == logging.WARNING\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
