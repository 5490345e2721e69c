"""PerceiveStream: answers in order, back-pressure, what ends it and what does not."""

import asyncio

import grpc

from environment.errors import StoreUnavailable
from orchestration.gateway.binding import CallKind
from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1 import perception_pb2
from tests.orchestration.gateway.conftest import part, perceived, refusal
from tests.orchestration.until import until

AWAY = StoreUnavailable("the disk is away", retry_after=0.25)


async def ended(call):
    """How a stream that must fail failed, read to its end."""
    answers = []

    async def drain():
        while (answer := await call.read()) is not grpc.aio.EOF:
            answers.append(answer)

    return await refusal(drain()), answers


async def test_answers_come_in_order_and_each_batch_is_durable(gateway):
    call = gateway.perception.PerceiveStream()
    seen = []

    async def read():
        while (answer := await call.read()) is not grpc.aio.EOF:
            durable = await gateway.stores.perceptions.get([receipt.id for receipt in answer.receipts])
            assert len(durable) == 5
            seen.append(answer.batch)

    reader = asyncio.ensure_future(read())
    for number in range(200):
        await call.write(part(number, *[perceived(f"{number}.{n}") for n in range(5)]))
    await call.done_writing()
    await reader
    assert seen == list(range(200))
    assert await call.code() is grpc.StatusCode.OK
    assert await gateway.texts() == [f"{number}.{n}" for number in range(200) for n in range(5)]
    assert gateway.intake.figures()["intake_commits_total"] < 200


async def test_a_refused_batch_is_answered_in_its_place_and_the_stream_goes_on(gateway):
    call = gateway.perception.PerceiveStream()
    for number, one in enumerate([perceived("a"), perceived(" "), perceived("b")]):
        await call.write(part(number, perceived(f"with {number}"), one))
    await call.write(part(9))
    await call.done_writing()
    answers = [await call.read() for _ in range(4)]
    assert [answer.batch for answer in answers] == [0, 1, 2, 9]
    assert [len(answer.receipts) for answer in answers] == [2, 0, 2, 0]
    assert [violation.field for violation in answers[1].refusal.violations] == ["perceptions[1].text"]
    assert answers[3].refusal.violations[0].field == "perceptions"
    assert not answers[0].HasField("refusal")
    assert await call.read() is grpc.aio.EOF
    assert await gateway.texts() == ["with 0", "a", "with 2", "b"]


async def test_nonsense_ends_the_stream_after_the_answers_before_it(gateway):
    call = gateway.channel.stream_stream(
        "/submind.v1.PerceptionService/PerceiveStream",
        response_deserializer=perception_pb2.PerceiveStreamResponse.FromString,
    )()
    await call.write(part(1, perceived("kept")).SerializeToString())
    await call.write(b"\xff\xff\xff")
    failed, answers = await ended(call)
    assert failed.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [answer.batch for answer in answers] == [1]
    assert await gateway.texts() == ["kept"]


async def test_a_sender_without_end_is_held_back(serve):
    async with serve(stream_batches=4) as gateway:
        gateway.log.may.clear()
        call = gateway.perception.PerceiveStream()
        written = 0

        async def write():
            nonlocal written
            while written < 400:
                await call.write(part(written, *[perceived("x" * 4000, key=f"{written}")] * 8))
                written += 1
            await call.done_writing()

        writer = asyncio.ensure_future(write())
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 32)
        held = -1
        while held != written:  # until nothing moves any more
            held = written
            await asyncio.sleep(0.2)
        assert gateway.intake.figures()["intake_waiting"] == 32  # four batches, whatever was sent
        assert written < 400
        gateway.log.may.set()
        answers = 0
        while await call.read() is not grpc.aio.EOF:
            answers += 1
        await writer
        assert answers == 400
        assert await gateway.stores.perceptions.head() == 400


async def test_who_reads_no_answers_is_let_go(serve):
    async with serve(reader_timeout=0.3) as gateway:
        call = gateway.perception.PerceiveStream()

        async def write():
            for number in range(1000):
                await call.write(part(number, *[perceived("x")] * 1000))

        writer = asyncio.ensure_future(write())
        await until(lambda: gateway.server.figures()["gateway_open:streams"] == 1)
        await until(lambda: gateway.server.figures()["gateway_open:streams"] == 0)
        assert gateway.server._guard.refused == {"TooSlow": 1}
        writer.cancel()
        call.cancel()


