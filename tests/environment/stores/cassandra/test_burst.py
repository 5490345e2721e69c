"""Many requests at once, on a real server: answers in order, whatever fails, pages, waits or is given up."""

import asyncio
import random

import pytest

from environment.errors import StoreBroken
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.driver.settings import CassandraSettings

READ = "SELECT position FROM perception_keys WHERE mind = ? AND key = ?"
WRITE = "INSERT INTO perception_keys (mind, key, position) VALUES (?, ?, ?) USING TIMESTAMP ?"
ROWS = "SELECT part FROM perception_payloads WHERE mind = ? AND position = ?"
WRITE_ROW = "INSERT INTO perception_payloads (mind, position, part, body) VALUES (?, ?, ?, ?)"


@pytest.fixture
async def session(shared_keyspace):
    opened = await open_session(
        shared_keyspace, CassandraSettings(in_flight=40, concurrency=16, page_rows=10), rng=random.Random(1)
    )
    yield opened
    await opened.close()


def free(session):
    """How many requests may be sent now."""
    return session._permits._value


async def test_answers_come_in_the_order_of_their_requests(session, request):
    write, read = await session.prepare(WRITE), await session.prepare(READ)
    mind = request.node.name
    writes = [(write, (mind, n.to_bytes(4, "big"), n, 1)) for n in range(500)]
    assert await session.execute_all(writes, idempotent=True) == [[]] * 500
    wanted = random.Random(1).choices(range(600), k=700)
    reads = ((read, (mind, n.to_bytes(4, "big"))) for n in wanted)
    answers = await session.execute_all(reads, idempotent=True)
    assert [[row.position for row in rows] for rows in answers] == [[n] if n < 500 else [] for n in wanted]
    assert free(session) == 40


async def test_an_answer_of_many_pages_is_whole(session, request):
    write, read = await session.prepare(WRITE_ROW), await session.prepare(ROWS)
    mind = request.node.name
    given = [(write, (mind, n, part, b"x")) for n in range(20) for part in range(25 if n % 3 == 0 else 3)]
    await session.execute_all(given, idempotent=True)
    answers = await session.execute_all([(read, (mind, n)) for n in range(20)], idempotent=True)
    assert [len(rows) for rows in answers] == [25 if n % 3 == 0 else 3 for n in range(20)]


TOO_LONG = "m" * 70_000


@pytest.mark.parametrize(
    ("wrong", "error"), [(("m", b"key", "five", 1), TypeError), ((TOO_LONG, b"key", 5, 1), StoreBroken)]
)
async def test_a_failure_ends_it_and_is_raised_when_the_others_have_ended(session, request, wrong, error):
    write, read = await session.prepare(WRITE), await session.prepare(READ)
    mind = request.node.name
    writes = [(write, (mind, n.to_bytes(4, "big"), n, 1)) for n in range(2000)]
    writes[100] = (write, wrong)
    with pytest.raises(error):
        await session.execute_all(writes, idempotent=True)
    assert free(session) == 40
    there = await session.execute_all([(read, (mind, n.to_bytes(4, "big"))) for n in range(2000)], idempotent=True)
    assert 84 <= sum(map(len, there)) < 1900


async def test_several_at_once_share_what_may_be_sent(session, request):
    write = await session.prepare(WRITE)
    most = [40]

    async def one(number):
        mind = f"{request.node.name}{number}"
        await session.execute_all(
            [(write, (mind, n.to_bytes(4, "big"), n, 1)) for n in range(100)], idempotent=True, concurrency=30
        )
        most.append(free(session))

    async with asyncio.timeout(60):
        await asyncio.gather(*map(one, range(12)))
    assert min(most) >= 0
    assert free(session) == 40


async def test_who_gives_up_stops_it_and_holds_nothing(session, request):
    write, read = await session.prepare(WRITE), await session.prepare(READ)
    mind = request.node.name
    sent = [(write, (mind, n.to_bytes(4, "big"), n, 1)) for n in range(20_000)]
    going = asyncio.ensure_future(session.execute_all(sent, idempotent=True))
    for _ in range(3):
        await session.execute(read, (mind, bytes(4)), idempotent=True)
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    async with asyncio.timeout(60):
        await session.execute_all([(read, (mind, b"none"))] * 100, idempotent=True, concurrency=40)
    assert await session.execute(read, (mind, bytes(4)), idempotent=True)
    last = (19_999).to_bytes(4, "big")
    assert await session.execute(read, (mind, last), idempotent=True) == []
    assert free(session) == 40
