"""Batches of many callers over one stream, as processes before the mind hand them on: many in a message, both ways.

A message costs more than what is done with a small batch, so what comes together is read and answered together.
"""

from dataclasses import replace
from itertools import islice

from environment.messages import Receipts
from orchestration.access.caller import CALLER, Caller, Quota
from orchestration.access.errors import OverAllowance
from orchestration.access.gate import fit
from orchestration.access.quotas import BYTES, PERCEPTIONS
from orchestration.access.scopes import Scope
from orchestration.gateway import encode
from orchestration.gateway.binding import CallGuard, MessageStream
from orchestration.gateway.intake import Intake
from orchestration.gateway.uploads import Unanswered, UploadStream
from orchestration.pb.submind.v1 import forwarding_pb2 as pb
from orchestration.schema.times import duration
from orchestration.telemetry.tracing.ids import CALLING, caller_of
from orchestration.telemetry.tracing.ids import CallerSpan as Span

_CALLERS = 1024
"""Callers of a front whose names are remembered."""


class ForwardService:
    """``submind.v1.ForwardService``: what it answers is durable."""

    def __init__(self, intake: Intake, guard: CallGuard) -> None:
        self._intake = intake
        self._guard = guard

    async def forward(self, upload: MessageStream) -> None:
        """Take in batches and answer them in order, as ``PerceptionService.perceive_stream`` does."""
        await _Forwarded(self._intake, self._guard, upload).hold()

    async def allow(self, request: pb.AllowRequest) -> pb.AllowResponse:
        """Count what a caller sends through another process against its quota here."""
        own = Quota(
            request.perceptions_per_second if request.HasField("perceptions_per_second") else None,
            request.bytes_per_second if request.HasField("bytes_per_second") else None,
        )
        caller = Caller(request.caller, "jwt" if request.kind == "jwt" else "token", frozenset(), quota=own)
        amount, ahead = request.amount, {PERCEPTIONS: request.ahead.perceptions, BYTES: request.ahead.bytes}
        try:
            granted = self._guard.access.quotas.grant(caller, amount.perceptions, amount.bytes, ahead)
        except OverAllowance as over:
            after = duration(over.retry_after)
            return pb.AllowResponse(quota=over.quota, allowed=over.allowed, retry_after=after)
        counted = pb.Amount(perceptions=int(granted.get(PERCEPTIONS, 0)), bytes=int(granted.get(BYTES, 0)))
        return pb.AllowResponse(ahead=counted)


class _Forwarded(UploadStream):
    """One stream of forwarded batches."""

    async def _read_all(self) -> None:
        front = CALLER.get()
        trusted = Scope.FORWARD in front.scopes  # who else would be believed what it says of others
        callers = {"": front}
        while (raw := await self._upload.read()) is not None:
            for one in self._guard.read(pb.ForwardRequest, raw).batches:
                await self._free.acquire()
                CALLING.set(_span(one) if trusted and one.traceparent else None)
                if trusted:
                    CALLER.set(_named(callers, one.caller))
                await self._take(one.request, one.request.ByteSize())

    async def answer(self) -> None:
        """Answer all that is decided at a time, in one message. Raises what the intake answered of the one after."""
        following = await self._unanswered.get()
        while following is not None:
            answers = [await _answer(following)]
            following = None
            try:
                while more := not self._unanswered.empty():
                    following = self._unanswered.get_nowait()
                    if following is None or not following.decided:
                        break
                    answers.append(await _answer(following))
                    following = None
            finally:
                try:
                    await self._upload.write(pb.ForwardResponse(answers=answers).SerializeToString())
                except BaseException:
                    if following is not None:
                        following.drop()
                    raise
            for _ in answers:
                self._free.release()
            if not more:
                following = await self._unanswered.get()


def _named(callers: dict[str, Caller], name: str) -> Caller:
    """The front, calling in somebody's name."""
    if name not in callers:
        if len(callers) > _CALLERS:
            del callers[next(islice(callers, 1, None))]
        callers[name] = replace(callers[""], behalf=fit(name))
    return callers[name]


def _span(one: pb.ForwardedBatch) -> Span | None:
    caller = caller_of(one.traceparent)
    return caller and replace(caller, relayed=one.recorded)


async def _answer(unanswered: Unanswered) -> pb.ForwardedAnswer:
    batch, became = unanswered.batch, await unanswered.result()
    if isinstance(became, Receipts):
        return pb.ForwardedAnswer(batch=batch, first=became.first, count=became.count, known=became.known)
    return pb.ForwardedAnswer(batch=batch, refusal=encode.refusal(became))
