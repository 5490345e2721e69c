"""Readers and callers over HTTP come to servers that were added since, and miss nothing by it."""

import asyncio
from contextlib import asynccontextmanager

import httpx

from environment.ports import WriteConnections
from tests.environment.stores.making import change
from tests.orchestration.feed.conftest import serving
from tests.orchestration.feed.test_events import think
from tests.orchestration.front.test_ages import Service
from tests.orchestration.until import until

AGE = 0.3
"""Seconds, give or take a tenth."""


class EventSource:
    """Reads as a browser does: it comes back by itself, with the last id it was told, with data or without."""

    def __init__(self, client, path, **params):
        self.last, self.events, self.connections = "", [], 0
        self._client, self._path, self._params = client, path, params

    async def run(self):
        while True:
            headers = {"Last-Event-ID": self.last} if self.last else {}
            async with self._client.stream("GET", self._path, params=self._params, headers=headers) as response:
                assert response.status_code == 200, await response.aread()
                self.connections += 1
                event = {}
                async for line in response.aiter_lines():
                    field, _, value = line.partition(": ")
                    if field:
                        event[field] = value
                        continue
                    self.last = event.get("id", self.last)
                    if "data" in event:
                        self.events.append(event)
                    event = {}

    async def until(self, what):
        task = asyncio.create_task(self.run())
        try:
            async with asyncio.timeout(60):
                while not what(self):
                    assert not task.done(), task.exception()
                    await asyncio.sleep(0.01)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def two_feeds(tmp_path, age=AGE):
    """One behind a service, and one that a test adds."""
    service = Service()
    async with serving(tmp_path, age=age) as one, serving(tmp_path, age=age, stores=one.stores) as two:
        listening = await asyncio.start_server(service.meet, "127.0.0.1", 0)
        service.add(one.server.port)
        port = listening.sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            try:
                yield service, one, two, client
            finally:
                listening.close()


async def test_a_reader_comes_to_a_server_that_was_added_and_misses_nothing(tmp_path):
    async with two_feeds(tmp_path) as (service, one, two, client):
        service.add(two.server.port)
        written = 0

        async def write():
            nonlocal written
            while True:
                written += 1
                await think(one, written)
                await asyncio.sleep(0.005)

        writing = asyncio.create_task(write())
        reader = EventSource(client, "/v1/stream/events", **{"from": 1})
        await reader.until(lambda it: min(service.opened.values()) >= 2 and len(it.events) > 100)
        writing.cancel()
        assert [int(event["id"]) for event in reader.events] == list(range(1, len(reader.events) + 1))


async def test_who_was_told_nothing_yet_misses_nothing_either(tmp_path):
    async with two_feeds(tmp_path) as (_, one, _, client):
        await think(one, 1, 3)
        reader = EventSource(client, "/v1/stream/events")
        await reader.until(lambda it: it.connections >= 2)
        assert (reader.events, reader.last) == ([], "3")
        await think(one, 4, 2)  # while it is away
        await reader.until(lambda it: it.events)
        assert [event["id"] for event in reader.events] == ["4", "5"]


async def test_who_wants_little_does_not_have_everything_looked_at_again(tmp_path):
    async with two_feeds(tmp_path) as (_, one, _, client):
        await think(one, 1, 3)
        reader = EventSource(client, "/v1/stream/events", **{"from": 1, "contains": "nobody says this"})
        await reader.until(lambda it: it.connections >= 2)
        assert (reader.events, reader.last) == ([], "3")


async def test_a_stream_that_could_not_be_gone_on_with_does_not_end(tmp_path):
    async with two_feeds(tmp_path) as (_, one, _, client):
        reader = EventSource(client, "/v1/connections/events")
        reading = asyncio.create_task(reader.until(lambda it: it.events))
        await until(lambda: reader.connections == 1)
        await asyncio.sleep(3 * AGE)
        assert reader.connections == 1  # nothing has happened yet, so there is no mark to come back with
        await one.stores.commit([WriteConnections("causes", (), (), (change(1, "causes"),))])
        await reading


async def test_calls_over_one_connection_come_to_a_server_that_was_added(tmp_path):
    async with two_feeds(tmp_path, 3.0) as (service, one, two, client):  # young when it is first asked, on any machine
        assert "connection" not in (await client.get("/v1/stream")).headers
        service.add(two.server.port)
        async with asyncio.timeout(60):
            while not service.opened[two.server.port]:
                assert (await client.get("/v1/stream")).status_code == 200  # and none fails
                await asyncio.sleep(0.02)
        assert service.opened[one.server.port] == 1
