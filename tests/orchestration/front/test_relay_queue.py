"""Batches on their way: keys, bytes, receipts, order. Nothing here waits."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.messages import PerceptionBatch, Receipt, Receipts
from orchestration.front.relay_queue import PendingBatch, RelayedBatch, RelayQueue, told
from orchestration.front.writing import encoded
from orchestration.gateway.encode import timestamp
from orchestration.pb.submind.v1 import perception_pb2 as pb

NOON = 1_772_539_200.25


@given(
    st.lists(st.tuples(st.text(min_size=1), st.floats(-6e10, 2e11), st.text(min_size=1, max_size=300)), min_size=1),
    st.text(min_size=1, max_size=300),
)
def test_plain_text_is_written_as_a_message_would_be(rows, key):
    batch = PerceptionBatch(*([row[at] for row in rows] for at in (0, 1, 1, 2)))
    request = pb.PerceiveStreamRequest.FromString(encoded(batch, [key] * len(rows)))
    assert [(one.source, one.key, one.text) for one in request.perceptions] == [
        (source, key, text) for source, _, text in rows
    ]
    assert [one.time for one in request.perceptions] == [timestamp(time) for _, time, _ in rows]


def answers(*rows):
    new = [seq for seq, is_new in rows if is_new]
    known = {place: seq for place, (seq, is_new) in enumerate(rows) if not is_new}
    return Receipts(new[0] if new else 0, len(rows), known)


@pytest.mark.parametrize(
    ("rows", "made", "expected"),
    [
        # told the first time: as the leader says
        ([(5, True), (6, True)], {0, 1}, [(5, True), (6, True)]),
        ([(2, False), (6, True), (3, False), (7, True)], {1}, [(2, False), (6, True), (3, False), (7, True)]),
        ([(2, False), (3, False)], (), [(2, False), (3, False)]),
        # told again, after the first answer was lost: what has a made key was new
        ([(5, False), (6, False)], {0, 1}, [(5, True), (6, True)]),
        ([(5, False), (6, False), (7, False)], {0, 2}, [(5, True), (6, True), (7, True)]),
        ([(5, False), (2, False), (6, False)], {0, 2}, [(5, True), (2, False), (6, True)]),
        ([(5, False), (5, False), (6, False)], {0, 2}, [(5, True), (5, False), (6, True)]),
        ([(4, False), (5, False), (6, False)], {2}, [(4, False), (5, False), (6, True)]),
    ],
)
def test_receipts_say_what_the_leader_said_or_would_have_said(rows, made, expected):
    receipts = told(answers(*rows), frozenset(made))
    assert [(each.seq, each.new) for each in receipts] == expected
    assert [each.id for each in receipts] == [Receipt(f"p-{seq:020x}", seq, True).id for seq, _ in expected]


def pending(loop, since=0.0):
    batch = PerceptionBatch(["ops"], [NOON], [NOON], ["x"])
    return PendingBatch(RelayedBatch(batch, b"", frozenset()), since, loop.create_future())


async def test_what_nobody_waits_for_is_left_out_and_what_is_late_is_found():
    loop = asyncio.get_running_loop()
    queue = RelayQueue(most=8)
    gone, early, late = pending(loop), pending(loop, 1.0), pending(loop, 2.0)
    gone.answer.cancel()
    queue.waiting.extend([gone, early, late])
    assert queue.overdue(0.0)
    assert queue.next() is early
    assert not queue.overdue(1.5)
    assert queue.overdue(2.0)
    assert queue.all() == [early, late]
    assert queue.next() is None
    assert Receipts(3, 1) == told(answers((3, True)), frozenset())
