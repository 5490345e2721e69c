"""The stream over server-sent events: resumable, in order, bounded, ended cleanly."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from environment.messages import EntryKind
from environment.ports import WriteConnections, WriteEntries
from tests.environment.stores.making import change, entry
from tests.orchestration.until import so_many, until


async def think(feed, first, count=1, **changes):
    entries = tuple(replace(entry(first + n), **changes) for n in range(count))
    await feed.stores.commit([WriteEntries(entries)])


@asynccontextmanager
async def events(feed, path="/v1/stream/events", **params):
    headers = params.pop("headers", {})
    query = {name.rstrip("_"): value for name, value in params.items()}
    async with feed.client.stream("GET", path, params=query, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"].startswith("text/event-stream")
        yield parsed(response)


async def parsed(response):
    event = {}
    async for line in response.aiter_lines():
        if line.startswith(":"):
            yield {"comment": line[1:].strip()}
        elif not line:
            if "data" in event:
                yield event
            event = {}
        else:
            field, _, value = line.partition(": ")
            event[field] = value


async def take(stream, count):
    found = []
    async with asyncio.timeout(60):
        async for event in stream:
            if "data" in event:
                found.append(event)
            if len(found) == count:
                break
    return found


async def test_an_event_is_an_entry_with_its_number(feed):
    await think(feed, 1)
    await think(feed, 2, kind=EntryKind.SEGUE)
    async with events(feed, from_=1) as stream:
        one, two = await take(stream, 2)
    assert (one["id"], one["event"]) == ("1", "thought")
    assert (two["id"], two["event"]) == ("2", "segue")
    read = (await feed.client.get("/v1/stream", params={"from": 1})).json()
    assert [json.loads(one["data"]), json.loads(two["data"])] == read["entries"]
    assert read["head"] == 2


async def test_a_silent_stream_says_that_it_is_alive(serve):
    async with serve(heartbeat=0.05) as feed, events(feed, from_=1) as stream:
        async with asyncio.timeout(60):
            comments = [event["comment"] async for event in so_many(stream, 4)]
        assert comments.count("alive") >= 3


async def test_more_readers_than_allowed_are_asked_to_come_back(serve):
    async with serve(streams=2, retry_after=3) as feed:
        async with events(feed, from_=1), events(feed, from_=1):
            await until(lambda: feed.context.streams == 2)
            refused = await feed.client.get("/v1/stream/events")
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "3"
            assert refused.json()["type"].endswith(":too-many")
            assert "2 are open" in refused.json()["detail"]
        await until(lambda: feed.context.streams == 0)
        async with events(feed, from_=1):
            pass


async def test_stopping_ends_streams_and_a_reader_resumes_after_it(tmp_path, serve):
    async with serve() as feed:
        await think(feed, 1, 3)
        async with events(feed, from_=1) as stream:
            assert [event["id"] for event in await take(stream, 3)] == ["1", "2", "3"]
            rest = asyncio.create_task(drain(stream))
            await until(lambda: feed.tail.waiting)
            await asyncio.wait_for(feed.server.stop(), 60)
            assert await asyncio.wait_for(rest, 60) == []  # ended, not broken off
        with pytest.raises(httpx.ConnectError):
            await feed.client.get("/healthz")


async def test_a_reader_that_vanishes_is_forgotten(feed):
    reader, writer = await asyncio.open_connection("127.0.0.1", feed.server.port)
    writer.write(b"GET /v1/stream/events?from=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    await until(lambda: feed.tail.waiting == 1)
    writer.transport.abort()
    await until(lambda: feed.context.streams == 0 and feed.tail.waiting == 0)
    await until(lambda: not feed.tail.polling)


async def test_a_reader_that_takes_nothing_is_not_buffered_and_is_let_go(serve):
    async with serve(reader_timeout=0.5) as feed:
        await think(feed, 1, 600, text="x" * 20_000)
        stuck = socket.create_connection(("127.0.0.1", feed.server.port))
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stuck.sendall(b"GET /v1/stream/events?from=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until(lambda: feed.context.streams == 1)
        sent = feed.context.figures.entries._value
        async with events(feed, from_=599) as stream:  # others are served meanwhile
            assert len(await take(stream, 2)) == 2
        await until(lambda: feed.context.streams == 0)
        assert sent.get() < 600
        stuck.close()


NONSENSE = [
    ({"from": "-1"}, {}, "from"),
    ({"from": "soon"}, {}, "from"),
    ({"from": str(2**63)}, {}, "from"),
    ({}, {"Last-Event-ID": "seven"}, "Last-Event-ID"),
    ({}, {"Last-Event-ID": str(2**63 - 1)}, "Last-Event-ID"),
    ({"min_salience": "2"}, {}, "min_salience"),
    ({"kind": "dream"}, {}, "kind"),
]


async def test_what_makes_no_sense_is_named(feed):
    for params, headers, field in NONSENSE:
        refused = await feed.client.get("/v1/stream/events", params=params, headers=headers)
        assert refused.status_code == 422
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["errors"][0]["field"].lower().startswith(field.lower())


async def test_hostile_text_comes_through_as_it_was(feed):
    texts = [
        "</script><script>alert(1)</script>",
        "a\nid: 99\ndata: forged\n\n",
        "\u202eevil\x1b[2J\x00\r",
        "w" * 1_000_000,
    ]
    for number, text in enumerate(texts, 1):
        await think(feed, number, text=text)
    async with events(feed, from_=1) as stream:
        found = await take(stream, len(texts))
    assert [json.loads(event["data"])["text"] for event in found] == texts
    assert [event["id"] for event in found] == ["1", "2", "3", "4"]
    assert all(char.isprintable() for char in found[2]["data"])


async def drain(stream):
    return [event async for event in stream if "data" in event]


async def test_the_life_of_connections_is_followed_and_resumed(feed):
    async def happen(*numbers):
        changes = tuple(change(n, "causes" if n % 2 else "people") for n in numbers)
        for owner in ("causes", "people"):
            mine = tuple(each for each in changes if each.owner == owner)
            await feed.stores.commit([WriteConnections(owner, (), (), mine)])

    def reasons(found):
        return [json.loads(event["data"])["reason"] for event in found]

    path = "/v1/connections/events"
    await happen(1, 2)
    async with events(feed, path) as stream:
        assert "comment" in await anext(stream)
        await until(lambda: feed.context.view.change_tail.polling)
        await happen(3, 4)
        found = await take(stream, 2)
    assert sorted(reasons(found)) == ["reason 3", "reason 4"]
    assert {event["event"] for event in found} == {"credited"}
    await happen(5, 6)
    async with events(feed, path, headers={"Last-Event-ID": found[0]["id"]}) as stream:
        again = await take(stream, 3)
    assert sorted(reasons(found[:1] + again)) == [f"reason {n}" for n in range(3, 7)]
    async with events(feed, path, owner="causes", after=found[0]["id"]) as stream:
        assert "reason 5" in reasons(await take(stream, 1 + (reasons(found)[0] != "reason 3")))
    refused = await feed.client.get(path, params={"after": "yesterday"})
    assert refused.status_code == 422
