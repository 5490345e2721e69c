"""An embedder of one's own: any ONNX sentence model with its tokenizer, on this machine's processors."""

import asyncio
import hashlib
import os
import re
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.substrate.errors import UnusableModel
from actors.substrate.plain import plain
from actors.substrate.settings import EmbedderSettings

_WORDLIKE = re.compile(r"[^\W_]")
_FED = {"input_ids", "attention_mask", "token_type_ids"}
EXTRA = "onnx"
"""What ``pip install 'submind[onnx]'`` brings along."""


def model_files(settings: EmbedderSettings) -> tuple[Path, Path]:
    """Model and tokenizer; the latter is ``tokenizer.json`` beside the model where none is named.

    Raises ``UnusableModel`` where one of them is no file.
    """
    model = settings.model_file or Path()
    files = model, settings.tokenizer_file or model.with_name("tokenizer.json")
    for name, file in zip(("model_file", "tokenizer_file"), files, strict=True):
        if not file.is_file():
            raise UnusableModel(f"substrate.embedder.{name} {file} is not a file")
    return files


@cache
def fingerprint(settings: EmbedderSettings) -> str:
    """Names the vectors that these settings make. Raises as ``model_files``."""
    read = hashlib.sha256()
    for file in model_files(settings):
        read.update(file.read_bytes())
    return f"onnx {read.hexdigest()[:20]} {settings.pooling} {settings.max_tokens}"


@cache
def _opened(settings: EmbedderSettings) -> tuple[Any, Any]:
    """Tokenizer and session, opened once in a process. With one thread it has no other, so it can be forked."""
    model, words = model_files(settings)
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it would report to its makers, from a thread
    try:
        runtime, tokenizers = import_module("onnxruntime"), import_module("tokenizers")
    except ImportError as error:
        raise UnusableModel(f"{error.name} is missing: pip install 'submind[{EXTRA}]'") from None
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = settings.threads, 1
    options.log_severity_level = 3
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(words))
    except Exception as error:  # noqa: BLE001 - a bare Exception is what the library raises
        raise UnusableModel(f"substrate.embedder.tokenizer_file {words} is no tokenizer: {error}") from None
    try:
        session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 - as above
        raise UnusableModel(f"substrate.embedder.model_file {model} is no ONNX model: {error}") from None
    inputs = {one.name for one in session.get_inputs()}
    if "input_ids" not in inputs or inputs - _FED:
        told = ", ".join(sorted(inputs))
        raise UnusableModel(f"substrate.embedder.model_file {model} asks for {told}: a sentence model takes input_ids")
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.max_tokens)
    return tokenizer, session


class OnnxEmbedder:
    """The first vector of a text's tokens (``cls``) or their mean, L2-normalised.

    A pure function of each text alone. Texts are computed one by one: a quantised model scales by all that is in a
    batch, so company would move a vector (bge-small int8: cosine .991), and on a processor a batch of eight is only a
    third faster. Texts without a letter or digit have zero rows. Raises ``UnusableModel`` where it is made.
    """

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._tokenizer, self._session = _opened(settings)
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._dim = len(self._vector("word"))
        self._one_at_a_time = asyncio.Lock()

    @property
    def dim(self) -> int:
        return self._dim

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dim) float32``, on a thread."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same, at once: about 10 milliseconds a text of a line. Equal texts are computed once."""
        cleaned = [plain(text, self._settings.max_chars) for text in texts]
        known = {text: self._vector(text) for text in dict.fromkeys(cleaned) if _WORDLIKE.search(text)}
        nothing = np.zeros(self._dim, np.float32)
        return np.stack([known.get(text, nothing) for text in cleaned]) if cleaned else np.zeros((0, self._dim), "f4")

    def _vector(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(text).ids], np.int64)
        fed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        told = self._session.run(None, {name: fed[name] for name in self._inputs})[0]
        if told.ndim not in {2, 3} or len(told) != 1:
            raise UnusableModel(f"substrate.embedder.model_file answers with an array of {told.ndim} dimensions, not 3")
        vector = told[0]
        if told.ndim == 3:  # noqa: PLR2004 - one of each token; else the model pools by itself
            vector = vector[0] if self._settings.pooling == "cls" else vector.mean(axis=0)
        vector = vector.astype(np.float32)
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), np.float32)
