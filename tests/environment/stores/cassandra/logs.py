"""Openings of a perception log on the real server, and sessions whose requests are held up, lost or late."""

import asyncio
from collections.abc import Awaitable, Callable

from environment.stores.cassandra.driver.errors import OutcomeUnknown
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from tests.environment.stores.making import perception

Action = Callable[[], Awaitable[object]]


class Troubled:
    """A session to the real server, some requests of which are not sent as their sender thinks."""

    def __init__(self, session):
        self._session = session
        self.rows: list[Callable[[Action], Awaitable[object]]] = []
        """What happens to the next concurrent writes, one after the other; then they are as ever."""
        self.conditions: list[Callable[[Action], Awaitable[object]]] = []
        """What happens to the next conditional writes."""

    def __getattr__(self, name):
        return getattr(self._session, name)

    async def execute_all(self, requests, **options):
        requests = list(requests)
        if self.rows and any("INSERT" in statement.query_string for statement, _ in requests):
            return await self.rows.pop(0)(lambda: self._session.execute_all(requests, **options))
        return await self._session.execute_all(requests, **options)

    async def conditional(self, statement, values=()):
        if self.conditions:
            return await self.conditions.pop(0)(lambda: self._session.conditional(statement, values))
        return await self._session.conditional(statement, values)


async def as_ever(send):
    return await send()


async def answer_lost(send):
    await send()
    raise OutcomeUnknown("the answer was lost")


async def never_arrived(send):
    raise OutcomeUnknown("the request was lost")


class Late:
    """A request that is thought lost, and arrives when ``arrive`` is called."""

    def __init__(self):
        self._send = None

    async def __call__(self, send):
        self._send = send
        raise OutcomeUnknown("the request is late")

    async def arrive(self):
        return await self._send()


class Paused:
    """A request whose sender stops before it sends, until it is ``woken``."""

    def __init__(self):
        self.reached = asyncio.Event()
        self.woken = asyncio.Event()

    async def __call__(self, send):
        self.reached.set()
        await self.woken.wait()
        return await send()


class Opening:
    """The log alone, opened as a process would."""

    def __init__(self, session, mind, **options):
        self.session = Troubled(session)
        self.perceptions = CassandraPerceptions(self.session, mind, **options)

    async def close(self):
        await self.perceptions.close()
        await self.session.close()

    async def give(self, *numbers, keyed=True):
        batch = [perception(n, key=f"k{n}" if keyed else None) for n in numbers]
        return await self.perceptions.append(batch)

    async def texts(self):
        return [one.text for one in await self.everything()]

    async def everything(self):
        """All that is there, and that it has no gap."""
        found = []
        while page := await self.perceptions.read(found[-1].seq if found else 0, 500):
            found += page
        if found:
            assert [one.seq for one in found] == list(range(found[0].seq, await self.perceptions.head() + 1))
        assert len(found) == await self.perceptions.rows()
        return found


def lines(*numbers):
    return [f"line {n}" for n in numbers]
