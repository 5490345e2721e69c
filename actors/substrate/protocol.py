"""Requests to a server that speaks the OpenAI protocol: timed, bounded, retried; its answers read with distrust."""

import asyncio
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

import httpx
import numpy as np
import tenacity
from numpy.typing import NDArray

from actors.substrate.errors import AttemptFailed
from actors.substrate.plain import clip, plain
from actors.substrate.settings import ServerSettings

_RETRYABLE = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
_EXCERPT = 4096
_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_THOUGHT = re.compile(r'\{\s*"thought"\s*:\s*"((?:[^"\\]|\\.)*)("?)', re.DOTALL)
_ANSWER_CHARS = 2000


class ModelServer:
    """One server, one connection pool.

    Guarantee: at most ``max_concurrent`` requests under way; every request ends within ``timeout``; a body longer than
    ``max_body`` is never held. The key leaves this object in the header of a request and nowhere else.
    """

    def __init__(self, settings: ServerSettings, key: str, chance: random.Random) -> None:
        self._settings = settings
        self._key = key
        self._chance = chance
        self._turn = asyncio.Semaphore(settings.max_concurrent)
        self._present = 0
        headers = {"accept-encoding": "identity", "user-agent": "submind"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(settings.timeout, connect=settings.connect_timeout, pool=None),
            limits=httpx.Limits(max_connections=settings.max_concurrent),
            trust_env=False,
            proxy=settings.proxy,
        )

    @property
    def present(self) -> int:
        """Requests under way or waiting."""
        return self._present

    def retrying(self) -> tenacity.AsyncRetrying:
        """Attempts as configured: exponential waits with chance, never shorter than what the server asked for."""
        return tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self._settings.attempts),
            retry=tenacity.retry_if_exception(self._worth_repeating),
            wait=self._wait,
            reraise=True,
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The body of a 200. Raises ``AttemptFailed`` for everything else there is."""
        settings = self._settings
        if self._present >= settings.max_concurrent + settings.max_waiting:
            raise AttemptFailed(f"{self._present} requests are waiting already", retryable=False)
        self._present += 1
        try:
            async with self._turn, asyncio.timeout(settings.timeout):
                return await self._exchange(path, body)
        except TimeoutError:
            raise AttemptFailed(f"no answer within {settings.timeout:g} s", billed=True) from None
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise AttemptFailed(f"cannot be reached: {self._said(str(error))}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise AttemptFailed(f"connection lost: {type(error).__name__}", billed=True) from None
        finally:
            self._present -= 1

    async def _exchange(self, path: str, body: Mapping[str, Any]) -> bytes:
        async with self._http.stream("POST", self._settings.base_url + path, json=body) as response:
            if response.status_code != HTTPStatus.OK:
                raise self._refusal(response, await _bounded(response, _EXCERPT, whole=False))
            if response.headers.get("content-encoding", "identity") != "identity":
                raise AttemptFailed("answer is compressed, which was not asked for", retryable=False, billed=True)
            return await _bounded(response, self._settings.max_body, whole=True)

    def _refusal(self, response: httpx.Response, body: bytes) -> AttemptFailed:
        status = response.status_code
        said = self._said(body.decode("utf-8", "replace"))
        spent = status == _TOO_MANY and "insufficient_quota" in said
        return AttemptFailed(
            f"HTTP {status}: {said}" if said else f"HTTP {status}",
            retryable=status in _RETRYABLE and not spent,
            retry_after=_retry_after(response.headers),
            status=status,
        )

    def _said(self, text: str) -> str:
        text = plain(text.replace(self._key, "[key]") if self._key else text)
        return clip(text, 200)

    def _worth_repeating(self, error: BaseException) -> bool:
        return (
            isinstance(error, AttemptFailed)
            and error.retryable
            and (error.retry_after or 0.0) <= self._settings.max_backoff
        )

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after or 0.0 if isinstance(error, AttemptFailed) else 0.0
        backoff = min(self._settings.max_backoff, self._settings.backoff * 2.0 ** (state.attempt_number - 1))
        return asked + self._chance.uniform(backoff / 2, backoff)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


async def _bounded(response: httpx.Response, limit: int, *, whole: bool) -> bytes:
    """The body, or its first ``limit`` bytes where it need not be whole."""
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > limit:
            if not whole:
                break
            raise AttemptFailed(f"answer longer than {limit} bytes", retryable=False, billed=True)
    return bytes(received[:limit])


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds of ``Retry-After``; a date counts from the server's own ``Date``, so that no clock here matters."""
    value = headers.get("retry-after", "")
    try:
        if re.fullmatch(r"\d{1,9}(\.\d+)?", value.strip()):
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - parsedate_to_datetime(headers["date"])).total_seconds())
    except (ValueError, TypeError, KeyError):
        return None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    text: str
    """One plain paragraph, not empty."""
    tokens: tuple[int, int] | None
    """Prompt and generated tokens, where the server said."""


