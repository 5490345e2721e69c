"""Log-ins of the page: what ends with them, and that nobody keeps others from logging in."""

import asyncio
import json
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from orchestration.access.scopes import Scope
from orchestration.access.sessions import network_of
from tests.orchestration.access.conftest import header
from tests.orchestration.until import until


@asynccontextmanager
async def logged_in(served, token, **client):
    """A browser that is logged in."""
    async with httpx.AsyncClient(base_url=served.feed.url, timeout=60, trust_env=False, **client) as browser:
        assert (await browser.post("/v1/session", json={"token": token})).status_code == 200
        yield browser


async def ended(stream, seconds=60):
    async with asyncio.timeout(seconds):
        async for _ in stream.aiter_bytes():
            pass


async def test_logging_out_ends_what_is_open_by_that_log_in_at_once_and_nothing_else(serve, keys):
    token = keys.make("reader", Scope.WATCH)
    async with serve(reload_every=3600) as served, AsyncExitStack() as stack:
        mine, other = [await stack.enter_async_context(logged_in(served, token)) for _ in range(2)]
        copy = httpx.Cookies(mine.cookies)
        one = await stack.enter_async_context(mine.stream("GET", "/v1/stream/events"))
        two = await stack.enter_async_context(mine.stream("GET", "/v1/connections/events"))
        others = await stack.enter_async_context(other.stream("GET", "/v1/stream/events?from=1"))
        shown = await stack.enter_async_context(served.http.stream("GET", "/v1/stream/events", headers=header(token)))
        await until(lambda: served.access.figures()["access_streams"] == 4)
        assert (await mine.delete("/v1/session")).status_code == 200
        await asyncio.gather(ended(one), ended(two))
        await until(lambda: served.access.figures()["access_streams"] == 2)
        mine.cookies = copy
        answer = await mine.get("/v1/stream/events")
        assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (401, "session-ended")
        await served.think(1)
        async with asyncio.timeout(60):
            async for line in others.aiter_lines():
                if line.startswith("id:"):
                    break
        assert shown.status_code == 200


async def test_what_is_under_way_when_somebody_logs_out_is_not_shown_any_more(serve, keys):
    token = keys.make("reader", Scope.WATCH)
    async with (
        serve(reload_every=3600) as served,
        logged_in(served, token) as browser,
        browser.stream("GET", "/v1/stream/events?from=1") as events,
    ):
        await until(lambda: served.access.figures()["access_streams"] == 1)
        await browser.delete("/v1/session")
        await served.think(1, 5)
        text = "".join([part async for part in events.aiter_text()])
        assert "data:" not in text


async def test_a_log_in_that_expires_ends_what_is_open_by_it(serve, keys):
    token = keys.make("reader", Scope.WATCH)
    async with (
        serve(session={"lifetime": 3}) as served,
        logged_in(served, token) as browser,
        browser.stream("GET", "/v1/stream/events") as events,
    ):
        assert events.status_code == 200
        await ended(events)
        assert (await browser.get("/v1/status")).status_code == 401


@pytest.mark.timeout(120)
async def test_one_address_takes_so_many_places_to_log_in_and_others_log_in_meanwhile(serve, keys):
    token = keys.make("reader", Scope.WATCH)
    head = b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n"
    async with serve(session={"under_way": 6, "under_way_each": 4}) as served:
        slow = [await asyncio.open_connection("127.0.0.1", served.feed.port) for _ in range(12)]
        for _, writer in slow:
            writer.write(head)
        heads = [asyncio.create_task(_head(reader)) for reader, _ in slow]
        await until(lambda: sum(head.done() for head in heads) >= 8)
        async with logged_in(served, token, transport=httpx.AsyncHTTPTransport(local_address="127.0.0.7")):
            pass
        statuses = sorted(await asyncio.gather(*heads))
        assert statuses == ["408"] * 4 + ["429"] * 8  # what does not come is not waited for
        assert (await served.http.post("/v1/session", json={"token": token})).status_code == 200
        for _, writer in slow:
            writer.close()


def test_an_address_is_whose_it_can_be_told_to_be():
    mapped = [network_of(f"::ffff:10.0.0.{last}") for last in (1, 2)]  # as a socket for both kinds tells IPv4
    assert mapped == [network_of(f"10.0.0.{last}") for last in (1, 2)] == ["10.0.0.1", "10.0.0.2"]
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:2") != network_of("2001:db8:0:1::1")
    assert network_of("fe80::1%eth0") == "fe80::/64"
    assert network_of("nowhere") == "nowhere"


async def _head(reader):
    async with asyncio.timeout(60):
        return (await reader.readline()).split()[1].decode()


async def test_why_it_is_not_ready_is_told_to_who_may_watch(serve, keys):
    reader, sender = keys.make("reader", Scope.WATCH), keys.make("sender", Scope.PERCEIVE)
    async with serve() as served:
        whole = (await served.http.get("/readyz", headers=header(reader))).json()
        assert whole["state"]
        assert isinstance(whole["reasons"], list)
        for shown in ({}, header(sender), header("x" * 40), {"Authorization": "Basic eA=="}):
            answer = await served.http.get("/readyz", headers=shown)
            assert (answer.status_code, answer.json()["ready"]) == (503, whole["ready"]) == (503, False)
            assert not {"state", "reasons"} & answer.json().keys()
            assert answer.json()["detail"] == "not ready: who shows a token that may `watch` is told why"
            assert (await served.http.get("/healthz", headers=shown)).json() == {"status": "alive"}
        async with logged_in(served, reader) as browser:
            assert (await browser.get("/readyz")).json().keys() >= {"ready", "state", "reasons"}
        assert json.loads((await served.http.get("/openapi.json")).text)["paths"]["/readyz"]