async def test_a_full_queue_holds_streams_back_and_loses_nothing(serve):
    async with serve(intake=IntakeSettings(pending=8)) as gateway:

        async def upload(name):
            call = gateway.perception.PerceiveStream()
            for number in range(30):
                await call.write(part(number, *[perceived(f"{name}.{number}.{n}") for n in range(4)]))
            await call.done_writing()
            answers = [await call.read() for _ in range(30)]
            assert [answer.batch for answer in answers] == list(range(30))
            assert all(len(answer.receipts) == 4 for answer in answers)

        await asyncio.gather(*(upload(name) for name in "abcdef"))
        texts = await gateway.texts()
        assert len(set(texts)) == len(texts) == 6 * 30 * 4
        for name in "abcdef":
            own = [text for text in texts if text.startswith(name)]
            assert own == [f"{name}.{number}.{n}" for number in range(30) for n in range(4)]


async def test_a_store_that_fails_ends_the_stream_with_a_time_and_the_rest_may_be_sent_again(serve):
    async with serve() as gateway:
        gateway.log.fails = [None, AWAY]
        call = gateway.perception.PerceiveStream()
        await call.write(part(1, perceived("one", key="1")))
        assert (await call.read()).batch == 1
        await call.write(part(2, perceived("two", key="2")))
        failed, answers = await ended(call)
        assert (failed.code, failed.retry_after, answers) == (grpc.StatusCode.UNAVAILABLE, 0.25, [])
        again = gateway.perception.PerceiveStream()
        await again.write(part(2, perceived("two", key="2")))
        assert (await again.read()).receipts[0].new
        again.cancel()
        assert await gateway.texts() == ["one", "two"]


async def test_a_caller_who_vanishes_leaves_nothing_behind_but_what_was_being_written(serve):
    async with serve() as gateway:
        gateway.log.may.clear()
        call = gateway.perception.PerceiveStream()
        await call.write(part(0, perceived("being written")))
        await until(lambda: gateway.log.commits == [1])
        for number in range(1, 4):
            await call.write(part(number, perceived(f"queued {number}")))
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 4)
        call.cancel()
        await until(lambda: gateway.server.figures()["gateway_open:streams"] == 0)
        gateway.log.may.set()
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 0)
        assert await gateway.texts() == ["being written"]


async def test_more_streams_than_allowed_are_asked_to_come_back_and_do_not_take_calls_away(serve):
    async with serve(streams=1, calls=1) as gateway:
        first = gateway.perception.PerceiveStream()
        await first.write(part(1, perceived("a")))
        await first.read()
        failed, _ = await ended(gateway.perception.PerceiveStream())
        assert (failed.code, failed.quota) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "gateway.streams")
        assert failed.retry_after == 0.05
        with gateway.server._guard.slot(CallKind.CALLS):
            asked = gateway.perception.Perceive(perception_pb2.PerceiveRequest(perceptions=[perceived("no")]))
            assert (await refusal(asked)).quota == "gateway.calls"
        await gateway.perception.Perceive(perception_pb2.PerceiveRequest(perceptions=[perceived("b")]))
        await first.done_writing()
        assert await first.read() is grpc.aio.EOF
        again = gateway.perception.PerceiveStream()
        await again.write(part(1, perceived("c")))
        assert (await again.read()).batch == 1
        again.cancel()


async def test_stopping_answers_what_was_read_and_ends_the_stream_unavailable(serve):
    async with serve() as gateway:
        gateway.log.may.clear()
        call = gateway.perception.PerceiveStream()
        for number in range(3):
            await call.write(part(number, perceived(str(number))))
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 3)
        stop = asyncio.ensure_future(gateway.server.stop())
        await asyncio.sleep(0.05)
        gateway.log.may.set()
        failed, answers = await ended(call)
        assert failed.code is grpc.StatusCode.UNAVAILABLE
        assert failed.retry_after > 0
        assert [answer.batch for answer in answers] == [0, 1, 2]
        await stop
        assert await gateway.texts() == ["0", "1", "2"]
