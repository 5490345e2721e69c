"""The embedded default embedder: static word embeddings that come inside a wheel. No download, no GPU."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORDLIKE = re.compile(r"[^\W_]")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNHEARD = re.compile(r"[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_SLICE = 65_536


_MODEL = "l2_supercat"


@cache
def _wordllama() -> tuple[Any, NDArray[np.float16]]:
    """Tokenizer and ``(words, 256) float16`` table, opened once in a process.

    The table stays in its file, whose pages all processes of a machine share; wordllama itself, which would copy it
    into each of them, is not imported.
    """
    from tokenizers import Tokenizer  # noqa: PLC0415 - a process without an embedder does not need it

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordllama, whose word vectors are the default, is not installed")
    here = Path(spec.origin).parent
    tokenizer = Tokenizer.from_file(str(here / "tokenizers" / f"{_MODEL}_tokenizer_config.json"))
    tokenizer.no_padding()
    # Its cache holds whole texts, which hardly come twice: 41 MB once full, and a new text takes longer than without.
    tokenizer.model._resize_cache(0)  # noqa: SLF001 - no public way from a loaded one
    return tokenizer, _table(here / "weights" / f"{_MODEL}_256.safetensors")


def _table(file: Path) -> NDArray[np.float16]:
    """The one matrix of a safetensors file: eight bytes that say how long its JSON header is, the header, the data."""
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        (matrix,) = (told for name, told in json.loads(opened.read(size)).items() if name != "__metadata__")
    if matrix["dtype"] != "F16":
        raise ValueError(f"{file} holds {matrix['dtype']}, not F16")
    return np.asarray(np.memmap(file, np.float16, "r", 8 + size + matrix["data_offsets"][0], tuple(matrix["shape"])))


class WordLlamaEmbedder:
    """Mean of static token embeddings (wordllama ``l2_supercat``), L2-normalised.

    A pure function of each text alone: order and company in a batch change nothing; it may be called again anywhere.
    Only the first ``max_chars`` characters of a text count. Marks that nobody sees do not count. A text without a
    letter or digit has a zero row. Never raises for any ``str``.
    """

    DIM = 256

    def __init__(self, max_chars: int = 2000) -> None:
        self._max_chars = max_chars

    @property
    def dim(self) -> int:
        return self.DIM

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``embed_now``: it never suspends, and blocks for about 15 microseconds a text."""
        return self.embed_now(texts)

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, 256) float32``, each row L2-normalised or zero. Equal texts in a batch are computed once."""
        places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        distinct = self._embed_distinct([self._heard(text) for text in places])
        if len(places) == len(texts):
            return distinct
        return distinct[[places[text] for text in texts]]

    def _heard(self, text: str) -> str:
        text = text[: self._max_chars]
        if text.isprintable():
            return text
        return _UNHEARD.sub("", _UNSEEN.sub(" ", text))

    def _embed_distinct(self, texts: list[str]) -> NDArray[np.float32]:
        out = np.zeros((len(texts), self.DIM), np.float32)
        for start, part in _slices(texts):
            out[start : start + len(part)] = _sums(part)
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        np.divide(out, norms, out=out, where=norms > 0)
        return out


def _sum_of_one(text: str) -> NDArray[np.float32]:
    tokenizer, table = _wordllama()
    ids = tokenizer.encode(text, add_special_tokens=False).ids if _WORDLIKE.search(text) else []
    total: NDArray[np.float32] = _rows(table, ids).sum(axis=0, dtype=np.float32)
    return total


def _rows(table: NDArray[np.float16], ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
    return np.asarray(table[np.asarray(ids, np.int64)]).astype(np.float32)


def _slices(texts: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Runs of texts with their position, about ``_SLICE`` characters each, so that memory stays bounded."""
    start = size = 0
    for at, text in enumerate(texts):
        size += len(text)
        if size >= _SLICE:
            yield start, texts[start : at + 1]
            start, size = at + 1, 0
    if start < len(texts):
        yield start, texts[start:]


def _sums(texts: list[str]) -> NDArray[np.float32]:
    """Sum of the token embeddings of each text; in any company the same bits."""
    if len(texts) == 1:
        return _sum_of_one(texts[0])[None]
    tokenizer, table = _wordllama()
    encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    ids = [e.ids if _WORDLIKE.search(text) else [] for e, text in zip(encoded, texts, strict=True)]
    rows = _rows(table, np.fromiter(itertools.chain.from_iterable(ids), np.int64))
    ends = np.cumsum([len(one) for one in ids])
    return np.stack([part.sum(axis=0, dtype=np.float32) for part in np.split(rows, ends[:-1])])
