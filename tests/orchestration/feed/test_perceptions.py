"""Perceptions over HTTP: durable when answered, refused with the field named, bounded."""

import asyncio
import base64
import json

import pytest

from environment.errors import StoreFull, StoreUnavailable
from environment.messages import Image
from orchestration.gateway.errors import IntakeBusy
from tests.environment.stores.making import NOON
from tests.orchestration.until import until

PNG = b"\x89PNG\r\n\x1a\n and more"


async def tell(feed, *perceptions, status=200, **options):
    answer = await feed.client.post("/v1/perceptions", json={"perceptions": list(perceptions)}, **options)
    assert answer.status_code == status, answer.text
    return answer.json()


async def kept(feed):
    return await feed.stores.perceptions.read(0, 100)


async def test_every_kind_is_kept_as_it_was_sent(feed):
    answer = await tell(
        feed,
        {"source": "ops", "time": "2026-03-03T11:00:00+01:00", "text": "the pump leaks", "labels": {"hall": "two"}},
        {"source": "host-1", "time": NOON, "telemetry": {"load": 0.5, "disk": 3}},
        {"source": "cam", "image": {"data": base64.b64encode(PNG).decode(), "media_type": "image/png"}, "key": "k1"},
    )
    text, telemetry, image = await kept(feed)
    assert answer == {"receipts": [{"id": each.id, "new": True, "seq": each.seq} for each in (text, telemetry, image)]}
    assert (text.text, text.time, text.labels) == ("the pump leaks", NOON - 7200, {"hall": "two"})
    assert (telemetry.telemetry, telemetry.time) == ({"load": 0.5, "disk": 3.0}, NOON)
    assert (image.image, image.key, image.time) == (Image(PNG, "image/png"), "k1", NOON)


async def test_lines_of_json(feed):
    lines = b'{"source":"ops","text":"one"}\n\n{"source":"ops","text":"two"}\r\n'
    sent = {"content": lines, "headers": {"Content-Type": "application/x-ndjson"}}
    assert len((await feed.client.post("/v1/perceptions", **sent)).json()["receipts"]) == 2
    assert [each.text for each in await kept(feed)] == ["one", "two"]
    sent["content"] = lines + b'{"source":"ops","txet":"three"}\n'
    refused = await feed.client.post("/v1/perceptions", **sent)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "perceptions[2].txet"
    assert len(await kept(feed)) == 2


WRONG = [
    ({}, "perceptions[1].source"),
    ({"source": "ops"}, "perceptions[1].payload"),
    ({"source": "ops", "text": "a", "time": "tomorrow"}, "perceptions[1].time"),
    ({"source": "ops", "text": "a", "time": True}, "perceptions[1].time"),
    ({"source": "ops", "text": "a", "time": NOON + 86400}, "perceptions[1].time"),
    ({"source": "ops", "text": "a", "trust": 1.0}, "perceptions[1].trust"),
    ({"source": "ops", "text": "a", "labels": {"x": 1}}, "perceptions[1].labels.x"),
    ({"source": "ops", "image": {"data": "####", "media_type": "image/png"}}, "perceptions[1].image.data"),
]


async def test_a_wrong_field_is_named_and_nothing_is_taken_in(feed):
    for perception, field in WRONG:
        problem = await tell(feed, {"source": "ops", "text": "fine"}, perception, status=422)
        assert field in [error["field"] for error in problem["errors"]]
        assert problem["instance"].startswith("urn:submind:request:")
        assert await kept(feed) == []


MALFORMED = [
    b"",
    b"{",
    b"[]",
    b'"perceptions"',
    b'{"perceptions": []}',
    b'{"perceptions": [{"source": "ops", "text": "\xff"}]}',
    b'{"perceptions": [{"source": "ops", "text": "\\ud800"}]}',
    b'{"perceptions": [{"source": "ops", "telemetry": {"x": NaN}}]}',
    b"[" * 100_000,
]


async def test_malformed_bodies_are_refused(feed):
    for body in MALFORMED:
        answer = await feed.client.post("/v1/perceptions", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["why"]
        assert await kept(feed) == []


FORMS = [
    {"Content-Type": "text/plain"},
    {"Content-Type": "application/x-www-form-urlencoded"},
    {"Content-Type": "application/json; charset=latin-1"},
    {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    {"Content-Type": ""},
]


async def test_other_forms_are_not_read(feed):
    for headers in FORMS:
        answer = await feed.client.post("/v1/perceptions", content=b"{}", headers=headers)
        assert answer.status_code == 415
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_body_too_large_is_refused_before_it_is_read(serve):
    async with serve(body_bytes=2048) as feed:
        reader, writer = await asyncio.open_connection("127.0.0.1", feed.server.port)
        writer.write(b"POST /v1/perceptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        writer.write(b"Content-Length: 4096\r\n\r\n{")  # the rest never comes
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        assert b" 413 " in head.splitlines()[0]
        writer.close()

        reader, writer = await asyncio.open_connection("127.0.0.1", feed.server.port)
        writer.write(b"POST /v1/perceptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(3):  # and no end
            writer.write(b"400\r\n" + b" " * 1024 + b"\r\n")
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        assert b" 413 " in head.splitlines()[0]
        assert b"2048" in await asyncio.wait_for(reader.readuntil(b"}"), 60)
        writer.close()
        assert feed.context.figures.limit_hits["feed.body_bytes"] == 2


async def test_a_body_that_does_not_arrive_is_not_waited_for(serve):
    async with serve(body_timeout=0.1) as feed:
        reader, writer = await asyncio.open_connection("127.0.0.1", feed.server.port)
        writer.write(b"POST /v1/perceptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        writer.write(b"Content-Length: 100\r\n\r\n{")
        assert b" 408 " in await asyncio.wait_for(reader.readline(), 60)
        writer.close()


@pytest.mark.parametrize(
    ("error", "status", "kind", "after"),
    [
        (StoreFull("no room left on the device for perceptions.db", 5.0), 503, "store-full", "5"),
        (StoreUnavailable("perceptions.db is busy", 0.2), 503, "store-unavailable", "1"),
        (IntakeBusy(1.5), 429, "busy", "2"),
    ],
)
async def test_who_cannot_be_served_now_is_told_when_to_come_back(feed, error, status, kind, after):
    def refuse(batch):
        raise error

    feed.intake.submit = refuse
    answer = await feed.client.post("/v1/perceptions", json={"perceptions": [{"source": "ops", "text": "a"}]})
    assert (answer.status_code, answer.headers["retry-after"]) == (status, after)
    assert answer.json()["type"] == f"urn:submind:problem:{kind}"
    assert answer.json()["retry_after"] == error.retry_after
    assert answer.json()["detail"] == str(error)


async def test_a_caller_who_disappears_leaves_nothing_behind(feed):
    _, writer = await asyncio.open_connection("127.0.0.1", feed.server.port)
    writer.write(b"POST /v1/perceptions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: 100\r\n\r\n" + json.dumps({"perceptions": []}).encode())
    await writer.drain()
    writer.transport.abort()
    await until(lambda: 'status="400"' in figures(feed) or 'status="499"' in figures(feed))
    assert await kept(feed) == []
    assert len((await tell(feed, {"source": "ops", "text": "still here"}))["receipts"]) == 1


def figures(feed):
    from prometheus_client import generate_latest

    return generate_latest(feed.context.figures.registry).decode()
