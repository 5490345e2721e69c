"""A substrate and an embedder that do what a script says, for tests and the simulator."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actors.substrate.extractive import compose
from actors.substrate.ports import Generation, Request


@dataclass(slots=True)
class Line:
    """One line of a script: which requests it answers, and how."""

    say: str | Callable[[Request], str] = ""
    """The answer; empty for composition by rule."""
    when: Callable[[Request], bool] | None = None
    """Which requests it is for; None for any."""
    times: int | None = None
    """How many requests it answers before it is used up; None for all."""
    delay: float = 0.0
    """Seconds of the event loop before the answer; 0 does not suspend."""
    fallback: str = ""
    """As if the model had failed for this reason."""
    error: Exception | None = None
    """Raised instead of an answer: what no substrate may do, so that a shell can be tested against it."""


class ScriptedSubstrate:
    """Answers each request by the first line that fits and is not used up, else by rule. Keeps all requests."""

    MODEL = "scripted"

    def __init__(self, *lines: Line | str) -> None:
        """A bare string is a line that answers one request, whatever it is: strings alone answer in their order."""
        self._lines = [Line(line, times=1) if isinstance(line, str) else line for line in lines]
        self.requests: list[Request] = []

    async def generate(self, request: Request) -> Generation:
        self.requests.append(request)
        line = next((ln for ln in self._lines if ln.times != 0 and (ln.when is None or ln.when(request))), Line())
        if line.times is not None:
            line.times -= 1
        if line.delay > 0:
            await asyncio.sleep(line.delay)
        if line.error is not None:
            raise line.error
        text = line.say(request) if callable(line.say) else line.say
        return Generation(text or compose(request), self.MODEL, fallback=line.fallback)

    def status(self) -> dict[str, float | str]:
        return {"model": self.MODEL, "requests": len(self.requests)}

    async def close(self) -> None:
        """Nothing to release."""


class ScriptedEmbedder:
    """The vectors given for the texts given; for any other text a unit vector that depends on the text alone."""

    def __init__(self, vectors: Mapping[str, Sequence[float]] | None = None, dim: int = 8) -> None:
        self._vectors = {text: np.asarray(v, np.float32) for text, v in (vectors or {}).items()}
        self._dim = dim
        for text, vector in self._vectors.items():
            if vector.shape != (dim,):
                raise ValueError(f"the vector for {text!r} has shape {vector.shape}, not ({dim},)")

    @property
    def dim(self) -> int:
        return self._dim

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_now(texts)

    def embed_now(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As ``embed``, for callers that are not coroutines."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self._dim)

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = self._vectors.get(text)
        if vector is None and text.strip():
            seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8])
            vector = np.random.default_rng(seed).standard_normal(self._dim).astype(np.float32)
        if vector is None:
            return np.zeros(self._dim, np.float32)
        norm = float(np.linalg.norm(vector))
        return vector / np.float32(norm) if norm > 0 else vector
