"""From bytes to methods and back: parsing, the schema's rules, bounds on open calls, errors as status.

Messages are parsed here and not by gRPC, which would call a malformed one an INTERNAL error.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from itertools import count
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from orchestration.access.caller import CALLER, PEER
from orchestration.access.gate import Access
from orchestration.access.settings import AccessSettings
from orchestration.clock import wall
from orchestration.gateway.admission import host_of
from orchestration.gateway.error_answers import BEGAN, abort
from orchestration.gateway.errors import Aged, Stopping, TooLarge, TooMany, TooSlow
from orchestration.gateway.lifetime import Lifetime, Lifetimes
from orchestration.gateway.settings import GatewaySettings
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.methods import METHODS
from orchestration.schema.rules import check
from orchestration.telemetry.tracing.ids import called

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
M = TypeVar("M", bound=Message)

_LONGEST_REQUEST_ID = 64


class CallKind(StrEnum):
    """Kinds of calls, each bounded by the setting of its name."""

    CALLS = "calls"
    STREAMS = "streams"
    WATCHERS = "watchers"


class MessageStream(Protocol):
    """What a bidirectional method talks to: raw messages in, raw messages out."""

    async def read(self) -> bytes | None:
        """The next message; None when the caller has sent all."""

    async def write(self, message: bytes) -> None:
        """Send; returns when the transport has taken it, so a slow reader holds the writer back."""


UnaryMethod: TypeAlias = Callable[[Any], Awaitable[Message]]
StreamMethod: TypeAlias = Callable[[Any], Awaitable[AsyncGenerator[Message, None]]]
StreamStreamMethod: TypeAlias = Callable[[MessageStream], Awaitable[None]]


@dataclass(slots=True)
class CallGuard:
    """What all calls of a server share: bounds, counts, and the word that it stops."""

    settings: GatewaySettings
    access: Access = field(default_factory=lambda: Access(AccessSettings(), mind="", wall=wall))
    """Who may call; by default anybody."""
    age: float = 0.0
    """Seconds after which calls without end are ended, so that their callers come to other servers; 0: never."""
    lifetimes: Lifetimes = field(init=False)
    open: Counter[CallKind] = field(default_factory=Counter)
    hits: Counter[str] = field(default_factory=Counter)
    """How often each bound was met."""
    calls: Counter[CallKind] = field(default_factory=Counter)
    """Calls begun."""
    refused: Counter[str] = field(default_factory=Counter)
    """Calls and batches that were answered with an error, by its name."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.lifetimes = Lifetimes(self.access, self.age)

    @contextmanager
    def slot(self, kind: CallKind | None) -> Iterator[None]:
        """One more open call of a kind; of None as many as come. Raises ``TooMany``, or ``Stopping``."""
        if kind is None:
            yield
            return
        limit = int(getattr(self.settings, kind.value))
        if self.lifetimes.stopping:
            raise Stopping
        if self.open[kind] >= limit:
            self.hits[kind.value] += 1
            raise TooMany(f"gateway.{kind.value}", limit, self.settings.retry_after)
        self.open[kind] += 1
        self.calls[kind] += 1
        try:
            yield
        finally:
            self.open[kind] -= 1

    def parse(self, message: type[M], raw: bytes) -> M:
        """A message that keeps the schema's rules. Raises ``TooLarge`` or ``InvalidRequest``."""
        parsed = self.read(message, raw)
        check(parsed)
        return parsed

    def read(self, message: type[M], raw: bytes) -> M:
        """A message, unchecked. Raises ``TooLarge``, or ``InvalidRequest`` where the bytes are none."""
        if len(raw) > self.settings.message_bytes:
            self.hits["message_bytes"] += 1
            raise TooLarge("gateway.message_bytes", len(raw), self.settings.message_bytes)
        try:
            return message.FromString(raw)
        except DecodeError:
            raise InvalidRequest(
                "", f"these bytes are not a {message.DESCRIPTOR.full_name}: check the encoding (texts are UTF-8)"
            ) from None

    def request_id(self, context: Context) -> str:
        """The caller's ``x-request-id`` where it is fit for a log, else a number of this server's."""
        for key, value in context.invocation_metadata() or ():
            text = value if isinstance(value, str) else ""
            if key == "x-request-id" and text.isascii() and text.isprintable() and 0 < len(text) <= _LONGEST_REQUEST_ID:
                return text
        return f"r-{next(self._numbers)}"

    def call(self, context: Context) -> AbstractContextManager[None]:
        """During a call: log lines name it, and the caller's span where it sent a ``traceparent``."""
        if self.access.required:
            PEER.set(host_of(context.peer()))  # each call has a task of its own
        sent = (value for key, value in context.invocation_metadata() or () if key == "traceparent")
        return called(next((value for value in sent if isinstance(value, str)), ""), self.request_id(context))

    async def refuse(self, context: Context, error: Exception) -> NoReturn:
        """End a call with an error, and count it where it is one."""
        if not isinstance(error, Aged | grpc.aio.InternalError):
            self.refused[type(error).__name__] += 1
        await abort(context, error)

    def stop(self) -> None:
        """Refuse new calls and end those that would not end by themselves. May be called twice."""
        self.lifetimes.stop()


