"""An etcd that dies, freezes, comes back, loses its majority."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest

from orchestration.membership.backends import open_coordination
from orchestration.membership.errors import CoordinationUnavailable
from orchestration.membership.ports import Coordination
from orchestration.membership.settings import CoordinationSettings
from tests.orchestration.membership.joining import SHORT
from tests.servers.etcd import EtcdCluster, EtcdServer

PATIENT = CoordinationSettings(lease=8, request_timeout=1, connect_timeout=5)
BRIEF = CoordinationSettings(lease=4, request_timeout=0.6, connect_timeout=5)
"""Short enough to be waited for, and its holder may stand still for a second or two."""


@asynccontextmanager
async def joined(endpoint: str, settings: CoordinationSettings = SHORT) -> AsyncIterator[Coordination]:
    async with open_coordination(f"etcd://{endpoint}", "mind", settings=settings) as coordination:
        yield coordination


@pytest.mark.parametrize("how", ["kill", "pause"])
async def test_a_leader_goes_on_while_its_lease_lasts_then_stops_then_takes_over_again(
    etcd_of_its_own: EtcdServer, how: str
) -> None:
    server = etcd_of_its_own
    async with joined(server.endpoint, BRIEF) as coordination, AsyncExitStack() as stack:
        term = await stack.enter_async_context(coordination.leadership("host"))
        getattr(server, how)()
        gone = time.monotonic()
        await asyncio.sleep(0.3)
        # Or this process stood still meanwhile.
        assert term.leads() or time.monotonic() - gone > BRIEF.lease / 3, "it stopped while its lease ran"
        with pytest.raises(CoordinationUnavailable):
            await coordination.leader()
        await asyncio.sleep(gone + BRIEF.lease - time.monotonic())
        assert not term.leads(), "its lease may be over, and it leads"
        await asyncio.wait_for(term.lost.wait(), 60)
        assert term.reason == "its lease may be over, and etcd has not confirmed another"
        await stack.aclose()
        again = asyncio.create_task(stack.enter_async_context(coordination.leadership("host")))
        await asyncio.sleep(0.5)
        assert not again.done(), "it leads though nobody could be asked"
        if how == "kill":
            await asyncio.to_thread(server.start)
        else:
            server.resume()
        second = await asyncio.wait_for(again, 60)
        assert second.token is not None
        assert second.token >= 2  # an election that etcd was too slow to confirm counts as well


async def test_a_term_outlasts_a_short_loss(etcd_of_its_own: EtcdServer) -> None:
    began = time.monotonic()
    etcd_of_its_own.kill()
    await asyncio.to_thread(etcd_of_its_own.start)
    lease = max(PATIENT.lease, 5 * (time.monotonic() - began))  # this machine may be slow, or busy
    patient = CoordinationSettings(lease=lease, request_timeout=PATIENT.request_timeout, connect_timeout=60)
    async with joined(etcd_of_its_own.endpoint, patient) as coordination, coordination.leadership("host") as term:
        etcd_of_its_own.kill()
        await asyncio.to_thread(etcd_of_its_own.start)
        assert term.leads(), "etcd took longer to come back than the lease: the test says nothing"
        await asyncio.sleep(lease)
        assert term.leads()
        assert term.token == 1


async def test_a_member_that_freezes_is_turned_from(etcd_cluster: EtcdCluster) -> None:
    """The one that is asked, though its connection stays open: the others are asked in time."""
    async with joined(etcd_cluster.endpoints, PATIENT) as coordination, coordination.leadership("host") as term:
        watching = coordination.configuration.watch()
        assert (await anext(watching)).version == 0
        frozen = etcd_cluster.members[coordination._client._at]  # type: ignore[attr-defined]
        frozen.pause()
        async with asyncio.timeout(60):
            while coordination._client.turned == 0:  # type: ignore[attr-defined]  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        with suppress(CoordinationUnavailable):  # while the others elect another among themselves
            await coordination.configuration.change({"attention.per_hour": 3}, by="ada", at=1.0)
        assert (await asyncio.wait_for(anext(watching), 60)).version == 1
        await asyncio.sleep(PATIENT.lease)
        assert term.leads()
        assert term.token == 1
    for member in etcd_cluster.members:
        member.kill()  # asked properly, the last two would wait for each other


async def test_a_member_may_go_and_without_a_majority_nobody_leads(etcd_cluster: EtcdCluster) -> None:
    async with joined(etcd_cluster.endpoints, PATIENT) as coordination, AsyncExitStack() as stack:
        term = await stack.enter_async_context(coordination.leadership("host"))
        first = coordination._client._at  # type: ignore[attr-defined]
        etcd_cluster.members[first].kill()
        await asyncio.sleep(PATIENT.lease * 1.3)
        assert term.leads(), "a majority is there, and it stopped leading"
        assert (await coordination.figures())["coordination_members_answering"] == 2
        etcd_cluster.members[(first + 1) % 3].kill()
        await asyncio.wait_for(term.lost.wait(), 60)
        last = etcd_cluster.members[(first + 2) % 3]
        await asyncio.sleep(1)
        assert (await coordination.figures())["coordination_quorum"] == 0
        for endpoint in (last.endpoint, etcd_cluster.endpoints):
            began = time.monotonic()
            with pytest.raises(CoordinationUnavailable, match=f"{last.endpoint} answers but has no quorum"):
                async with joined(endpoint, PATIENT):
                    pass
            assert time.monotonic() - began <= 2 * PATIENT.connect_timeout
        await stack.aclose()
        await asyncio.to_thread(etcd_cluster.members[first].start)
        async with asyncio.timeout(60), coordination.leadership("host") as again:
            assert again.token is not None
            assert again.token >= 2
