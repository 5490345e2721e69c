"""Perceptions on their way from a front to whoever leads: acknowledged when the leader says that they are durable."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from random import Random
from typing import Any, TypeAlias

import grpc
import structlog

from environment.errors import AppendSkipped
from environment.messages import PerceptionBatch, Receipts
from environment.ports import PreparedBatch
from orchestration.access.caller import ANYBODY, CALLER
from orchestration.access.errors import BadCredentials
from orchestration.backoff import backoff
from orchestration.front.errors import NoLeader
from orchestration.front.leader_errors import LeaderRefused, Lost, error_of
from orchestration.front.leaders import Leaders
from orchestration.front.relay_queue import PendingBatch, RelayedBatch, RelayQueue, keyed, told
from orchestration.front.settings import FrontSettings
from orchestration.front.upstream import Upstream
from orchestration.front.writing import encoded, forwarded, said_of
from orchestration.gateway.errors import TooLarge
from orchestration.pb.submind.v1 import forwarding_pb2 as pb
from orchestration.schema.errors import FieldViolation, InvalidRequest
from orchestration.schema.methods import method
from orchestration.telemetry.tracing.ids import CALLING, traceparent

_log = structlog.get_logger(__name__)
_FORWARD = method("ForwardService/Forward")
_CALLERS = f"callers of the front at {socket.gethostname()}"
"""In whose name batches are handed on: each caller was let in, and counted, here."""
_MESSAGE = 256 * 1024
"""Bytes of batches after which a message to the leader is full: by then a message costs little beside them."""
_LONGEST = 128
"""Letters of a caller's name that travel."""
_AROUND = 32
"""Bytes that may stand around a batch in a message: its number, and lengths."""
_FIRST, _MOST = 0.05, 1.0
"""Seconds between two attempts at a leader."""
_NONE_KNOWN: Mapping[int, int] = {}
_STEADY = 10.0
"""Seconds after which a connection was a good one, whatever came over it."""

_Call: TypeAlias = Any
"""``grpc.aio.StreamStreamCall``, of which the stubs know too little."""


