"""Doing what operators asked to forget: the mind process rests meanwhile, and begins again from what is kept."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import structlog

from environment.erasure import ForgetRecord
from environment.errors import FencedOut, StoreUnavailable
from orchestration.forgetting import ForgetRun
from orchestration.host.supervisor import MindSupervisor

_log = structlog.get_logger(__name__)
_LOOK = 5.0
"""Seconds between two looks at what was asked for elsewhere."""


class Forgetter:
    """Carries out requests, one after the other, while this host leads.

    Guarantees: what was asked for is done, over every crash. No actor lives from the first change to the last, so none
    holds or writes what was forgotten.
    """

    def __init__(self, run: ForgetRun, supervisor: MindSupervisor, forgot: Callable[[], None]) -> None:
        """``forgot`` is called when something was forgotten."""
        self._run = run
        self._supervisor = supervisor
        self._asked = asyncio.Event()
        self._forgot = forgot

    async def look(self) -> None:
        """Have what was asked for done now."""
        self._asked.set()

    async def run(self) -> None:
        """Do what is asked for, until cancelled."""
        while True:
            self._asked.clear()
            try:
                for record in await self._run.pending():
                    await self._forget(record)
            except (StoreUnavailable, FencedOut) as error:
                _log.warning("not_forgotten", what="what was asked for", reason=str(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await self._asked.wait()

    async def _forget(self, record: ForgetRecord) -> None:
        _log.info("forgetting", record=record.id, scope=record.scope.kind.value)
        async with self._supervisor.resting(f"it rests while {record.id} is being forgotten") as token:
            done = await self._run.carry_out(record, await self._run.stores.lead(token))
        self._forgot()
        _log.info("forgotten_on_request", record=done.id, state=done.state.value, removed=dict(done.removed))
