"""Forward: batches of many callers in one message, answered as each of them would be."""

import grpc

from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1 import forwarding_pb2 as pb
from orchestration.pb.submind.v1.forwarding_pb2_grpc import ForwardServiceStub
from tests.orchestration.gateway.conftest import part, perceived
from tests.orchestration.gateway.test_uploads import AWAY, ended


def message(*parts):
    return pb.ForwardRequest(batches=[pb.ForwardedBatch(request=one) for one in parts])


async def answers(call, count):
    """So many, however many a message has; and how many messages that were."""
    found, messages = [], 0
    while len(found) < count:
        found += (await call.read()).answers
        messages += 1
    return found, messages


async def test_what_comes_together_is_answered_together_in_order_and_durable(gateway):
    call = ForwardServiceStub(gateway.channel).Forward()
    for first in range(0, 200, 50):
        await call.write(
            message(*(part(n + 1, *[perceived(f"{n}.{m}") for m in range(5)]) for n in range(first, first + 50)))
        )
    found, messages = await answers(call, 200)
    assert [one.batch for one in found] == list(range(1, 201))
    assert [(one.first, one.count) for one in found] == [(1 + 5 * n, 5) for n in range(200)]
    assert messages < 200
    assert await gateway.texts() == [f"{n}.{m}" for n in range(200) for m in range(5)]
    await call.done_writing()
    assert await call.read() is grpc.aio.EOF
    assert await call.code() is grpc.StatusCode.OK


async def test_what_is_wrong_with_one_is_named_and_its_neighbours_are_taken_in(gateway):
    call = ForwardServiceStub(gateway.channel).Forward()
    await call.write(message(part(1, perceived("a")), part(2, perceived(" ")), part(3, perceived("b")), part(4)))
    found, _ = await answers(call, 4)
    assert [one.batch for one in found] == [1, 2, 3, 4]
    assert [one.HasField("refusal") for one in found] == [False, True, False, True]
    assert [violation.field for violation in found[1].refusal.violations] == ["perceptions[0].text"]
    assert await gateway.texts() == ["a", "b"]


async def test_what_was_known_is_told_by_its_place(gateway):
    call = ForwardServiceStub(gateway.channel).Forward()
    old = perceived("old", key="k")
    await call.write(message(part(1, old), part(2, perceived("new"), old, perceived("newer"))))
    found, _ = await answers(call, 2)
    assert (found[1].first, found[1].count, dict(found[1].known)) == (2, 3, {1: 1})
    assert await gateway.texts() == ["old", "new", "newer"]
    assert gateway.intake.figures()["perceptions_known_total"] == 1


async def test_what_was_taken_in_is_told_before_the_stream_ends_for_what_was_not(serve):
    async with serve(intake=IntakeSettings(commit=1)) as gateway:
        gateway.log.fails = [None, AWAY]
        call = ForwardServiceStub(gateway.channel).Forward()
        await call.write(message(*(part(n, perceived(f"{n}")) for n in (1, 2, 3))))
        failed, found = await ended(call)
        assert (failed.code, failed.retry_after) == (grpc.StatusCode.UNAVAILABLE, 0.25)
        assert [one.batch for each in found for one in each.answers] == [1]
        assert await gateway.texts() == ["1"]
        assert gateway.intake.figures()["intake_waiting"] == 0