def _object(raw: bytes | str) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise AttemptFailed("answer is not JSON", billed=True) from None
    if not isinstance(value, dict):
        raise AttemptFailed("answer is not a JSON object", billed=True)
    return value


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _usage(body: Mapping[str, Any]) -> tuple[int, int] | None:
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    tokens_in, tokens_out = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens", 0))
    return None if tokens_in is None or tokens_out is None else (tokens_in, tokens_out)


def _content(value: object) -> str:
    """Text of a message, which some servers send in parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(p["text"] for p in value if isinstance(p, dict) and isinstance(p.get("text"), str))
    return ""


def _choice(body: Mapping[str, Any], part: str) -> tuple[str, bool]:
    """Text of the first choice, and whether it is finished."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return "", False
    message = choices[0].get(part)
    text = _content(message.get("content")) if isinstance(message, dict) else ""
    return text, choices[0].get("finish_reason") is not None


def read_chat(raw: bytes) -> Answer:
    """The answer in a body of ``/chat/completions``. Raises ``AttemptFailed`` when there is none in it."""
    body = _object(raw)
    return _answer(_choice(body, "message")[0], _usage(body))


def read_chat_stream(raw: bytes) -> Answer:
    """The answer in the server-sent events of ``/chat/completions``; a stream that ends too early has none."""
    text, usage, finished = "", None, False
    for line in raw.decode("utf-8", "replace").splitlines():
        if not line.startswith("data:"):
            continue
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            finished = True
            break
        body = _object(data)
        if "error" in body:
            raise AttemptFailed(f"the stream broke off: {clip(plain(str(body['error'])), 120)}", billed=True)
        more, ended = _choice(body, "delta")
        text += more
        usage = _usage(body) or usage
        finished = finished or ended
    if not finished:
        raise AttemptFailed("the stream was cut", billed=True)
    return _answer(text, usage)


def _unwrapped(text: str) -> str:
    """The thought in an answer of the form that was asked for, be it fenced or cut; any other answer as it is."""
    found = _THOUGHT.search(text)
    if found is None:
        return text
    try:
        said = str(json.loads(f'"{found[1]}"', strict=False))
    except ValueError:
        said = found[1]
    return said if found[2] else f"{said.rpartition(' ')[0]}…"


def _answer(text: str, usage: tuple[int, int] | None) -> Answer:
    text = clip(plain(_unwrapped(_THINKING.sub("", text))), _ANSWER_CHARS)
    if not text:
        raise AttemptFailed("answer holds no text", billed=True)
    return Answer(text, usage)


def read_vectors(raw: bytes, count: int, dim: int) -> tuple[NDArray[np.float32], int | None]:
    """``(count, dim) little-endian float32, L2-normalised`` of a body of ``/embeddings``, and the tokens it cost.

    Raises ``AttemptFailed`` for a wrong number, order, length or kind of vectors.
    """
    body = _object(raw)
    data = body.get("data")
    if not isinstance(data, list) or len(data) != count or not all(isinstance(d, dict) for d in data):
        raise AttemptFailed(f"answer does not hold {count} vectors", billed=True)
    places = [d.get("index", at) for at, d in enumerate(data)]
    if any(_count(p) is None for p in places) or sorted(places) != list(range(count)):
        raise AttemptFailed("vectors are not numbered as the texts", billed=True)
    rows = np.zeros((count, dim), "<f4")
    for at, item in zip(places, data, strict=True):
        values = item.get("embedding")
        if not isinstance(values, list) or len(values) != dim:
            length = len(values) if isinstance(values, list) else "no"
            raise AttemptFailed(f"vectors have {length} numbers, not the {dim} of embedder.dim", False, billed=True)
        with np.errstate(over="ignore"):  # what does not fit becomes infinite, and is refused below
            rows[at] = _numbers(values)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        raise AttemptFailed("vectors hold what is no number", billed=True)
    np.divide(rows, norms, out=rows, where=norms > 0)
    usage = body.get("usage")
    return rows, _count(usage.get("prompt_tokens", usage.get("total_tokens"))) if isinstance(usage, dict) else None


def _numbers(values: list[Any]) -> NDArray[np.float64]:
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        raise AttemptFailed("vectors hold what is no number", billed=True)
    try:
        return np.asarray(values, np.float64)
    except (OverflowError, ValueError):
        raise AttemptFailed("vectors hold what is no number", billed=True) from None
