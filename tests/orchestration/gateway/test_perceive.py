"""One batch, one answer: what is taken in, what is refused and how, what is known already."""

import asyncio
import math
import sqlite3

import grpc

from orchestration.gateway.settings import IntakeSettings
from orchestration.pb.submind.v1 import mind_pb2, perception_pb2
from tests.environment.stores.making import NOON
from tests.orchestration.gateway.conftest import perceived, refusal, request
from tests.orchestration.until import until


def telemetry(**values):
    return perception_pb2.Telemetry(values=values)


WRONG = [
    (perceived(source=""), "source"),
    (perceived(source="a\nb"), "source"),
    (perceived(source="s" * 257), "source"),
    (perceived(""), "text"),
    (perceived(" \n\t\u00a0"), "text"),
    (perceived("x" * 2001), "text"),
    (perceived("\u96ea" * 700), "text"),
    (perceived(key="k" * 257), "key"),
    (perceived(labels={"": "x"}), "labels"),
    (perceived(labels={"l": "x" * 65}), "labels"),
    (perceived(labels={str(n): "x" for n in range(9)}), "labels"),
    (perception_pb2.Perception(source="ops"), "payload"),
    (perceived(telemetry=telemetry()), "telemetry"),
    (perceived(telemetry=telemetry(x=math.nan)), "telemetry"),
    (perceived(telemetry=telemetry(x=math.inf)), "telemetry"),
    (perceived(telemetry=telemetry(**{f"n{n}": 1 for n in range(9)})), "telemetry"),
    (perceived(image=perception_pb2.Image(data=b"", media_type="image/png")), "image.data"),
    (perceived(image=perception_pb2.Image(data=b"x" * 3001, media_type="image/png")), "image.data"),
    (perceived(image=perception_pb2.Image(data=b"x", media_type="image/svg+xml")), "image.media_type"),
    (perceived(image=perception_pb2.Image(data=b"x", media_type="text/html")), "image.media_type"),
]


async def test_what_is_wrong_is_named_and_nothing_of_the_batch_is_taken_in(serve):
    limits = IntakeSettings(text_bytes=2000, labels=8, label_bytes=64, telemetry_names=8, image_bytes=3000)
    async with serve(intake=limits) as gateway:
        for bad, field in WRONG:
            failed = await refusal(gateway.perception.Perceive(request(perceived(), bad, perceived())))
            assert (failed.code, failed.retry_after) == (grpc.StatusCode.INVALID_ARGUMENT, None)
            (path,) = {path.split("[", 2)[1] for path in failed.fields}
            assert path.startswith(f"1].{field}"), failed.fields
        assert await gateway.texts() == []


async def test_every_violation_is_named_up_to_a_bound(gateway):
    failed = await refusal(gateway.perception.Perceive(request(*[perceived(" ")] * 40)))
    assert list(failed.fields) == [f"perceptions[{n}].text" for n in range(16)]


async def test_an_event_time_far_ahead_is_refused_and_a_little_ahead_is_not(gateway):
    for ahead, fine in ((299, True), (301, False), (1e9, False)):
        one = perceived()
        one.time.FromSeconds(int(NOON + ahead))
        if fine:
            await gateway.perception.Perceive(request(one))
        else:
            failed = await refusal(gateway.perception.Perceive(request(one)))
            assert "clock" in failed.fields["perceptions[0].time"]
    old = perceived()
    old.time.FromJsonString("1969-07-20T20:17:40Z")
    await gateway.perception.Perceive(request(old))
    assert (await gateway.stores.perceptions.read(1, 10))[0].time == -14_182_940
    before = perceived()
    before.time.seconds = -(10**12)
    failed = await refusal(gateway.perception.Perceive(request(before)))
    assert list(failed.fields) == ["perceptions[0].time"]


async def test_too_many_or_none_in_a_batch(serve):
    async with serve(intake=IntakeSettings(batch=3)) as gateway:
        for count in (0, 4):
            failed = await refusal(gateway.perception.Perceive(request(*[perceived()] * count)))
            assert failed.code is grpc.StatusCode.INVALID_ARGUMENT
            assert list(failed.fields) == ["perceptions"]
        status = await gateway.mind.GetStatus(mind_pb2.GetStatusRequest())
        hits = {limit.name: limit.hits for limit in status.status.limits}
        assert hits["gateway.intake.batch"] == 1


async def raw(gateway, data):
    call = gateway.channel.unary_unary("/submind.v1.PerceptionService/Perceive")
    return await call(data)


async def test_bytes_that_are_no_message_and_text_that_is_no_utf8(gateway):
    latin = request(perceived("caf\u00e9")).SerializeToString().replace("\u00e9".encode(), b"\xe9\xe9")
    surrogate = request(perceived("xxx")).SerializeToString().replace(b"xxx", b"\xed\xa0\x80")
    for data in (b"\xff\xff\xff", latin, surrogate, b"\x0a\x7f"):
        failed = await refusal(raw(gateway, data))
        assert failed.code is grpc.StatusCode.INVALID_ARGUMENT
        assert "submind.v1.PerceiveRequest" in failed.text
    assert await gateway.texts() == []


