"""Thinking and embedding with a server that speaks the OpenAI protocol."""

import asyncio
import hashlib
import math
import random
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from actors.substrate.budget import Account, Hold
from actors.substrate.cache import AnswerCache
from actors.substrate.errors import AttemptFailed, BudgetSpent, SubstrateError, SubstrateUnavailable
from actors.substrate.extractive import ExtractiveSubstrate, compose
from actors.substrate.grounding import Ungrounded, ungrounded
from actors.substrate.judging import judgements
from actors.substrate.plain import plain
from actors.substrate.ports import Act, Depth, Generation, Request
from actors.substrate.prompts import forms, most_tokens, prompt
from actors.substrate.protocol import Answer, ModelServer, read_chat, read_chat_stream, read_vectors
from actors.substrate.quoting import Choices, choices, chosen
from actors.substrate.settings import EmbedderSettings, ModelSettings, SubstrateSettings
from environment.circuit import Circuit
from environment.errors import SubliminalError

_MILLION = 1e6
_MISFITS = frozenset({400, 422})
"""What a server answers that does not know the form which it is asked for; some answer 500, and name it."""
_LATEST, _UNTRUE = 10, 3
"""Of so many answers in a model's own words so many are refused before it is held to quotes."""
_NOTHING = Ungrounded("words", "answer chose nothing that stands in its material")
_NO_RATING = Ungrounded("form", "answer rates nothing that it was asked of")
_WORDLIKE = re.compile(r"[^\W_]")


@dataclass(slots=True)
class _Tally:
    """What has happened so far, for ``status``."""

    requests: int = 0
    attempts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    fallbacks: int = 0
    refused: int = 0
    last_error: str = ""


