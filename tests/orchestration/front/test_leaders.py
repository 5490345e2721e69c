"""Who leads, as a front hears of it: a real etcd."""

import asyncio
import secrets
from contextlib import aclosing

import pytest

from orchestration.front.leaders import Leaders, is_same
from orchestration.membership.alone import Alone
from orchestration.membership.backends import open_coordination
from tests.orchestration.membership.joining import SHORT, STEADY
from tests.orchestration.until import until


async def test_leaders_are_told_as_they_come_and_go(etcd):
    mind = secrets.token_hex(6)
    address = f"etcd://{etcd}"
    async with (
        open_coordination(address, mind, settings=STEADY) as here,
        open_coordination(address, mind, settings=STEADY) as there,
        aclosing(here.leaders()) as told,
    ):
        assert await anext(told) is None
        async with there.leadership("host-1:50051"):
            assert (await anext(told)).candidate == "host-1:50051"
        assert await anext(told) is None
        async with here.leadership("host-2:50051"):
            assert (await anext(told)).candidate == "host-2:50051"


async def test_a_front_follows_and_keeps_the_last_it_knew_while_etcd_is_away(etcd_of_its_own):
    mind = secrets.token_hex(6)
    address = f"etcd://127.0.0.1:{etcd_of_its_own.port}"
    leaders = Leaders()
    async with (
        open_coordination(address, mind, settings=SHORT) as front,
        open_coordination(address, mind, settings=SHORT) as host,
    ):
        following = asyncio.create_task(leaders.follow(front.leaders()))
        known = asyncio.create_task(leaders.known())
        async with host.leadership("host-1:50051"):
            assert await known == "host-1:50051"
            gone = asyncio.create_task(leaders.other_than("host-1:50051"))
            await asyncio.to_thread(etcd_of_its_own.kill)
            await asyncio.sleep(2 * SHORT.lease)
            assert leaders.address == "host-1:50051"
            assert not gone.done()
            await asyncio.to_thread(etcd_of_its_own.start)
        await asyncio.wait_for(gone, 60)
        async with host.leadership("host-2:50051"):
            await until(lambda: leaders.address == "host-2:50051")
        assert leaders.changes >= 2
        following.cancel()


@pytest.mark.parametrize(
    ("address", "own", "same"),
    [
        ("127.0.0.1:50051", "127.0.0.1:50051", True),
        ("localhost:50051", "0.0.0.0:50051", True),
        ("127.0.0.1:50051", "[::1]:50051", True),
        ("10.0.0.7:50051", "10.0.0.7:50051", True),
        ("10.0.0.7:50051", "0.0.0.0:50051", False),
        ("127.0.0.1:50051", "10.0.0.7:50051", False),
        ("127.0.0.1:50052", "0.0.0.0:50051", False),
        ("?", "127.0.0.1:50051", False),
        ("127.0.0.1:50051", "", False),
    ],
)
def test_a_front_knows_itself(address, own, same):
    assert is_same(address, own) is same
    leaders = Leaders(address)
    leaders.own = own
    assert leaders.address == ("" if same else address)
    assert ("host.advertise" in leaders.why_not) is same


async def test_who_is_alone_leads_or_nobody_does():
    alone = Alone()
    async with alone.leadership("here"), aclosing(alone.leaders()) as told:
        assert (await anext(told)).candidate == "here"
    await alone.close()