async def test_too_large_a_message_names_the_limit_and_no_time(serve):
    async with serve(message_bytes=65536) as gateway:
        image = perception_pb2.Image(data=b"x" * 70_000, media_type="image/png")
        failed = await refusal(gateway.perception.Perceive(request(perceived(image=image))))
        assert failed.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failed.quota == "gateway.message_bytes"
        assert failed.retry_after is None
        image.data = b"x" * 200_000  # gRPC itself refuses to read this one
        failed = await refusal(gateway.perception.Perceive(request(perceived(image=image))))
        assert failed.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failed.retry_after is None
        assert gateway.server.limit_hits()["gateway.message_bytes"] == 1


async def test_trust_follows_from_the_source_alone(serve):
    trust = {"team/ann": 0.9, "team/*": 0.7, "feed/*": 0.5}
    async with serve(intake=IntakeSettings(trust=trust)) as gateway:
        sources = ["team/ann", "team/bob", "feed/x", "operator", "team/ann"]
        await gateway.perception.Perceive(
            request(*[perceived(source=source, labels={"trust": "1", "role": "operator"}) for source in sources])
        )
        kept = await gateway.stores.perceptions.read(0, 10)
        assert [one.trust for one in kept] == [0.9, 0.7, 0.5, 0.4, 0.9]


async def test_a_full_disk_is_answered_with_a_time_and_nothing_is_lost_or_half_kept(gateway):
    await gateway.perception.Perceive(request(perceived("before")))

    def bound(pages):
        def work(connection):
            (now,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {now + pages}")

        return gateway.stores.perceptions._executor.write(work)

    await bound(2)
    failed = await refusal(gateway.perception.Perceive(request(*(perceived(f"{n}" * 9000) for n in range(20)))))
    assert failed.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failed.quota == "disk"
    assert failed.retry_after > 0
    assert await gateway.texts() == ["before"]
    await bound(1 << 20)
    await gateway.perception.Perceive(request(perceived("after")))
    assert await gateway.texts() == ["before", "after"]


async def test_a_store_that_another_process_holds_is_unavailable_for_now(gateway, tmp_path):
    other = sqlite3.connect(tmp_path / "perceptions.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    failed = await refusal(gateway.perception.Perceive(request(perceived())))
    assert failed.code is grpc.StatusCode.UNAVAILABLE
    assert failed.retry_after > 0
    other.execute("ROLLBACK")
    other.close()
    await gateway.perception.Perceive(request(perceived()))
    assert await gateway.texts() == ["hello"]


async def test_callers_who_come_during_a_commit_share_the_next_one(serve):
    async with serve() as gateway:
        gateway.log.may.clear()
        first = asyncio.ensure_future(gateway.perception.Perceive(request(perceived("0"))))
        await until(lambda: gateway.log.commits == [1])
        others = [asyncio.ensure_future(gateway.perception.Perceive(request(perceived(str(n))))) for n in range(1, 21)]
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 21)
        gateway.log.may.set()
        answers = await asyncio.gather(first, *others)
        assert gateway.log.commits == [1, 20]
        ids = {answer.receipts[0].id for answer in answers}
        kept = await gateway.stores.perceptions.get(list(ids))
        assert sorted(int(one.text) for one in kept.values()) == list(range(21))


async def test_a_full_queue_asks_callers_to_come_back(serve):
    async with serve(intake=IntakeSettings(pending=2, retry_after=0.125)) as gateway:
        gateway.log.may.clear()
        kept = [asyncio.ensure_future(gateway.perception.Perceive(request(perceived(str(n))))) for n in range(2)]
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 2)
        failed = await refusal(gateway.perception.Perceive(request(perceived("too many"))))
        assert failed.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (failed.retry_after, failed.quota) == (0.125, "gateway.intake.pending")
        gateway.log.may.set()
        await asyncio.gather(*kept)
        await gateway.perception.Perceive(request(perceived("later")))
        assert sorted(await gateway.texts()) == ["0", "1", "later"]


async def test_a_caller_who_goes_away_before_the_commit_takes_its_batch_along(serve):
    async with serve() as gateway:
        gateway.log.may.clear()
        first = asyncio.ensure_future(gateway.perception.Perceive(request(perceived("first"))))
        await until(lambda: gateway.log.commits == [1])
        gone = gateway.perception.Perceive(request(perceived("gone")))
        last = asyncio.ensure_future(gateway.perception.Perceive(request(perceived("last"))))
        await until(lambda: gateway.intake.figures()["intake_waiting"] == 3)
        gone.cancel()
        await until(lambda: gateway.server.figures()["gateway_open:calls"] == 2)
        gateway.log.may.set()
        await asyncio.gather(first, last)
        assert await gateway.texts() == ["first", "last"]
        assert gateway.intake.figures()["intake_waiting"] == 0
