"""Saying in the registry how actors are that cannot say it themselves."""

import asyncio
from collections.abc import Sequence

import structlog

from environment.errors import StoreUnavailable
from environment.messages import SubmindReport, SubmindState
from environment.ports import Stores, WriteReport
from orchestration.clock import wall
from orchestration.wiring import ActorPlan

_log = structlog.get_logger(__name__)
_TRIES = 10


async def write_reports(
    stores: Stores, plans: Sequence[ActorPlan], fence: int, state: SubmindState, reason: str = "", restarts: int = 0
) -> None:
    """One report for each of ``plans``, in one commit. A store that refuses is asked again. Raises ``FencedOut``."""
    at = wall()
    writes = [
        WriteReport(
            SubmindReport(
                name=plan.name,
                role=plan.role,
                goal=plan.goal,
                state=state,
                at=at,
                metrics={"restarts_total": float(restarts)},
                reason=reason,
            )
        )
        for plan in plans
    ]
    for _ in range(_TRIES):
        try:
            await stores.commit(writes, fence)
        except StoreUnavailable as error:
            await asyncio.sleep(error.retry_after)
        else:
            return
    _log.error("report_not_written", submind=[plan.name for plan in plans][:8], state=state.value, reason=reason)
