"""Perceptions in, by the batch and by the stream."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from environment.errors import StoreUnavailable
from environment.messages import Receipts
from orchestration.access.caller import CALLER, Caller
from orchestration.access.errors import AccessError, OverAllowance
from orchestration.access.gate import Access
from orchestration.gateway import decode, encode
from orchestration.gateway.acknowledging import acknowledgement
from orchestration.gateway.binding import CallGuard, MessageStream
from orchestration.gateway.errors import GatewayError, IntakeBusy, Stopping
from orchestration.gateway.intake import Intake
from orchestration.pb.submind.v1 import perception_pb2 as pb
from orchestration.schema.errors import InvalidRequest

_SPOKEN = 1024
DONE = "done"


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A batch that was read: its number, and what will become of it."""

    batch: int
    outcome: asyncio.Future[Receipts] | InvalidRequest

    @property
    def decided(self) -> bool:
        """Whether that is known."""
        return isinstance(self.outcome, InvalidRequest) or self.outcome.done()

    async def result(self) -> Receipts | InvalidRequest:
        """What became of it, once that is known. Raises what the intake answered, when that is the store's error."""
        if isinstance(self.outcome, InvalidRequest):
            return self.outcome
        try:
            return await self.outcome
        except InvalidRequest as error:
            return error

    def drop(self) -> None:
        """Take it back, unless it is being committed: nobody is left to hear what becomes of it."""
        if isinstance(self.outcome, asyncio.Future) and not self.outcome.cancel():
            self.outcome.exception()


def submit(
    intake: Intake, request: pb.PerceiveRequest | pb.PerceiveStreamRequest, sent: int
) -> asyncio.Future[Receipts]:
    """Check a batch and queue it. Raises what ``Intake.submit`` raises.

    ``sent`` is how many bytes it had. What the intake lets through keeps the schema's rules: it is not held against
    them again.
    """
    received = intake.now()
    batch = decode.texts(request.perceptions, received, intake.known_trust)
    size = None if batch is None else intake.size_of_plain(batch, sent)
    if batch is not None and size is not None:
        return intake.enqueue(batch, size)
    return intake.submit(decode.perceptions(request.perceptions, received, intake.trust_of))


async def take_in(intake: Intake, access: Access, request: pb.PerceiveRequest) -> pb.PerceiveResponse:
    """Take in one batch in the name of who calls. Raises what ``Intake.submit`` and its answer raise."""
    size = request.ByteSize()
    if not access.required:
        receipts = await submit(intake, request, size)
    else:
        with speaking(access, {one.source for one in request.perceptions}):
            await access.quotas.admit(CALLER.get(), len(request.perceptions), size)
            receipts = await submit(intake, request, size)
    return pb.PerceiveResponse(receipts=encode.receipts(receipts))


class PerceptionService:
    """``submind.v1.PerceptionService``: what it answers is durable."""

    def __init__(self, intake: Intake, guard: CallGuard) -> None:
        self._intake = intake
        self._guard = guard

    async def perceive(self, request: pb.PerceiveRequest) -> pb.PerceiveResponse:
        """Take in one batch. Raises what ``Intake.submit`` and its answer raise."""
        return await take_in(self._intake, self._guard.access, request)

    async def perceive_stream(self, upload: MessageStream) -> None:
        """Take in batches, answer them in order, and let no more than ``stream_batches`` be unanswered.

        Whatever ends the stream, what was read before it is answered first. Batches whose commit has not begun when
        the caller goes away are dropped: nobody was told that they are kept.
        """
        await UploadStream(self._intake, self._guard, upload).hold()