@dataclass(eq=False, repr=False)
class RelayedLog:
    """An ``Appender`` whose log is the leader's: ``run`` carries, ``append_batches`` waits for the answers.

    Guarantees: what is answered is durable at the leader. Each perception is sent under an idempotency key, its own or
    one made here, so whatever is sent again after a broken connection is taken in once. Batches are sent in the order
    in which they were appended. One that finds nobody who leads within ``hold`` seconds fails with ``NoLeader``; it
    may have been taken in all the same, when a leader was lost before it answered.

    ``message_bytes``: the largest message that the leader takes. ``per_second``: the mind's quota.

    ``token`` gives texts that nobody can guess. ``recorded``: whether spans are recorded here.
    """

    _leaders: Leaders
    _upstream: Upstream
    _settings: FrontSettings
    _: KW_ONLY
    message_bytes: int
    per_second: float
    token: Callable[[], str]
    chance: Random
    recorded: bool = False

    def __post_init__(self) -> None:
        self._queue = RelayQueue(self._settings.batches)
        self._moved = asyncio.Event()
        """Set when there may be something to send."""
        self._down: float | None = asyncio.get_running_loop().time()
        """Since when nobody takes anything; None while somebody does."""
        self._why = "no leader has been met yet"
        self._answers = 0
        self._figures = dict.fromkeys(("front_connections_total", "front_given_up_total"), 0.0)

    @property
    def why(self) -> str:
        """Why nothing is taken in now; empty while it is, as far as is known."""
        if self._down is None:
            return ""
        return self._why if self._leaders.address else self._leaders.why_not

    @property
    def ahead(self) -> int:
        """How many appends may be under way at once."""
        return self._settings.batches

    def figures(self) -> Mapping[str, float]:
        """Counters and gauges, by metric name without prefix."""
        return {
            **self._figures,
            "front_batches_relayed_total": float(self._answers),
            "front_connected": float(self._down is None),
            "front_batches_waiting": float(len(self._queue.waiting)),
            "front_batches_under_way": float(len(self._queue.under_way)),
            "front_batches_resent_total": float(self._queue.resent),
            "front_leader_changes_total": float(self._leaders.changes),
        }

    def prepare(self, batch: PerceptionBatch) -> RelayedBatch:
        """Raises ``TooLarge`` where the leader would not take so large a message."""
        keys, made = keyed(batch.key, len(batch), self.token)
        body = encoded(batch, keys)
        said = _said(recorded=self.recorded)
        most = self.message_bytes - len(said) - _AROUND
        if len(body) > most:
            raise TooLarge("gateway.message_bytes", len(body), most)
        return RelayedBatch(batch, body, made, said)

    async def append_batches(self, batches: Sequence[PreparedBatch]) -> list[Receipts]:
        """All are sent, and all are waited for. Raises what became of the first that failed, where none was taken in.

        Where some were and others failed it raises ``AppendSkipped``: handed in again, one by one, each has its own
        answer. What had its answer once has the same for ever, and is never sent again.
        """
        mine = [batch for batch in batches if isinstance(batch, RelayedBatch)]
        waited = [self._accept(batch) for batch in mine if batch.outcome is None]
        if waited:
            await asyncio.wait([pending.answer for pending in waited])
        for pending in waited:
            pending.answer.exception()  # each is looked at, so that none is missed as never retrieved
        receipts = [batch.outcome for batch in mine if isinstance(batch.outcome, Receipts)]
        if len(receipts) == len(mine):
            return receipts
        if receipts:
            raise AppendSkipped
        raise next(batch.outcome for batch in mine if isinstance(batch.outcome, Exception))

    async def run(self) -> None:
        """Carry batches to whoever leads, until cancelled."""
        loop, attempt = asyncio.get_running_loop(), 0
        while True:
            target, answers, began = await self._leaders.known(), self._answers, loop.time()
            try:
                await self._talk(target)
            except Lost as error:
                self._lost(str(error), was_well=self._answers > answers)
            except BadCredentials as error:
                self._lost(str(error), was_well=False)
            except Exception as error:  # noqa: BLE001 - said, and tried again
                _log.exception("relay_failed")
                self._lost(f"{type(error).__name__}: {error}", was_well=False)
            if self._answers > answers or loop.time() - began > _STEADY:
                attempt = 0
                continue
            await self._upstream.close()  # whatever it was, the next attempt reads the files anew and connects anew
            with suppress(TimeoutError):
                async with asyncio.timeout(backoff(attempt, _FIRST, _MOST, self.chance)):
                    await self._leaders.other_than(target)
            attempt += 1

    def _accept(self, batch: RelayedBatch) -> PendingBatch:
        loop = asyncio.get_running_loop()
        pending = PendingBatch(batch, loop.time(), loop.create_future())
        self._queue.waiting.append(pending)
        self._moved.set()
        if self._down is not None:
            loop.call_later(self._settings.hold, self._give_up)
        return pending

    async def _next_move(self) -> None:
        await self._moved.wait()
        self._moved.clear()

    def _give_up(self) -> None:
        """Answer all who wait once one has waited long enough while nobody takes anything.

        All, and not that one alone: nothing of a caller's is taken in behind what he was told to send again.
        """
        if self._down is None:
            return
        now = asyncio.get_running_loop().time()
        if now + 0.001 < self._down + self._settings.hold:
            return
        if self._queue.overdue(now + 0.001 - self._settings.hold):
            why, late = self.why, self._queue.all()
            self._figures["front_given_up_total"] += len(late)
            self._fail(late, NoLeader(why))

    def _fail(self, late: Sequence[PendingBatch], error: Exception) -> None:
        for pending in late:
            self._settle(pending, error)

    def _lost(self, why: str, *, was_well: bool) -> None:
        """The connection is gone, or none came about."""
        loop = asyncio.get_running_loop()
        if self._why != why or was_well:
            _log.warning("leader_lost", reason=why, under_way=len(self._queue.under_way))
        self._why = why
        if self._down is None:
            self._down = loop.time()
        self._queue.broke()
        self._moved.set()
        loop.call_later(self._settings.hold, self._give_up)
        self._give_up()

    async def _talk(self, target: str) -> None:
        """One connection, until it breaks or somebody else leads. Raises ``Lost``, ``BadCredentials``."""
        channel = await self._upstream.channel(target)
        began, answers, within = self._down, self._answers, self._settings.connect_timeout
        try:
            async with asyncio.timeout(within):  # `wait_for` forgets to be cancelled where it is ready in that moment
                await channel.channel_ready()
            call: _Call = _stream(channel, _FORWARD.rpc)(metadata=self._upstream.metadata(_CALLERS))
        except TimeoutError:
            raise Lost(f"{target} does not answer within {within:g} s") from None
        except grpc.aio.UsageError:  # closed for another
            raise Lost(f"{target} leads no more") from None
        self._figures["front_connections_total"] += 1
        self._down = None
        tasks = [
            asyncio.create_task(self._send(call), name="relay-send"),
            asyncio.create_task(self._hear(call, target), name="relay-hear"),
            asyncio.create_task(self._watch(target), name="relay-watch"),
            asyncio.create_task(self._leaders.other_than(target), name="relay-leader"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if not task.cancelled():  # as reading is when the channel is closed for another
                    task.result()
            raise Lost(f"{target} leads no more")
        finally:
            if self._answers == answers:  # it took nothing: nobody has taken anything since before
                self._down = began
            call.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, call: _Call) -> None:
        try:
            while True:
                if message := self._message():
                    await call.write(message)
                else:
                    await self._next_move()
        except (grpc.RpcError, grpc.aio.UsageError, grpc.aio.InternalError, asyncio.InvalidStateError):
            await asyncio.Event().wait()  # the call has ended; hearing tells why

    def _message(self) -> bytes:
        """As many batches as wait and fit; empty where none is to be sent."""
        parts: list[bytes] = []
        size, most = 0, min(_MESSAGE, self.message_bytes)
        while (waiting := self._queue.waiting) and (not parts or size + waiting[0].batch.size + _AROUND <= most):
            pending = self._queue.next()
            if pending is None:
                break
            parts.append(forwarded(pending.batch.body, pending.number, pending.batch.said))
            size += len(parts[-1])
        return b"".join(parts)

    async def _hear(self, call: _Call, target: str) -> None:
        try:
            while isinstance(raw := await call.read(), bytes):  # else it is the end
                for answer in pb.ForwardResponse.FromString(raw).answers:
                    self._answered(answer, target)
                self._moved.set()
        except grpc.aio.AioRpcError as error:
            self._ended(error_of(error, target, self.per_second), target)
        raise Lost(f"{target} ended the upload")

    def _answered(self, answer: pb.ForwardedAnswer, target: str) -> None:
        under_way = self._queue.under_way
        if not under_way or answer.batch != under_way[0].number:
            raise Lost(f"{target} answers out of order")
        pending = under_way.popleft()
        self._answers += 1
        if answer.HasField("refusal"):
            refusal = answer.refusal
            found = [FieldViolation(one.field, one.description) for one in refusal.violations]
            self._settle(pending, InvalidRequest.of(found or [FieldViolation("", refusal.reason)]))
        elif answer.count != len(pending.batch):
            raise Lost(f"{target} answers {len(pending.batch)} perceptions with {answer.count} receipts")
        else:
            receipts = Receipts(answer.first, answer.count, dict(answer.known) if answer.known else _NONE_KNOWN)
            self._settle(pending, told(receipts, pending.batch.made))

    def _settle(self, pending: PendingBatch, outcome: Receipts | Exception) -> None:
        pending.batch.outcome = outcome
        if pending.answer.done():
            return
        if isinstance(outcome, Exception):
            pending.answer.set_exception(outcome)
        else:
            pending.answer.set_result(outcome)

    def _ended(self, why: Lost | LeaderRefused | Exception, target: str) -> None:
        """The leader ended the upload. Raises ``Lost``."""
        if isinstance(why, Lost):
            raise why
        if isinstance(why, LeaderRefused):  # of everybody alike, and nothing of it was taken in
            self._answers += 1
            self._fail(self._queue.all(), why.error)
            raise Lost(str(why.error))
        if self._queue.under_way:  # what came before it was answered: it is this one
            self._answers += 1
            self._settle(self._queue.under_way.popleft(), why)
        raise Lost(f"{target} ended the upload: {why}")

    async def _watch(self, target: str) -> None:
        """Raises ``Lost`` where nothing is answered though something is under way."""
        loop, within = asyncio.get_running_loop(), self._settings.answer_within
        seen, since = 0, loop.time()
        while True:
            await asyncio.sleep(min(0.25, within / 4))
            under_way = self._queue.under_way
            first = under_way[0].number if under_way else 0
            if first != seen or not first:
                seen, since = first, loop.time()
            elif loop.time() - since >= within:
                raise Lost(f"{target} has answered nothing for {within:g} s")


def _said(*, recorded: bool) -> bytes:
    """Who calls, and within which span."""
    caller, span = CALLER.get(), CALLING.get()
    if caller is ANYBODY and span is None:
        return b""
    name = "" if caller is ANYBODY else caller.told[:_LONGEST]
    if span is None:
        return said_of(name, "")
    return said_of(name, traceparent(span), recorded=recorded and span.sampled)


def _stream(channel: Any, method: str) -> Any:
    """The leader's method, messages as bytes: the stubs ask for serializers."""
    return channel.stream_stream(method)
