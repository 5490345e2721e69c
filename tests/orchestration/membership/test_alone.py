from __future__ import annotations

import pytest

from environment.errors import FencedOut
from environment.ports import Stores
from orchestration.host.leadership import take_lead
from orchestration.membership.backends import open_coordination
from orchestration.membership.errors import BadCoordination, NotLeading
from orchestration.membership.settings import CoordinationSettings


async def test_alone_one_leads_until_it_resigns(stores: Stores) -> None:
    async with open_coordination(None, "mind") as coordination:
        assert await coordination.leader() is None
        async with coordination.leadership("host-1") as term:
            fence = await take_lead(term, stores)
            assert fence == 1
            assert term.leads()
            assert not term.lost.is_set()
            leader = await coordination.leader()
            assert leader is not None
            assert leader.candidate == "host-1"
        assert term.lost.is_set()
        assert not term.leads()
        with pytest.raises(NotLeading):
            await term.advance(3)
        async with coordination.leadership("host-1") as again:
            assert await take_lead(again, stores) == 2
    with pytest.raises(FencedOut):
        await stores.commit([_report()], fence)


def _report() -> object:
    from environment.messages import SubmindReport, SubmindState
    from environment.ports import WriteReport

    return WriteReport(SubmindReport(name="x", role="cognitive", goal="", state=SubmindState.RUNNING, at=0.0))


async def test_alone_nothing_changes_live() -> None:
    async with open_coordination(None, "mind") as coordination:
        assert (await coordination.configuration.current()).version == 0
        with pytest.raises(BadCoordination, match="--coordination"):
            await coordination.configuration.change({"attention.per_hour": 3}, by="me", at=0.0)


async def test_another_scheme_is_refused_in_a_sentence() -> None:
    with pytest.raises(BadCoordination, match="etcd://HOST:PORT"):
        async with open_coordination("consul://x", "mind"):
            pass


def test_a_request_must_leave_time_for_signs_of_life() -> None:
    with pytest.raises(ValueError, match="a third of lease"):
        CoordinationSettings(lease=3, request_timeout=2)
