"""Telling a mind a great deal: batches in flight, acknowledged in order, sent again after a disconnect."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc

from environment.messages import NewPerception, Receipt
from orchestration.client.errors import ClientError, Rejected, Unavailable, translate
from orchestration.client.retry_policy import RetryPolicy
from orchestration.gateway import decode, encode
from orchestration.pb.submind.v1 import perception_pb2 as pb
from orchestration.schema.errors import FieldViolation
from orchestration.schema.methods import method

if TYPE_CHECKING:
    from orchestration.client.mind import MindClient

Refused: TypeAlias = Callable[[NewPerception, str], None]
_Call: TypeAlias = Any
"""``grpc.aio.StreamStreamCall``, of which the stubs know too little."""


_REQUEST_BYTES = 4 * 1024 * 1024
"""Bytes of a batch from which another is begun: half of what a server takes in a message by default."""


@dataclass(slots=True, eq=False)
class _PendingRequest:
    """A batch, and the message it is sent as."""

    perceptions: list[NewPerception]
    request: pb.PerceiveStreamRequest


@dataclass(eq=False, repr=False)
class Upload:
    """One ``perceive_many``. Guarantee: what a receipt was yielded for is durable, and in the mind once."""

    _mind: MindClient
    _source: AsyncIterable[NewPerception] | Iterable[NewPerception]
    _: KW_ONLY
    batch: int
    window: int
    linger: float
    refused: Refused | None

    def __post_init__(self) -> None:
        self._unanswered: deque[_PendingRequest] = deque()
        """Batches sent or about to be, oldest first: what a new connection begins with."""
        self._ready: asyncio.Queue[_PendingRequest | None] = asyncio.Queue(1)
        self._ended = False
        """Whether the source has no more."""

    async def receipts(self) -> AsyncIterator[Receipt]:
        """Run the upload."""
        reader = asyncio.create_task(self._read_source(), name="perceive-many")
        policy = self._mind.retry_policy()
        try:
            ended = False
            while not ended:
                try:
                    async for receipt in self._one_connection(policy):
                        policy.succeeded(for_good=True)
                        yield receipt
                    ended = True
                except Unavailable as error:
                    await policy.after(error)
            await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)

    async def _read_source(self) -> None:
        """Cut the source into batches; after the last comes None, also where the source failed."""
        try:
            if isinstance(self._source, AsyncIterable):
                await self._read_slowly(self._source)
            else:
                items = iter(self._source)
                while batch := list(islice(items, self.batch)):
                    await self._hand_over(batch)
        except Exception:
            await self._ready.put(None)
            raise
        await self._ready.put(None)

    async def _read_slowly(self, source: AsyncIterable[NewPerception]) -> None:
        """Cut a source that may pause: no perception waits longer than ``linger`` for the batch to fill."""
        now = asyncio.get_running_loop().time
        items, batch, due = aiter(source), list[NewPerception](), 0.0
        following = asyncio.ensure_future(_next(items))
        try:
            ended = False
            while not ended:
                await asyncio.wait({following}, timeout=max(due - now(), 0.0) if batch else None)
                if following.done():
                    ended = following.exception() is not None or following.result() is None
                    if not ended and (item := following.result()) is not None:
                        due = due if batch else now() + self.linger
                        batch.append(item)
                        following = asyncio.ensure_future(_next(items))
                if batch and (ended or len(batch) >= self.batch or now() >= due):
                    await self._hand_over(batch)
                    batch = []
            following.result()  # raises what the source raised
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _hand_over(self, batch: list[NewPerception]) -> None:
        """Put a batch into messages that a server takes; what no message can hold is refused here."""
        pending, size = _PendingRequest([], pb.PerceiveStreamRequest()), 0
        for one, keyed in zip(batch, self._mind.keyed(batch), strict=True):
            try:
                sent = message_of(keyed)
            except Rejected as error:
                if self.refused is None:
                    raise
                self.refused(one, error.message)
                continue
            size += sent.ByteSize()
            if pending.perceptions and size > _REQUEST_BYTES:
                await self._ready.put(pending)
                pending, size = _PendingRequest([], pb.PerceiveStreamRequest()), sent.ByteSize()
            pending.perceptions.append(keyed)
            pending.request.perceptions.append(sent)
        if pending.perceptions:
            await self._ready.put(pending)

    async def _one_connection(self, policy: RetryPolicy) -> AsyncIterator[Receipt]:
        """Send what is unanswered, then what is new, until all is answered. Raises ``ClientError``."""
        call: _Call = method("PerceptionService/PerceiveStream").on(self._mind.channel)(metadata=self._mind.metadata)
        free = asyncio.Semaphore(self.window - len(self._unanswered))
        sender = asyncio.create_task(self._send(call, free), name="perceive-many-send")
        try:
            with self._mind.under_way():
                if await self._mind.began(call):
                    policy.succeeded(for_good=True)
            while isinstance(answer := await self._read(call), pb.PerceiveStreamResponse):
                if not self._unanswered:
                    raise ClientError("INTERNAL", "the server answered a batch that was not sent")
                batch = self._unanswered[0].perceptions
                receipts = decode.receipts(answer.receipts)
                if answer.HasField("refusal"):
                    receipts = await self._tell_again(batch, answer.refusal)
                self._unanswered.popleft()
                free.release()
                for receipt in receipts:
                    yield receipt
            if self._unanswered or not self._ended:  # the sender may wait for a source that pauses
                raise Unavailable("UNAVAILABLE", "the server ended the stream early")
            await sender
        except grpc.aio.AioRpcError as error:
            raise translate(error) from error
        finally:
            call.cancel()
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)

    async def _read(self, call: _Call) -> object:
        with self._mind.under_way():
            return await call.read()

    async def _send(self, call: _Call, free: asyncio.Semaphore) -> None:
        try:
            for pending in tuple(self._unanswered):
                await call.write(pending.request)
            while not self._ended:
                await free.acquire()
                new = await self._ready.get()
                if new is None:
                    self._ended = True
                else:
                    self._unanswered.append(new)
                    await call.write(new.request)
            await call.done_writing()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return  # the call has ended; reading from it tells why

    async def _tell_again(self, batch: list[NewPerception], refusal: pb.Refusal) -> list[Receipt]:
        """Leave out what was refused and tell the rest. Raises ``Rejected`` where nobody wants to know of it."""
        error = Rejected(
            "INVALID_ARGUMENT",
            refusal.reason,
            tuple(FieldViolation(one.field, one.description) for one in refusal.violations),
        )
        while batch:
            wrong = error.indexes()
            if self.refused is None or not wrong:
                raise error
            for index, why in wrong.items():
                self.refused(batch[index], why)
            batch[:] = [one for index, one in enumerate(batch) if index not in wrong]
            try:
                return await self._mind.perceive(batch) if batch else []
            except Rejected as again:
                error = again
        return []


def message_of(perception: NewPerception) -> pb.Perception:
    """The perception as it is sent. Raises ``Rejected`` where no message can hold it."""
    try:
        return encode.perception(perception)
    except UnicodeEncodeError as error:
        why = f"it holds {error.object[error.start]!a}, half of a character: UTF-8 cannot write it"
    except (ValueError, TypeError) as error:
        why = f"no message can hold it: {error}"
    raise Rejected("INVALID_ARGUMENT", why)


async def _next(items: AsyncIterator[NewPerception]) -> NewPerception | None:
    return await anext(items, None)
