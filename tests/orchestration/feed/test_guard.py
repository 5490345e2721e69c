"""Who may ask: the token, the machine, the page."""

import asyncio

import pytest

from environment.errors import StoreUnavailable
from orchestration.view.status import MindState
from tests.orchestration.until import until

TOKEN = "a-token-of-some-length"  # noqa: S105 - made for this test


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


async def test_the_token_stands_in_no_answer_and_may_come_from_any_host(serve):
    async with serve(token=TOKEN) as feed:
        answer = await feed.client.get("/v1/status", headers={**bearer(TOKEN), "Host": "mind.example"})
        assert answer.status_code == 200
        wrong = await feed.client.get("/v1/status", headers=bearer(TOKEN + "x"))
        assert TOKEN not in wrong.text + str(wrong.headers)


HOSTS = [
    ("localhost", True),
    ("localhost:8080", True),
    ("LOCALHOST.", True),
    ("127.0.0.1:1", True),
    ("127.8.8.8", True),
    ("[::1]:8080", True),
    ("mind.localhost", True),
    ("mind.home.example:8080", True),
    ("attacker.example", False),
    ("localhost.attacker.example", False),
    ("127.0.0.1.nip.io", False),
    ("192.168.0.7", False),
    ("10.0.0.1", False),
    ("[::1", False),
    ("", False),
]


async def test_without_a_token_only_local_names_are_answered(serve):
    async with serve(hosts=frozenset({"mind.home.example"})) as feed:
        for host, allowed in HOSTS:
            for path in ("/v1/status", "/", "/metrics"):
                answer = await feed.client.get(path, headers={"Host": host})
                assert answer.status_code == (200 if allowed else 421), (host, path)


async def test_without_a_token_only_its_own_page_may_ask(feed):
    own = f"127.0.0.1:{feed.server.port}"
    body = {"perceptions": [{"source": "web", "text": "hello"}]}
    for origin in (
        "http://attacker.example",
        "null",
        "http://127.0.0.1:1",
        f"http://{own}.attacker.example",
        "file://",
    ):
        refused = await feed.client.post("/v1/perceptions", json=body, headers={"Origin": origin})
        assert refused.status_code == 403, origin
    cross = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert (await feed.client.get("/v1/stream/events", headers=cross)).status_code == 403
    assert await feed.stores.perceptions.head() == 0
    told = await feed.client.post("/v1/perceptions", json=body, headers={"Origin": f"http://{own}"})
    assert told.status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert (await feed.client.get("/", headers=link)).status_code == 200


async def test_a_head_that_came_at_once_is_no_larger_than_allowed_either(serve):
    async with serve(header_bytes=8192) as feed:
        for path, headers in (("/healthz", {"x-large": "a" * 8192}), (f"/v1/search?q={'a' * 8192}", {})):
            refused = await feed.client.get(path, headers=headers)
            assert refused.status_code in {431, 400}  # the latter where it did not come at once
        assert (await feed.client.get("/healthz", headers={"x-large": "a" * 7000})).status_code == 200


PATHS = ["/", "/static/app.js", "/v1/status", "/v1/nothing", "/metrics", "/v1/explain/1"]


async def test_every_answer_is_guarded(feed):
    for path in PATHS:
        answer = await feed.client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["x-request-id"]
        assert "access-control-allow-origin" not in answer.headers


async def test_the_page_is_served_and_kept_by_browsers(feed):
    page = await feed.client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "<script>" not in page.text
    script = await feed.client.get("/static/app.js")
    assert script.headers["cache-control"] == "no-cache"
    again = await feed.client.get("/static/app.js", headers={"If-None-Match": script.headers["etag"]})
    assert again.status_code == 304
    assert (await feed.client.get("/static/../app.py")).status_code == 404
    assert (await feed.client.get("/static/%2e%2e/app.py")).status_code == 404


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nothing", 404), ("DELETE", "/v1/stream", 405)])
async def test_what_is_not_served_is_a_problem_too(feed, method, path, status):
    answer = await feed.client.request(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status


async def test_more_requests_than_allowed_are_asked_to_come_back(serve):
    async with serve(requests=1, retry_after=4) as feed:
        held, reports = asyncio.Event(), feed.stores.registry.reports

        async def slow(*page):
            await held.wait()
            return await reports(*page)

        feed.stores.registry.reports = slow
        first = asyncio.create_task(feed.client.get("/v1/subminds"))
        await asyncio.sleep(0.05)
        refused = await feed.client.get("/v1/status")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "4")
        assert (await feed.client.get("/healthz")).status_code == 200  # probes are told all the same
        held.set()
        assert (await first).status_code == 200
        assert (await feed.client.get("/healthz")).status_code == 200


async def test_an_unforeseen_error_tells_nothing_but_that_it_happened(feed):
    async def fail(*page):
        raise ZeroDivisionError("secret details")

    feed.stores.registry.reports = fail
    answer = await feed.client.get("/v1/subminds")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert answer.json()["instance"].endswith(answer.headers["x-request-id"])
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert (await feed.client.get("/healthz")).status_code == 200


async def test_ready_when_it_can_write_and_the_mind_runs(feed):
    assert (await feed.client.get("/readyz")).json() == {"ready": True, "state": "running", "reasons": []}

    async def refuse(writes, fence=0):
        raise StoreUnavailable("mind.db is busy: another process is writing")

    feed.stores.commit = refuse
    answer = await feed.client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["reasons"] == ["the store cannot be written: mind.db is busy: another process is writing"]
    assert (await feed.client.get("/healthz")).status_code == 200


async def test_not_ready_while_the_mind_is_down(serve):
    async with serve(process=MindState.DOWN) as feed:
        answer = await feed.client.get("/readyz")
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        told = answer.json()
        assert told.pop("instance").endswith(answer.headers["x-request-id"])
        assert told == {
            "type": "urn:submind:problem:not-ready",
            "title": "Service Unavailable",
            "status": 503,
            "detail": "killed",
            "ready": False,
            "state": "down",
            "reasons": ["killed"],
        }


async def test_answers_under_way_are_finished_when_stopping(feed):
    held, reports = asyncio.Event(), feed.stores.registry.reports
    asked = asyncio.Event()

    async def slow(*page):
        asked.set()
        await held.wait()
        return await reports(*page)

    feed.stores.registry.reports = slow
    answer = asyncio.create_task(feed.client.get("/v1/subminds"))
    await asked.wait()
    stopping = asyncio.create_task(feed.server.stop())
    await until(lambda: feed.context.lifetimes.stopping)
    held.set()
    assert (await answer).status_code == 200
    await asyncio.wait_for(stopping, 60)
