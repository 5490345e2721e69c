"""Who logs out at one process is out at all that serve the mind: now, later, and while the store was away."""

import asyncio
import os

import httpx
import pytest

from environment.errors import StoreUnavailable
from environment.stores.copying import tally
from orchestration.access.caller import Caller
from orchestration.access.errors import Unauthenticated
from orchestration.access.logouts import LOG_OUTS, LogOuts
from orchestration.access.scopes import Scope
from orchestration.access.sessions import Sessions
from orchestration.access.settings import SessionSettings
from orchestration.clock import wall
from tests.orchestration.access.conftest import MIND
from tests.orchestration.access.test_sessions import ended, logged_in


@pytest.fixture
def session(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(os.urandom(32))
    return {"key_file": key, "heard_every": 0.05}


def log_outs(stores, now=(0.0,)):
    made = LogOuts(lambda: now[0], lambda: now[0], 1.0)
    made.share(stores)
    return made


def elsewhere(served, browser):
    """The same browser, or whoever has a copy of its cookie, at another process."""
    return httpx.AsyncClient(base_url=served.feed.url, timeout=60, trust_env=False, cookies=browser.cookies)


async def test_a_copy_of_the_cookie_opens_nothing_at_another_process_and_what_it_has_open_there_ends(
    serve, keys, session
):
    token = keys.make("reader", Scope.WATCH)
    async with serve(session=session) as one, serve(session=session) as two, logged_in(one, token) as browser:
        async with elsewhere(two, browser) as copy, copy.stream("GET", "/v1/stream/events") as events:
            assert events.status_code == 200
            assert (await browser.delete("/v1/session")).status_code == 200
            await ended(events)
        async with elsewhere(two, httpx.AsyncClient(cookies=copy.cookies)) as again:
            answer = await again.get("/v1/status")
            assert (answer.status_code, answer.json()["type"].rpartition(":")[2]) == (401, "session-ended")
        async with logged_in(two, token) as fresh:
            assert (await fresh.get("/v1/status")).status_code == 200
    async with serve(session=session) as later, elsewhere(later, copy) as again:  # with the same key
        assert (await again.get("/v1/status")).status_code == 401


async def test_a_store_that_is_away_keeps_nobody_from_logging_out_and_is_told_later(serve, keys, session):
    token = keys.make("reader", Scope.WATCH)
    async with serve(session=session) as one, serve(session=session) as two, logged_in(one, token) as browser:
        write = one.stores.commit

        async def away(writes, fence=0):
            raise StoreUnavailable("away")

        one.stores.commit = away
        async with elsewhere(two, browser) as copy:
            assert (await browser.delete("/v1/session")).status_code == 200
            assert (await copy.get("/v1/status")).status_code == 200  # nobody could tell it yet
            one.stores.commit = write
            async with copy.stream("GET", "/v1/stream/events") as events:
                if events.status_code != 401:
                    await ended(events)
            assert (await copy.get("/v1/status")).status_code == 401


async def test_of_two_that_write_at_once_both_are_heard_of(stores):
    now = [0.0]
    one, two, third = (log_outs(stores, now) for _ in range(3))
    one.add("a", 100.0)
    two.add("b", 100.0)
    await asyncio.gather(one.tell(), two.tell())
    for _ in range(2):
        now[0] += 2
        await one.heard()
        await two.heard()
    await third.heard()
    for each in (one, two, third):
        assert "a" in each
        assert "b" in each
        assert not each.unwritten


async def test_what_would_have_expired_is_forgotten_and_their_number_is_bounded(stores):
    now = [0.0]
    one = log_outs(stores, now)
    for number in range(5000):
        one.add(f"n{number}", 1000.0 + number)
    await one.tell()
    assert "n0" not in one
    assert "n4999" in one
    assert len(await LOG_OUTS.get(stores.collections, "all")) <= 4096
    now[0] = 10_000.0
    one.add("new", 20_000.0)
    await one.tell()
    assert await LOG_OUTS.get(stores.collections, "all") == {"new": 20_000.0}


def test_log_outs_without_end_let_nobody_else_in_again():
    sessions = Sessions(SessionSettings(), MIND, wall)
    scopes = frozenset({Scope.WATCH})
    cookie, _ = sessions.begin(Caller("victim", "token", scopes, "a" * 64))
    login = sessions.end(cookie)
    whose = sessions.end(sessions.begin(Caller("flood", "token", scopes, "b" * 64))[0]).partition(".")[0]
    for number in range(5000):
        sessions.over.add(f"{whose}.{number}", wall() + 10**6 + number)
    assert login in sessions.over
    with pytest.raises(Unauthenticated):
        sessions.read(cookie)
    assert f"{whose}.4999" in sessions.over
    assert f"{whose}.0" not in sessions.over


async def test_they_are_no_part_of_the_mind(stores):
    one = log_outs(stores)
    one.add("a", 100.0)
    await one.tell()
    assert await stores.collections.names() == [LOG_OUTS.name]
    assert {each.count for each in (await tally(stores.moving)).values()} == {0}