class OpenAISubstrate:
    """Asks a model; where that fails, or the budget is spent, composes by rule instead and says so.

    Guarantees: ``generate`` always answers and never raises (cancelling apart); the account never goes below zero while
    the server generates no more than it was allowed to; after ``failures_to_open`` lost answers in a row the server is
    left alone for ``cooldown`` seconds of wall time. What it says that stands nowhere in its material is not passed on:
    it is paid for, counted as refused, and the rule answers. Who keeps being refused only chooses what is quoted.
    """

    def __init__(
        self,
        settings: SubstrateSettings,
        key: str,
        account: Account,
        chance: random.Random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._server = ModelServer(settings.server, key, chance)
        self._account = account
        self._clock = clock
        self._circuit = Circuit(settings.server.failures_to_open, settings.server.cooldown)
        self._rule = ExtractiveSubstrate()
        self._tally = _Tally()
        self._refused: defaultdict[str, deque[bool]] = defaultdict(lambda: deque(maxlen=_LATEST))
        """Of the latest answers of each model in words of its own."""
        self._form = -1 if settings.server.structured == "none" else 0
        """Which of the ways to ask for a form the server knows."""

    def model(self, depth: Depth) -> ModelSettings:
        """The model asked at this depth."""
        deep = self._settings.deep
        return deep if depth is Depth.DEEP and deep.name else self._settings.fast

    def _quotes(self, model: ModelSettings) -> bool:
        """Whether a model is held to sentences of its material: where that is set, or it keeps making things up."""
        way = self._settings.server.structured
        return self._form != -1 and (way == "quotes" or (way == "auto" and sum(self._refused[model.name]) >= _UNTRUE))

    async def generate(self, request: Request) -> Generation:
        self._tally.requests += 1
        judges = request.act is Act.JUDGE
        quotes = not judges and self._quotes(self.model(request.depth))
        parts = choices(request) if quotes else {}
        if quotes and not parts:
            return await self._rule.generate(request)
        if not self._circuit.admits(self._clock()):
            return await self._fall_back(request, "server", "server left alone after repeated failures")
        try:
            answer = await self._ask(request, parts)
        except AttemptFailed as error:
            longest = self._settings.server.max_backoff
            asked = error.retry_after or 0.0
            self._circuit.failed(self._clock(), asked if asked > longest else 0.0)
            return await self._fall_back(request, "server", str(error))
        except (BudgetSpent, SubliminalError, ValueError) as error:
            self._circuit.gave_up()
            return await self._fall_back(request, "budget", str(error))
        except BaseException:
            self._circuit.gave_up()
            raise
        self._circuit.succeeded()
        if (quoted := chosen(answer.text, request, parts)) is not None:
            return replace(answer, text=compose(quoted))
        if judges:
            made_up = None if judgements(answer.text, request) else _NO_RATING
        else:
            made_up = _NOTHING if parts and answer.text.startswith("{") else ungrounded(answer.text, request)
            self._refused[answer.model].append(made_up is not None)
        if made_up is not None:
            self._tally.refused += 1
            ruled = await self._fall_back(request, *made_up)
            return replace(ruled, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out, cost=answer.cost)
        return answer

    async def _ask(self, request: Request, parts: Choices) -> Generation:
        """The model's answer, after as many attempts as it takes; each is held on the account before it is sent."""
        model, messages = self.model(request.depth), prompt(request)
        ways = forms(parts, request)[self._form :]
        most = most_tokens(messages, ways[0])
        answer, hold = Answer("", None), Hold(0, 0, (0, 0, 0))
        async for attempt in self._server.retrying():
            with attempt:
                cost = _cost(model, most, request.max_tokens)
                hold = await self._account.hold(most + request.max_tokens, cost)
                answer = await self._attempt(model, messages, ways, request, hold)
        return await self._booked(answer, hold, model, most)

    async def _attempt(
        self,
        model: ModelSettings,
        messages: list[dict[str, str]],
        ways: list[dict[str, object]],
        request: Request,
        hold: Hold,
    ) -> Answer:
        server = self._settings.server
        body: dict[str, object] = {"model": model.name, "messages": messages}
        body[server.limit_field] = request.max_tokens
        if server.temperature is not None:
            body["temperature"] = server.temperature
        if server.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        try:
            raw = await self._post(body, ways)
            return read_chat_stream(raw) if server.stream else read_chat(raw)
        except AttemptFailed as error:
            self._tally.last_error = str(error)
            if error.billed:  # the hold stands: the server may have charged for all of it
                self._tally.cost += hold.cost
            else:
                await self._account.settle(hold, 0, 0.0)
            raise

    async def _post(self, body: dict[str, object], ways: list[dict[str, object]]) -> bytes:
        """The answer in the first of the forms that the server knows, which it is asked for from then on."""
        for further in reversed(range(len(ways))):
            self._tally.attempts += 1
            try:
                raw = await self._server.post("/chat/completions", body | ways[-1 - further])
            except AttemptFailed as error:
                if not further or not (error.status in _MISFITS or "response_format" in error.reason):
                    raise
            else:
                self._form = -1 - further
                return raw
        raise AssertionError("a request is made in one form at least")

    async def _booked(self, answer: Answer, hold: Hold, model: ModelSettings, most: int) -> Generation:
        """The answer, with what it used settled; a server that does not say used a token for every four bytes."""
        tokens_in, tokens_out = answer.tokens or (most // 4, len(answer.text.encode()) // 4 + 1)
        cost = _cost(model, tokens_in, tokens_out)
        if answer.tokens is not None:
            await self._account.settle(hold, tokens_in + tokens_out, cost)
        self._tally.tokens_in += tokens_in
        self._tally.tokens_out += tokens_out
        self._tally.cost += cost
        return Generation(answer.text, model.name, tokens_in, tokens_out, cost)

    async def _fall_back(self, request: Request, cause: str, reason: str) -> Generation:
        self._tally.fallbacks += 1
        self._tally.last_error = reason
        return replace(await self._rule.generate(request), fallback=reason, cause=cause)

    def status(self) -> dict[str, float | str]:
        tally, left = self._tally, self._account.left()
        tokens_left = [left[name] for name in ("tokens_left_hour", "tokens_left_day") if name in left]
        return {
            "model": self._settings.fast.name,
            "model_deep": self.model(Depth.DEEP).name,
            "requests": tally.requests,
            "attempts": tally.attempts,
            "under_way": self._server.present,
            "tokens_in": tally.tokens_in,
            "tokens_out": tally.tokens_out,
            "cost": tally.cost,
            "fallbacks": tally.fallbacks,
            "refused": tally.refused,
            "quotes": float(self._quotes(self._settings.fast)),
            "circuit": self._circuit.state(self._clock()),
            "last_error": tally.last_error,
            **left,
            **({self._account.left_name: min(tokens_left)} if tokens_left else {}),
        }

    async def close(self) -> None:
        await self._server.close()


def _cost(model: ModelSettings, tokens_in: float, tokens_out: float) -> float:
    return (tokens_in * model.price_in + tokens_out * model.price_out) / _MILLION


class OpenAIEmbedder:
    """Vectors from a server's embedding model.

    Guarantees: a text is paid for once while the cache holds it; vectors have ``dim`` finite numbers and length one, or
    are zero for texts without a letter or digit, which are not sent. There is no falling back, since vectors of two
    models must not mix: when the server fails, or the budget is spent, ``SubstrateUnavailable`` says why and how long.
    """

    def __init__(
        self,
        settings: SubstrateSettings,
        key: str,
        account: Account,
        cache: AnswerCache,
        chance: random.Random,
    ) -> None:
        self._settings: EmbedderSettings = settings.embedder
        self._server = ModelServer(settings.server, key, chance)
        self._cooldown = settings.server.cooldown
        self._account = account
        self._cache = cache
        self._one_at_a_time = asyncio.Lock()

    @property
    def dim(self) -> int:
        return self._settings.dim

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises ``SubstrateUnavailable``."""
        cleaned = [plain(text, self._settings.max_chars) for text in texts]
        wanted = {text: self._key(text) for text in cleaned if _WORDLIKE.search(text)}
        async with self._one_at_a_time:  # equal texts asked for at the same time are paid for once
            kept = {
                key: v for key, raw in (await self._cached(list(wanted.values()))).items() if (v := self._read(raw))
            }
            missing = [text for text, key in wanted.items() if key not in kept]
            for start in range(0, len(missing), self._settings.batch):
                batch = missing[start : start + self._settings.batch]
                rows = await self._ask(batch)
                fresh = {wanted[text]: row.tobytes() for text, row in zip(batch, rows, strict=True)}
                kept |= fresh
                await self._keep(fresh)
        out = np.zeros((len(texts), self.dim), np.float32)
        for at, text in enumerate(cleaned):
            if text in wanted:
                out[at] = np.frombuffer(kept[wanted[text]], "<f4")
        return out

    async def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        body: dict[str, object] = {"model": self._settings.model, "input": texts, "encoding_format": "float"}
        if self._settings.send_dim:
            body["dimensions"] = self.dim
        most = sum(len(text.encode()) + 8 for text in texts)
        try:
            async for attempt in self._server.retrying():
                with attempt:
                    hold = await self._account.hold(most, most * self._settings.price / _MILLION)
                    return await self._attempt(body, len(texts), hold)
        except SubstrateUnavailable:
            raise
        except AttemptFailed as error:
            wait = error.retry_after or self._cooldown
            raise SubstrateUnavailable(f"embedding server: {error}", wait) from None
        except (SubliminalError, SubstrateError, ValueError) as error:
            raise SubstrateUnavailable(f"embedding: {error}") from None
        raise AssertionError("a retry either returns or raises")

    async def _attempt(self, body: dict[str, object], count: int, hold: Hold) -> NDArray[np.float32]:
        try:
            rows, tokens = read_vectors(await self._server.post("/embeddings", body), count, self.dim)
        except AttemptFailed as error:
            if not error.billed:
                await self._account.settle(hold, 0, 0.0)
            raise
        if tokens is not None:
            await self._account.settle(hold, tokens, tokens * self._settings.price / _MILLION)
        return rows

    def _key(self, text: str) -> str:
        return "v:" + hashlib.sha256(f"{self._settings.model}\0{self.dim}\0{text}".encode()).hexdigest()

    def _read(self, raw: bytes) -> bytes | None:
        """A kept vector, where it still is one."""
        if len(raw) != 4 * self.dim or not math.isfinite(float(np.frombuffer(raw, "<f4").sum())):
            return None
        return raw

    async def _cached(self, keys: list[str]) -> dict[str, bytes]:
        try:
            return await self._cache.get(keys)
        except (SubliminalError, OSError):
            return {}

    async def _keep(self, fresh: dict[str, bytes]) -> None:
        try:
            await self._cache.put(fresh)
        except (SubliminalError, OSError):
            return

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()