def unary(
    guard: CallGuard,
    request: type[Message],
    method: UnaryMethod,
    *,
    checked: bool = True,
    kind: CallKind | None = CallKind.CALLS,
) -> grpc.RpcMethodHandler[bytes, bytes]:
    """A handler for one question and one answer. Not ``checked``: the method sees to the schema's rules itself."""
    parse = guard.parse if checked else guard.read

    async def call(raw: bytes, context: Context) -> bytes:
        with guard.call(context):
            try:
                with guard.slot(kind):
                    answer = await method(parse(request, raw))
                    return answer.SerializeToString()
            except Exception as error:  # noqa: BLE001 - every error has an answer
                await guard.refuse(context, error)

    return grpc.unary_unary_rpc_method_handler(call)


def server_stream(
    guard: CallGuard,
    request: type[Message],
    method: StreamMethod,
    *,
    kind: CallKind | None = CallKind.WATCHERS,
    ends: bool = False,
) -> grpc.RpcMethodHandler[bytes, bytes]:
    """A handler for one question and answers without end; or, where they end by themselves, for a call like others."""
    patience = guard.settings.reader_timeout

    async def talk(raw: bytes, context: Context, life: Lifetime) -> None:
        async with aclosing(await method(guard.parse(request, raw))) as answers:
            async for answer in answers:
                try:
                    async with asyncio.timeout(patience):
                        await context.write(answer.SerializeToString())
                except TimeoutError:
                    raise TooSlow(patience) from None
                if str(getattr(answer, "mark", "-")):  # its reader knows where to go on
                    life.grow_old()
        if not ends:  # but with the server
            raise Stopping

    async def call(raw: bytes, context: Context) -> None:
        with guard.call(context):
            try:
                held = nullcontext() if ends else guard.access.quotas.stream(CALLER.get())
                with guard.slot(CallKind.CALLS if ends else kind), held:
                    await context.send_initial_metadata(BEGAN)
                    with guard.lifetimes.begin() as life, life.within():
                        await talk(raw, context, life)
            except Exception as error:  # noqa: BLE001 - every error has an answer
                await guard.refuse(context, error)

    return grpc.unary_stream_rpc_method_handler(call)


@dataclass(slots=True)
class _ContextUpload:
    """``MessageStream`` over a gRPC context."""

    context: Context
    patience: float
    _since: float = 0.0
    """When the write under way began, by the clock of the event loop; 0: there is none."""
    _timer: asyncio.TimerHandle | None = None

    async def read(self) -> bytes | None:
        message = await self.context.read()
        return message if isinstance(message, bytes) else None  # else it is grpc.aio.EOF

    async def write(self, message: bytes) -> None:
        self._since = asyncio.get_running_loop().time()
        try:
            await self.context.write(message)
        finally:
            self._since = 0.0

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Raises ``TooSlow`` where nothing is taken for ``patience``. One timer for all writes: one each would cost."""
        try:
            async with asyncio.timeout(None) as waiting:
                self._look(waiting)
                yield
        except TimeoutError:
            if not waiting.expired():
                raise
            raise TooSlow(self.patience) from None
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _look(self, waiting: asyncio.Timeout) -> None:
        loop = asyncio.get_running_loop()
        due = (self._since or loop.time()) + self.patience
        if due > loop.time():
            self._timer = loop.call_at(due, self._look, waiting)
        else:
            waiting.reschedule(loop.time())


def both_streams(
    guard: CallGuard, method: StreamStreamMethod, *, kind: CallKind | None = CallKind.STREAMS
) -> grpc.RpcMethodHandler[bytes, bytes]:
    """A handler for messages in both directions. The method parses them itself, and ends when the guard stops."""

    async def call(_: object, context: Context) -> None:
        with guard.call(context):
            try:
                with guard.slot(kind), guard.access.quotas.stream(CALLER.get()):
                    await context.send_initial_metadata(BEGAN)
                    upload = _ContextUpload(context, guard.settings.reader_timeout)
                    async with upload.watched():
                        await method(upload)
            except Exception as error:  # noqa: BLE001 - every error has an answer
                await guard.refuse(context, error)

    return grpc.stream_stream_rpc_method_handler(call)


def schema_services(guard: CallGuard, handlers: Mapping[str, Any]) -> list[grpc.GenericRpcHandler[Any, Any]]:
    """The handlers of the schema's methods, service by service."""
    found: dict[str, dict[str, grpc.RpcMethodHandler[bytes, bytes]]] = {}
    for name, handler in handlers.items():
        method = METHODS[name]
        bind = partial(server_stream, ends=method.ends) if method.gives_stream else unary
        found.setdefault(method.service, {})[method.name] = bind(guard, method.request, handler)
    return [service(name, methods) for name, methods in found.items()]


def service(name: str, handlers: Mapping[str, grpc.RpcMethodHandler[bytes, bytes]]) -> grpc.GenericRpcHandler[Any, Any]:
    """All methods of one service."""
    return grpc.method_handlers_generic_handler(name, dict(handlers))
