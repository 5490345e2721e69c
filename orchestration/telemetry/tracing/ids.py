"""Ids of traces and spans, derived from what they name: every process finds the same, also after a restart."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import structlog

_LOW = (1 << 64) - 1
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED = 0x01


class TraceIds:
    """The trace ids of one mind's perceptions, and which of them are traced."""

    def __init__(self, mind: str, share: float) -> None:
        """``share`` of all, 0..1, are traced."""
        self._base = blake2b(mind.encode(), digest_size=16, person=b"submind trace")
        self._bound = round(share * (_LOW + 1))

    def of(self, perception: str) -> int:
        """The trace id of a perception, 128 bits."""
        digest = self._base.copy()
        digest.update(b"\0")
        digest.update(perception.encode())
        return int.from_bytes(digest.digest(), "big") or 1

    def traced(self, perception: str) -> int | None:
        """Its trace id if it is traced, by the rule of OpenTelemetry's ``TraceIdRatioBased``; else None."""
        trace = self.of(perception)
        return trace if trace & _LOW < self._bound else None


def span_id(trace: int, *parts: str) -> int:
    """The id of the span within a trace that does what ``parts`` say, 64 bits."""
    digest = blake2b(trace.to_bytes(16, "big"), digest_size=8, person=b"submind span")
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(4, "big"))
        digest.update(data)
    return int.from_bytes(digest.digest(), "big") or 1


def hex_trace(trace: int) -> str:
    """A trace id as tools write it."""
    return f"{trace:032x}"


def hex_span(span: int) -> str:
    """A span id as tools write it."""
    return f"{span:016x}"


@dataclass(frozen=True, slots=True)
class CallerSpan:
    """The span of a caller, from the ``traceparent`` that it sent (W3C Trace Context)."""

    trace: int
    span: int
    sampled: bool
    """Whether the caller records it."""
    relayed: bool = False
    """Whether a front stands in between, and records its part."""


def caller_of(traceparent: str) -> CallerSpan | None:
    """Who calls; None where the header is not one, which by the standard is to be ignored."""
    match = _TRACEPARENT.fullmatch(traceparent.strip())
    if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
        return None
    trace, span = int(match[2], 16), int(match[3], 16)
    return CallerSpan(trace, span, bool(int(match[4], 16) & _SAMPLED)) if trace and span else None


def traceparent(caller: CallerSpan) -> str:
    """The header that says so."""
    return f"00-{hex_trace(caller.trace)}-{hex_span(caller.span)}-{int(caller.sampled):02x}"


CALLING: Final[ContextVar[CallerSpan | None]] = ContextVar("caller", default=None)
"""Who calls, during a call."""


@contextmanager
def called(traceparent: str, request: str) -> Iterator[None]:
    """During a call: who made it, and log lines that name it."""
    caller = caller_of(traceparent) if traceparent else None
    before = CALLING.set(caller)
    try:
        spans = {"trace_id": hex_trace(caller.trace), "span_id": hex_span(caller.span)} if caller else {}
        with structlog.contextvars.bound_contextvars(request=request, **spans):
            yield
    finally:
        CALLING.reset(before)
