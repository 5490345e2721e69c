"""A front's way to a leader, both in this process: real servers, real stores."""

import asyncio
import random
import secrets
from contextlib import asynccontextmanager
from dataclasses import dataclass

from environment.messages import NewPerception
from orchestration.front.leaders import Leaders
from orchestration.front.relay import RelayedLog
from orchestration.front.settings import FrontSettings
from orchestration.front.upstream import Upstream
from orchestration.gateway.intake import Intake
from orchestration.gateway.settings import IntakeSettings
from orchestration.membership.ports import Leader
from tests.environment.stores.making import NOON

MIB = 1024 * 1024


@dataclass
class Way:
    """What perceptions go through."""

    leaders: Leaders
    upstream: Upstream
    relay: RelayedLog
    intake: Intake
    elected: asyncio.Queue

    def elect(self, address):
        self.elected.put_nowait(Leader(address, 1, NOON) if address else None)

    async def tell(self, *texts, key=None, source="ops"):
        return list(
            await self.intake.submit([said(text, key and f"{key}-{n}", source) for n, text in enumerate(texts)])
        )


def said(text, key=None, source="ops"):
    return NewPerception(source, NOON, NOON, text=text, key=key)


@asynccontextmanager
async def relaying(target, *, intake=None, message_bytes=8 * MIB, token_file=None, recorded=False, **front):
    """A way to ``target``; empty: to whoever is elected."""
    settings = FrontSettings(**({"hold": 0.5, "connect_timeout": 0.5} | front))
    leaders, elected = Leaders(target), asyncio.Queue()
    upstream = Upstream(leaders, settings, message_bytes=message_bytes, token_file=token_file)
    chosen = intake or IntakeSettings()
    relay = RelayedLog(
        leaders,
        upstream,
        settings,
        message_bytes=message_bytes,
        per_second=7.0,
        token=lambda: secrets.token_urlsafe(12),
        chance=random.Random(1),
        recorded=recorded,
    )

    async def told():
        while True:
            yield await elected.get()

    tasks = [asyncio.create_task(relay.run()), asyncio.create_task(leaders.follow(told()))]
    way = Way(leaders, upstream, relay, Intake(relay, chosen, lambda: NOON), elected)
    try:
        yield way
    finally:
        await way.intake.close()
        assert not any(task.done() for task in tasks), "the relay gave up"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await upstream.close()
