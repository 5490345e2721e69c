"""The same request is never paid for twice: a bounded cache of answers, and one flight for equal requests."""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Protocol

from actors.substrate.ports import Depth, Generation, Request, Substrate
from environment.errors import SubliminalError
from environment.latest import Latest


class AnswerCache(Protocol):
    """A bounded store of paid answers, shared by the processes of a mind where it is durable."""

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Those of ``keys`` that are there."""

    async def put(self, answers: Mapping[str, bytes]) -> None:
        """Keep answers; the least recently used make room."""


class MemoryAnswers:
    """Answers kept in this process, at most ``rows``."""

    def __init__(self, rows: int = 10_000) -> None:
        self._answers = Latest[str, bytes](rows)

    async def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        found = {key: self._answers[key] for key in keys if key in self._answers}
        for key in found:
            self._answers.move_to_end(key)
        return found

    async def put(self, answers: Mapping[str, bytes]) -> None:
        self._answers.update(answers)


def request_key(request: Request, model: str, prompts: str) -> str:
    """What makes two requests equal: the model, the version of the prompts, and all of the request but its author."""
    asked = asdict(replace(request, author=""))
    whole = json.dumps([model, prompts, asked], sort_keys=True, ensure_ascii=True)
    return "g:" + hashlib.sha256(whole.encode()).hexdigest()


class CachingSubstrate:
    """A substrate in front of which answers are remembered.

    Guarantees: an answer that was paid for is not paid for again while the cache holds it; equal requests under way at
    the same time share one; a fallback's answer is not kept. A cache that fails costs money, not thoughts: it is passed
    by and counted.
    """

    def __init__(self, inner: Substrate, cache: AnswerCache, model_of: Callable[[Depth], str], prompts: str) -> None:
        self._inner = inner
        self._cache = cache
        self._model_of = model_of
        self._prompts = prompts
        self._flights: dict[str, asyncio.Task[Generation]] = {}
        self._hits = self._shared = self._failures = 0

    async def generate(self, request: Request) -> Generation:
        key = request_key(request, self._model_of(request.depth), self._prompts)
        if (known := await self._known(key)) is not None:
            self._hits += 1
            return known
        flight = self._flights.get(key)
        if flight is not None:
            self._shared += 1
            shared = await asyncio.shield(flight)
            return replace(shared, cached=not shared.fallback, tokens_in=0, tokens_out=0, cost=0.0)
        flight = asyncio.create_task(self._fly(key, request))
        self._flights[key] = flight
        flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return await asyncio.shield(flight)

    async def _fly(self, key: str, request: Request) -> Generation:
        answer = await self._inner.generate(request)
        if not answer.fallback:
            kept = json.dumps({"text": answer.text, "model": answer.model}).encode()
            await self._forgiving(self._cache.put({key: kept}))
        return answer

    async def _known(self, key: str) -> Generation | None:
        found = await self._forgiving(self._cache.get([key])) or {}
        try:
            kept = json.loads(found[key])
            return Generation(text=str(kept["text"]), model=str(kept["model"]), cached=True)
        except (KeyError, ValueError, TypeError):
            return None

    async def _forgiving(self, call: Awaitable[dict[str, bytes] | None]) -> dict[str, bytes] | None:
        try:
            return await call
        except (SubliminalError, OSError):
            self._failures += 1
            return None

    def status(self) -> dict[str, float | str]:
        return {
            **self._inner.status(),
            "cache_hits": self._hits,
            "cache_shared": self._shared,
            "cache_failures": self._failures,
        }

    async def close(self) -> None:
        """Ends what is under way, then the substrate behind."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        await self._inner.close()
