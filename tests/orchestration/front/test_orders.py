"""Orders about growth through a front: what was decided is answered, also where the leader's answer comes late."""

import asyncio

import pytest

from environment.population import GrowthKind, read_growth
from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.access.caller import CALLER, Caller
from orchestration.access.scopes import Scope
from orchestration.front import asking
from orchestration.front.asking import FrontGrowth, relayed
from orchestration.gateway.services import GrowthService, handlers
from orchestration.growth.admin import GrowthAdmin, OrderOutcome
from orchestration.growth.errors import NotWaiting
from orchestration.growth.log import GrowthLog
from orchestration.growth.settings import GrowthSettings
from orchestration.pb.submind.v1.growth_pb2 import Order
from orchestration.schema.convert import decode
from orchestration.schema.methods import METHODS
from tests.orchestration.front.relaying import relaying
from tests.orchestration.gateway.conftest import serve  # noqa: F401 - a fixture
from tests.orchestration.growth.test_policy import CONFIGURED, LOOSE, NOON, division

BOUNDS = GrowthSettings(**LOOSE, approval="divisions")


class Late(GrowthAdmin):
    """Decides, and then says nothing for a while."""

    async def approve(self, proposal, by, reason):
        await super().approve(proposal, by, reason)
        await asyncio.Event().wait()

    async def reject(self, proposal, by, reason):
        await super().reject(proposal, by, reason)
        await asyncio.Event().wait()


@pytest.mark.parametrize("known", [False, True], ids=["nobody known", "by a token"])
async def test_what_the_leader_decided_is_answered_though_its_answer_is_late(serve, tmp_path, monkeypatch, known):  # noqa: F811
    monkeypatch.setattr(asking, "_ORDER", 1.0)
    if known:
        CALLER.set(Caller("ops", "token", frozenset({Scope.OPERATE})))
    stores, others = await open_stores(tmp_path, "alpha"), await open_stores(tmp_path, "alpha")
    log = GrowthLog(others, BOUNDS, CONFIGURED, lambda: NOON, await others.lead())
    late = Late(stores, BOUNDS, CONFIGURED, lambda: NOON)
    async with serve(stores=stores, desk=late) as leader, relaying(leader.target) as way:
        for submind in ("causes", "people"):
            await log.consider(division(submind, f"{submind}/1"), lambda member: [WriteState(member.name, b"first")])
        own = GrowthService(FrontGrowth(stores, BOUNDS, CONFIGURED, lambda: NOON))
        orders = relayed(way.upstream, handlers("submind.v1.GrowthService", own))

        async def give(name, proposal, reason, by="ann"):
            method = METHODS[f"/submind.v1.GrowthService/{name}"]
            request = method.request(proposal=str(proposal), order=Order(by=by, reason=reason))
            return decode(OrderOutcome, (await orders[method.rpc](request)).outcome)

        approved, rejected = await give("Approve", 1, "busy"), await give("Reject", 2, "not now")
        assert (approved.event.kind, approved.event.proposal) == (GrowthKind.APPROVED, 1)
        assert (rejected.event.kind, rejected.event.proposal) == (GrowthKind.REJECTED, 2)
        assert await read_growth(stores.collections, 2, 10) == [approved.event, rejected.event]  # each once
        with pytest.raises(NotWaiting, match="approved by ann"):
            await give("Approve", 1, "busy", by="bob")
    await others.close()
