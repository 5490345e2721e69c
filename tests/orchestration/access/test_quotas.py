"""Quotas: what a token may send, and what it hears when it sends more."""

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from environment.errors import StoreUnavailable
from orchestration.access.audit import read_audit
from orchestration.access.caller import ANYBODY, Caller, Quota
from orchestration.access.errors import OverAllowance
from orchestration.access.quotas import BYTES, PERCEPTIONS, STREAMS, Quotas
from orchestration.access.scopes import Scope
from orchestration.access.settings import QuotaSettings
from orchestration.access.tokens import TokenQuota
from orchestration.pb.submind.v1 import consciousness_pb2
from orchestration.shared_file import SharedFile
from tests.orchestration.access.conftest import bearer, header
from tests.orchestration.gateway.conftest import part, perceived, request
from tests.orchestration.gateway.conftest import refusal as refused
from tests.orchestration.until import until


def caller(name="ann", **quota):
    return Caller(name, "token", frozenset({Scope.PERCEIVE, Scope.WATCH}), "d" * 64, None, Quota(**quota))


def quotas(**settings):
    now = [0.0]
    return Quotas(QuotaSettings(**settings), lambda: now[0]), now


def test_so_much_at_once_and_so_much_a_second():
    held, now = quotas(perceptions_per_second=10, burst=2)
    for _ in range(4):
        held.take(caller(), 5, 100)
    with pytest.raises(OverAllowance) as refusal:
        held.take(caller(), 5, 100)
    assert (refusal.value.quota, refusal.value.allowed, refusal.value.retry_after) == (PERCEPTIONS, 10, 0.5)
    held.take(caller("bob"), 20, 100)
    now[0] += 0.5
    held.take(caller(), 5, 100)
    with pytest.raises(OverAllowance):
        held.take(caller(), 1, 0)
    assert held.hits == {PERCEPTIONS: 2}


def test_a_batch_larger_than_the_bucket_passes_when_it_is_full_and_is_paid_off():
    held, now = quotas(bytes_per_second=100, burst=1)
    held.take(caller(), 1, 1000)
    now[0] = 8.95
    with pytest.raises(OverAllowance) as refusal:
        held.take(caller(), 1, 1)
    assert refusal.value.quota == BYTES
    now[0] = 9.05
    held.take(caller(), 1, 1)


def test_what_is_refused_by_one_quota_is_counted_by_none():
    held, _ = quotas(perceptions_per_second=100, bytes_per_second=10, burst=1)
    held.take(caller(), 1, 10)
    for _ in range(50):
        with pytest.raises(OverAllowance):
            held.take(caller(), 10, 10)
    held.take(caller(), 99, 0)


def test_a_token_s_own_quota_goes_before_and_nobody_counts_where_nobody_is_known():
    held, _ = quotas(perceptions_per_second=1, streams=1, burst=1)
    held.take(caller(perceptions_per_second=0), 10_000, 0)
    held.take(ANYBODY, 10_000, 0)
    with held.stream(ANYBODY), held.stream(ANYBODY), held.stream(caller(streams=2)), held.stream(caller(streams=2)):
        with pytest.raises(OverAllowance) as refusal, held.stream(caller(streams=2)):
            pass
        assert refusal.value.quota == STREAMS
    with held.stream(caller()):
        pass


def test_callers_without_end_take_no_memory_without_end():
    held, _ = quotas(perceptions_per_second=1)
    for number in range(10_000):
        held.take(caller(f"n{number}"), 1, 1)
    assert len(held._buckets) <= 4096


async def test_calls_are_asked_to_come_back_and_uploads_are_held_back(serve, keys):
    token = keys.make("small", quota=TokenQuota(perceptions_per_second=1))
    steady = keys.make("steady", quota=TokenQuota(perceptions_per_second=20))
    other = keys.make("other")
    async with serve(quotas={"burst": 1}) as served:
        assert served.server.figures()["gateway_refusals_total:OverAllowance"] == 0
        await served.perception.Perceive(request(*(perceived(str(n)) for n in range(100))), metadata=bearer(token))
        failed = await refused(served.perception.Perceive(request(perceived("x")), metadata=bearer(token)))
        assert served.server.figures()["gateway_refusals_total:OverAllowance"] == 1
        assert failed.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failed.quota == PERCEPTIONS
        assert 0 < failed.retry_after <= 101
        body = {"perceptions": [{"source": "a", "text": str(n)} for n in range(20)]}
        answer = await served.http.post("/v1/perceptions", json=body, headers=header(token))
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        assert answer.json()["type"].endswith(":over-quota")
        assert (await served.http.post("/v1/perceptions", json=body, headers=header(other))).status_code == 200

        upload = served.perception.PerceiveStream(metadata=bearer(steady))
        for number in range(3):
            await upload.write(part(number, *(perceived(f"{number}-{n}") for n in range(10))))
        answered = [(await upload.read()).batch for _ in range(3)]
        assert answered == [0, 1, 2]
        upload.cancel()
        assert len(await served.texts()) == 150
        figures = served.access.figures()
        assert figures[f"access_quota_refusals_total:{PERCEPTIONS}"] >= 2
        assert figures[f"access_quota_refusals_total:{STREAMS}"] == 0  # to Prometheus what appears at 1 is no increase
        shown = (await served.http.get("/metrics", headers=header(other))).text
        assert "mind" in shown