class UploadStream:
    """One upload: what was read of it and not yet answered."""

    def __init__(self, intake: Intake, guard: CallGuard, upload: MessageStream) -> None:
        self._intake = intake
        self._guard = guard
        self._upload = upload
        self._unanswered: asyncio.Queue[Unanswered | None] = asyncio.Queue()
        self._free = asyncio.Semaphore(guard.settings.stream_batches)
        self._last: asyncio.Future[Receipts] | None = None
        self._spoken: set[tuple[str, str]] = set()
        """Who has spoken here as whom, and was taken in: each is looked at once."""

    async def hold(self) -> None:
        """Read and answer until both are at their end."""
        reader = asyncio.create_task(self.read(), name="perceive-stream")
        try:
            await self.answer()
            await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            self.abandon()

    async def read(self) -> None:
        """Read until the caller has sent all. Raises ``Stopping``, ``TooLarge``, or ``InvalidRequest`` for nonsense."""
        try:
            await self._guard.lifetimes.run(self._read_all())
        finally:
            self._unanswered.put_nowait(None)

    async def _read_all(self) -> None:
        await self._free.acquire()
        while (raw := await self._upload.read()) is not None:
            await self._take(self._guard.read(pb.PerceiveStreamRequest, raw), len(raw))
            await self._free.acquire()

    async def _take(self, request: pb.PerceiveStreamRequest, sent: int) -> None:
        """Take one batch in, or write down why it is refused."""
        said = await self._admit(request, sent) if self._guard.access.required else frozenset()
        outcome: asyncio.Future[Receipts] | InvalidRequest
        try:
            outcome = taken = await self._submit(request, sent)
            if said:
                self._tell(said, taken)
        except InvalidRequest as error:
            self._guard.refused[type(error).__name__] += 1
            outcome = error
            self._spoke(said, error)
        except Exception as error:
            self._spoke(said, error)
            raise
        self._unanswered.put_nowait(Unanswered(request.batch, outcome))

    async def _admit(self, request: pb.PerceiveStreamRequest, sent: int) -> frozenset[str]:
        """Wait until the caller's quota lets a batch through; the operators as whom it speaks for the first time.

        Raises ``Forbidden`` where it may not say this.
        """
        access, caller = self._guard.access, CALLER.get()
        told = caller.told
        new = [source for source in {one.source for one in request.perceptions} if (told, source) not in self._spoken]
        said = access.speaks(caller, new) if new else frozenset()
        self._know(told, (source for source in new if source not in said))
        while True:
            try:
                await access.quotas.admit(caller, len(request.perceptions), sent)
            except OverAllowance as over:
                await asyncio.sleep(over.retry_after)
            else:
                return said

    def _know(self, told: str, sources: Iterable[str]) -> None:
        if len(self._spoken) < _SPOKEN:
            self._spoken.update((told, source) for source in sources)

    def _tell(self, said: frozenset[str], outcome: asyncio.Future[Receipts]) -> None:
        """Write down what becomes of what operators say, when that is known."""
        caller = CALLER.get()

        def decided(done: asyncio.Future[Receipts]) -> None:
            error = asyncio.CancelledError() if done.cancelled() else done.exception()
            self._spoke(said, error, caller)

        outcome.add_done_callback(decided)

    def _spoke(self, said: frozenset[str], error: BaseException | None, caller: Caller | None = None) -> None:
        caller = caller or CALLER.get()
        self._guard.access.spoke(caller, said, outcome_of(error))
        if error is None:
            self._know(caller.told, said)

    async def _submit(self, request: pb.PerceiveStreamRequest, sent: int) -> asyncio.Future[Receipts]:
        """Hand a batch to the intake, waiting for room there. Raises what became of the one before, if that failed."""
        while True:
            if self._last is not None and self._last.done() and not _is_refusal(self._last):
                self._last.result()  # nothing of a stream is taken in behind a gap
            try:
                self._last = submit(self._intake, request, sent)
            except IntakeBusy:
                await self._intake.room()
            else:
                return self._last

    async def answer(self) -> None:
        """Answer in order until the reader ended. Raises what the intake answered, when that is the store's error."""
        while (next_one := await self._unanswered.get()) is not None:
            await self._upload.write(await _answer(next_one))
            self._free.release()

    def abandon(self) -> None:
        """Drop what is not yet being committed."""
        while not self._unanswered.empty():
            left = self._unanswered.get_nowait()
            if left is not None:
                left.drop()


def _is_refusal(outcome: asyncio.Future[Receipts]) -> bool:
    """Whether this batch alone was refused, by a log that looks at it again."""
    return not outcome.cancelled() and isinstance(outcome.exception(), InvalidRequest)


async def _answer(unanswered: Unanswered) -> bytes:
    became = await unanswered.result()
    if isinstance(became, Receipts):
        return acknowledgement(unanswered.batch, became)
    return pb.PerceiveStreamResponse(batch=unanswered.batch, refusal=encode.refusal(became)).SerializeToString()


def outcome_of(error: BaseException | None) -> str:
    """What became of a batch, in the words of the audit log."""
    match error:
        case None:
            return DONE
        case asyncio.CancelledError():
            return "unknown: whoever said it did not wait for the answer"
        case StoreUnavailable() | Stopping():
            return f"failed: {error}"
        case GatewayError() | InvalidRequest() | AccessError():
            return f"refused: {error}"
        case _:
            return f"failed: {type(error).__name__}"


@contextmanager
def speaking(access: Access, sources: Iterable[str]) -> Iterator[None]:
    """While a batch is taken in. Raises ``Forbidden`` where its caller may not speak as its sources."""
    caller = CALLER.get()
    said = access.speaks(caller, sources)
    try:
        yield
    except BaseException as error:
        access.spoke(caller, said, outcome_of(error))
        raise
    access.spoke(caller, said, DONE)
