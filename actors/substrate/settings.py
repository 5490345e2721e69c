"""Configuration of what a mind thinks with."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from environment.config import Seconds, Section


class ModelSettings(Section):
    """A model on the server, and what it costs."""

    name: str = ""
    """Model name as the server knows it."""
    price_in: float = Field(default=0.0, ge=0)
    """Price of a million prompt tokens, in any currency as long as it is the same everywhere."""
    price_out: float = Field(default=0.0, ge=0)
    """Price of a million generated tokens."""


class ServerSettings(Section):
    """A server that speaks the OpenAI protocol (``/chat/completions``, ``/embeddings``)."""

    base_url: str = "http://127.0.0.1:11434/v1"
    """Address up to and including the version, for example ``https://models.example.org/v1``."""
    api_key_file: Path | None = None
    """File that holds the key and nothing else. The key is sent to ``base_url`` only and never logged or shown."""
    connect_timeout: Seconds = 5.0
    """Time to reach the server."""
    timeout: Seconds = 60.0
    """Time for one whole answer, from the first byte sent to the last received."""
    attempts: int = Field(default=3, ge=1, le=10)
    """Requests made for one answer, the first included, before another substrate answers."""
    backoff: Seconds = 0.5
    """Wait before the second attempt; doubles with each further one. Half of it is chance."""
    max_backoff: Seconds = 20.0
    """Longest wait between two attempts. A server that asks for more (``Retry-After``) is left alone that long."""
    max_concurrent: int = Field(default=4, ge=1)
    """Requests under way at once, of each actor process."""
    max_waiting: int = Field(default=64, ge=0)
    """Requests waiting for their turn, of each actor process; a further one is answered by rule at once."""
    max_body: int = Field(default=8_388_608, ge=1024)
    """Bytes of an answer; a longer one is dropped as nonsense."""
    failures_to_open: int = Field(default=5, ge=1)
    """Answers lost in a row after which the server is left alone."""
    cooldown: Seconds = 60.0
    """How long it is left alone, in wall time; then one request tries again."""
    stream: bool = False
    """Ask for answers as server-sent events."""
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    """Sampling temperature; null leaves it out, for models that refuse it."""
    structured: Literal["auto", "quotes", "form", "none"] = "auto"
    """Ask for answers by a JSON schema. ``auto``: in words of the model's own, until three of its last ten
    were refused; from then on it chooses which sentences of its material are quoted, which keeps small models true.
    ``quotes``: that from the beginning; ``form``: never; ``none``: no schema. A server that refuses one (HTTP 400 or
    422) is asked without from then on."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the server calls the limit of generated tokens."""
    proxy: str | None = None
    """Address of an HTTP proxy. Those of the environment are ignored."""

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError(f"base_url must begin with http:// or https://, not {value[:40]!r}")
        return value.rstrip("/")


class BudgetSettings(Section):
    """What a mind may spend, by the wall clock; in a replay by the history's.

    On one machine all actors draw on it as they need; on several each actor process has an equal share.
    """

    tokens_per_hour: int | None = Field(default=200_000, ge=0)
    """Prompt and generated tokens within any hour; null for no limit."""
    tokens_per_day: int | None = Field(default=2_000_000, ge=0)
    """Prompt and generated tokens within any day; null for no limit."""
    cost_per_day: float | None = Field(default=None, ge=0)
    """Cost within any day, in the currency of the prices; null for no limit."""


class EmbedderSettings(Section):
    """What turns texts into vectors. Those of two embedders do not mix: another one embeds anew what is live."""

    kind: Literal["wordllama", "openai", "onnx"] = "wordllama"
    """``wordllama``: static word vectors that come with the package; ``openai``: the configured server; ``onnx``: a
    sentence model on this machine, with ``pip install 'submind[onnx]'``."""
    model_file: Path | None = None
    """The ``onnx`` model. Where actors live on several machines, it is on each under this path."""
    tokenizer_file: Path | None = None
    """Its tokenizer, of Hugging Face's ``tokenizers``; null for ``tokenizer.json`` beside the model."""
    pooling: Literal["cls", "mean"] = "cls"
    """What of the model's answer is the vector: that of the first token, or the mean of all. The model's card says."""
    max_tokens: int = Field(default=256, ge=8, le=8192)
    """Tokens of a text that count with ``onnx``."""
    threads: int = Field(default=1, ge=1, le=64)
    """Threads of ``onnx`` in each process. With 1 the processes of a machine share one copy of the model."""
    query_prefix: str = ""
    """Put before what somebody searches for, where a model tells queries from passages by that."""
    model: str = ""
    """Embedding model as the server knows it."""
    dim: int = Field(default=256, ge=8, le=8192)
    """Length of the server's vectors; ``wordllama`` has 256, and ``onnx`` what its model has."""
    send_dim: bool = False
    """Ask the server for vectors of that length, for models that can shorten them."""
    price: float = Field(default=0.0, ge=0)
    """Price of a million tokens."""
    batch: int = Field(default=64, ge=1, le=2048)
    """Texts in one request."""
    max_chars: int = Field(default=2000, ge=16)
    """Characters of a text that count; the rest is not embedded."""

    @field_validator("model_file", "tokenizer_file")
    @classmethod
    def _is_the_same_everywhere(cls, value: Path | None) -> Path | None:
        return value.expanduser().absolute() if value is not None else None

    @model_validator(mode="after")
    def _is_whole(self) -> EmbedderSettings:
        if self.kind == "openai" and not self.model:
            raise ValueError("embedder.model must name the server's embedding model when embedder.kind is openai")
        if self.kind == "wordllama" and self.dim != 256:  # noqa: PLR2004 - the length of wordllama's vectors
            raise ValueError("embedder.dim is 256 with wordllama; leave it out")
        if self.kind == "onnx" and self.model_file is None:
            raise ValueError("embedder.model_file must name the model when embedder.kind is onnx")
        return self


class SubstrateSettings(Section):
    """What a mind thinks with."""

    kind: Literal["extractive", "openai"] = "extractive"
    """``extractive``: composition by rule, no model; ``openai``: a server, and ``extractive`` when that fails."""
    server: ServerSettings = ServerSettings()
    """The server, where one is used."""
    fast: ModelSettings = ModelSettings()
    """The model for most thoughts."""
    deep: ModelSettings = ModelSettings()
    """The model for conscious thoughts; the fast one where it has no name."""
    budget: BudgetSettings = BudgetSettings()
    """What may be spent."""
    cache_rows: int = Field(default=100_000, ge=0)
    """Answers kept so that the same request is never paid for twice; the least recently used go first."""
    embedder: EmbedderSettings = EmbedderSettings()
    """What turns texts into vectors."""

    @property
    def has_model(self) -> bool:
        """Whether a model finds words, and not the rule alone."""
        return self.kind != "extractive"

    @model_validator(mode="after")
    def _names_a_model(self) -> SubstrateSettings:
        if self.kind == "openai" and not self.fast.name:
            raise ValueError("substrate.fast.name must name a model of the server when substrate.kind is openai")
        return self