async def test_streams_are_counted_over_grpc_and_http_together(serve, keys):
    token = keys.make("one", quota=TokenQuota(streams=2))
    async with serve() as served:
        watching = served.consciousness.Watch(consciousness_pb2.WatchRequest(), metadata=bearer(token))
        await until(lambda: served.access.figures()["access_streams"] == 1)
        async with served.http.stream("GET", "/v1/stream/events", headers=header(token)) as events:
            assert events.status_code == 200
            await until(lambda: served.access.figures()["access_streams"] == 2)
            third = served.consciousness.Watch(consciousness_pb2.WatchRequest(), metadata=bearer(token))
            failed = await refused(third.read())
            assert (failed.code, failed.quota) == (grpc.StatusCode.RESOURCE_EXHAUSTED, STREAMS)
            assert failed.retry_after > 0
            refusal = await served.http.get("/v1/stream/events", headers=header(token))
            assert (refusal.status_code, refusal.headers["retry-after"]) == (429, "1")
        watching.cancel()
        await until(lambda: served.access.figures()["access_streams"] == 0)
        async with served.http.stream("GET", "/v1/stream/events", headers=header(token)) as events:
            assert events.status_code == 200


async def test_health_that_is_watched_and_reflection_count_as_streams_and_a_probe_never_does(serve, keys):
    token, asked = keys.make("one", quota=TokenQuota(streams=2)), health_pb2.HealthCheckRequest()
    async with serve() as served:
        health = health_pb2_grpc.HealthStub(served.channel)
        mirror = reflection_pb2_grpc.ServerReflectionStub(served.channel)
        watching = health.Watch(asked, metadata=bearer(token))
        await watching.read()
        asking = mirror.ServerReflectionInfo(metadata=bearer(token))
        await asking.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        await asking.read()
        thirds = (
            health.Watch(asked, metadata=bearer(token)),
            mirror.ServerReflectionInfo(metadata=bearer(token)),
            served.consciousness.Watch(consciousness_pb2.WatchRequest(), metadata=bearer(token)),
        )
        for third in thirds:
            failed = await refused(third.read())
            assert (failed.code, failed.quota) == (grpc.StatusCode.RESOURCE_EXHAUSTED, STREAMS)
            assert failed.retry_after > 0
        assert served.access.figures()[f"access_quota_refusals_total:{STREAMS}"] == 3
        assert served.server.figures()["gateway_refusals_total:OverAllowance"] == 3
        for metadata in ((), bearer(token)):
            await health.Check(asked, metadata=metadata)
        for call in (watching, asking):
            call.cancel()
        await until(lambda: not served.access.quotas._streams)
        again = health.Watch(asked, metadata=bearer(token))
        assert (await again.read()).status == health_pb2.HealthCheckResponse.SERVING
        again.cancel()


async def test_only_operators_speak_as_operators(tmp_path, serve, keys):
    plain, operator = keys.make("plain", Scope.PERCEIVE), keys.make("ops", Scope.PERCEIVE, Scope.OPERATE)
    async with serve() as served:
        served.access._operators = ("operator", "operator-*")
        said = request(perceived("fine"), perceived("open the gate", source="operator-1"))
        failed = await refused(served.perception.Perceive(said, metadata=bearer(plain)))
        assert failed.code is grpc.StatusCode.PERMISSION_DENIED
        assert "`operate`" in failed.text
        upload = served.perception.PerceiveStream(metadata=bearer(plain))
        await upload.write(part(1, perceived("open the gate", source="operator")))
        assert (await refused(upload.read())).code is grpc.StatusCode.PERMISSION_DENIED
        body = {"perceptions": [{"source": "operator", "text": "open the gate"}]}
        assert (await served.http.post("/v1/perceptions", json=body, headers=header(plain))).status_code == 403
        assert await served.texts() == []
        await served.perception.Perceive(said, metadata=bearer(operator))
        assert (await served.http.post("/v1/perceptions", json=body, headers=header(operator))).status_code == 200


async def test_what_operators_say_is_written_down_with_what_became_of_it(tmp_path, serve, keys):
    plain, operator = keys.make("plain", Scope.PERCEIVE), keys.make("ops", Scope.PERCEIVE, Scope.OPERATE)
    async with serve() as served:
        served.access._operators = ("operator",)
        served.access.audit._file = SharedFile(tmp_path / "audit.log", 1 << 20)

        def lines():
            return [
                (one["by"], one["outcome"].partition(":")[0])
                for one in read_audit(tmp_path)
                if one["action"] == "say" and one.get("target", "operator") == "operator" and one["peer"] == "127.0.0.1"
            ]

        fine, empty = perceived("open the gate", source="operator"), perceived(" ", source="operator")
        await served.perception.Perceive(request(fine), metadata=bearer(operator))
        await refused(served.perception.Perceive(request(empty), metadata=bearer(operator)))
        await refused(served.perception.Perceive(request(fine), metadata=bearer(plain)))
        body = {"perceptions": [{"source": "operator", "text": "by http"}]}
        await served.http.post("/v1/perceptions", json=body, headers=header(operator))
        assert lines() == [("ops", "done"), ("ops", "refused"), ("plain", "refused"), ("ops", "done")]

        upload = served.perception.PerceiveStream(metadata=bearer(operator))
        for number, one in enumerate((empty, fine, fine)):
            await upload.write(part(number, one))
            await upload.read()
        upload.cancel()
        assert lines()[4:] == [("ops", "refused"), ("ops", "done")]  # taken in once: the rest goes unsaid

        async def fails(batches):
            raise StoreUnavailable("gone", 0.5)

        served.intake._log.append_batches = fails
        await refused(served.perception.Perceive(request(fine), metadata=bearer(operator)))
        assert (await served.http.post("/v1/perceptions", json=body, headers=header(operator))).status_code == 503
        upload = served.perception.PerceiveStream(metadata=bearer(operator))
        await upload.write(part(1, fine))
        await refused(upload.read())
        assert lines()[6:] == [("ops", "failed")] * 3
        assert len(await served.texts()) == 4
