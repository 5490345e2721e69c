"""Tokens: what is kept of them, who they let in, and how they end."""

import asyncio
import stat
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import grpc
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from orchestration.access import errors
from orchestration.access.caller import CALLER
from orchestration.access.errors import BadCredentials
from orchestration.access.gate import Access
from orchestration.access.scopes import Scope
from orchestration.access.settings import AccessSettings
from orchestration.access.tokens import digest, parse_tokens, read_tokens
from orchestration.gateway.binding import CallGuard
from orchestration.gateway.settings import GatewaySettings
from orchestration.pb.submind.v1 import consciousness_pb2
from tests.orchestration.access.conftest import bearer, header
from tests.orchestration.gateway.conftest import part, perceived, request
from tests.orchestration.gateway.conftest import refusal as refused
from tests.orchestration.until import until

ROOT = str(Path(__file__).parents[3])


async def test_a_token_is_kept_nowhere_and_long_enough_not_to_be_guessed(keys):
    tokens = {keys.make(f"t-{number}", Scope.WATCH) for number in range(20)}
    content = keys.path.read_text()
    assert len(tokens) == 20
    for token in tokens:
        assert token.removeprefix("submind_") not in content
        assert digest(token) in content
        assert len(token.removeprefix("submind_")) * 6 >= 256
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert [path.name for path in keys.path.parent.iterdir()] == [keys.path.name]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff", "not YAML"),
        (b"tokens: [", "not YAML"),
        (b"[" * 5000, "not YAML"),
        (b"tokens: 3", "tokens"),
        (b"- a", "it:"),
        (b"tokens: [{name: a, mind: m, scopes: [fly], sha256: %s, created: 2026-01-01}]", r"tokens\[0\].scopes"),
        (b"tokens: [{name: a, mind: m, scopes: [], sha256: %s, created: 2026-01-01}]", r"tokens\[0\].scopes"),
        (b"tokens: [{name: a, mind: m, scopes: [watch], sha256: abc, created: 2026-01-01}]", r"tokens\[0\].sha256"),
        (b"tokens: [{name: 'a b', mind: m, scopes: [watch], sha256: %s, created: 2026-01-01}]", "a name is at most"),
        (b"tokens: [{name: a, mind: m, scopes: [watch], sha256: %s, created: 2026-01-01, wild: 1}]", "wild"),
        (b"tokens: [{name: a, mind: m, scopes: [watch], sha256: %s, created: soon}]", r"tokens\[0\].created"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_a_sentence(content, said, tmp_path):
    with pytest.raises(BadCredentials, match=said) as refusal:
        parse_tokens(content.replace(b"%s", b"a" * 64), tmp_path / "tokens.yaml")
    assert "tokens.yaml" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_two_of_a_name_and_two_of_a_digest_are_refused(tmp_path):
    one = {"name": "a", "mind": "m", "scopes": ["watch"], "sha256": "0" * 64, "created": "2026-01-01"}
    for other in (one | {"sha256": "1" * 64}, one | {"name": "b"}):
        with pytest.raises(BadCredentials, match="twice"):
            parse_tokens(yaml.safe_dump({"tokens": [one, other]}).encode(), tmp_path / "t")
    two = parse_tokens(yaml.safe_dump({"tokens": [one, one | {"mind": "n", "sha256": "1" * 64}]}).encode(), tmp_path)
    assert len(two) == 2


async def test_what_is_wrong_with_a_token_is_told_apart(serve, keys):
    expired, foreign, good = keys.make("old", expires_in=-1), keys.make("far", mind="other"), keys.make("good")
    async with serve() as served:
        for token, reason in (
            (expired, "TOKEN_EXPIRED"),
            (foreign, "OTHER_MIND"),
            (good + "x", "TOKEN_UNKNOWN"),
            (good[:-1], "TOKEN_UNKNOWN"),
            ("submind_" + "a" * 43, "TOKEN_UNKNOWN"),
            ("a" * 8193, "TOKEN_UNKNOWN"),
        ):
            if len(token) < 8000:  # gRPC itself refuses longer metadata
                failed = await refused(served.perception.Perceive(request(perceived()), metadata=bearer(token)))
                assert failed.code is grpc.StatusCode.UNAUTHENTICATED
                assert failed.status.details[0].value.find(reason.encode()) > 0
            answer = await served.http.get("/v1/status", headers=header(token))
            assert answer.status_code == 401
            assert answer.json()["type"].endswith(reason.lower().replace("_", "-"))
            assert token not in answer.text
        assert await served.texts() == []
        await served.perception.Perceive(request(perceived()), metadata=bearer(good))
        assert (await served.http.get("/v1/status", headers=header(good))).status_code == 200
        figures = served.access.figures()
        assert figures["access_tokens"] == 2
        assert figures["access_refused_total:other_mind"] == 2


async def test_a_file_that_breaks_while_it_serves_locks_nobody_out(serve, keys):
    token = keys.make("good", Scope.WATCH)
    async with serve() as served:
        keys.path.write_text("tokens: [")
        await until(lambda: served.access.figures()["access_files_refused_total"] == 1)
        assert (await served.http.get("/v1/status", headers=header(token))).status_code == 200
        keys.path.write_text("tokens: []")
        await until(lambda: served.access.figures()["access_tokens"] == 0)
        assert (await served.http.get("/v1/status", headers=header(token))).status_code == 401


async def test_a_mounted_secret_is_seen_when_its_link_is_turned(serve, keys, tmp_path):
    """As kubelet replaces one: files in a new directory, and a link that is renamed over the old."""
    token = keys.make("a", Scope.WATCH)
    old, new, data = tmp_path / "..1", tmp_path / "..2", tmp_path / "..data"
    for directory in (old, new):
        directory.mkdir()
    (old / "tokens.yaml").write_text(keys.path.read_text())
    (new / "tokens.yaml").write_text("tokens: []")
    data.symlink_to(old)
    mounted = tmp_path / "mounted.yaml"
    mounted.symlink_to(data / "tokens.yaml")
    async with serve(tokens_file=mounted) as served:
        assert (await served.http.get("/v1/status", headers=header(token))).status_code == 200
        (tmp_path / "..tmp").symlink_to(new)
        (tmp_path / "..tmp").rename(data)
        await until(lambda: served.access.figures()["access_tokens"] == 0)


async def _ends(stream):
    async with asyncio.timeout(60):
        with suppress(grpc.aio.AioRpcError):
            while await stream.read() is not grpc.aio.EOF:
                pass
        return await stream.code()


async def test_what_grpc_itself_serves_without_end_ends_with_the_token(serve, keys, caplog):
    tokens = [keys.make(name, Scope.WATCH) for name in ("leaver", "stayer")]
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    async with serve() as served:
        health = health_pb2_grpc.HealthStub(served.channel)
        mirror = reflection_pb2_grpc.ServerReflectionStub(served.channel)
        streams = []
        for token in tokens:
            watching = health.Watch(health_pb2.HealthCheckRequest(), metadata=bearer(token))
            asking = mirror.ServerReflectionInfo(metadata=bearer(token))
            await asking.write(asked)
            assert (await watching.read()).status == health_pb2.HealthCheckResponse.SERVING
            assert (await asking.read()).list_services_response.service
            streams.append((watching, asking))
        assert served.access.figures()["access_streams"] == 4
        (leaving, silenced), (staying, answered) = streams
        keys.revoke("leaver")
        assert await asyncio.gather(_ends(leaving), _ends(silenced)) == [grpc.StatusCode.UNAUTHENTICATED] * 2
        assert "does not hold any more" in await leaving.details()
        assert served.access.figures()["access_refused_total:token_revoked"] == 2
        await answered.write(asked)
        assert (await answered.read()).list_services_response.service
        await answered.done_writing()
        assert await _ends(answered) is grpc.StatusCode.OK
        staying.cancel()
        await until(lambda: served.access.figures()["access_streams"] == 0)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("how", ["revoked", "expired", "narrowed"])
async def test_what_a_token_has_open_ends_with_it(serve, keys, how):
    token = keys.make("reader", expires_in=5 if how == "expired" else None)
    other = keys.make("other")
    async with serve() as served:
        watching = served.consciousness.Watch(consciousness_pb2.WatchRequest(), metadata=bearer(token))
        staying = served.consciousness.Watch(consciousness_pb2.WatchRequest(from_seq=1), metadata=bearer(other))
        upload = served.perception.PerceiveStream(metadata=bearer(token))
        await upload.write(part(1, perceived("kept")))
        assert (await upload.read()).batch == 1
        async with served.http.stream("GET", "/v1/stream/events", headers=header(token)) as events:
            assert events.status_code == 200
            await until(lambda: served.access.figures()["access_streams"] == 4)
            if how == "revoked":
                keys.revoke("reader")
            elif how == "narrowed":
                entries = yaml.safe_load(keys.path.read_text())
                entries["tokens"][0]["scopes"] = ["perceive"]
                keys.path.write_text(yaml.safe_dump(entries))
            codes = await asyncio.gather(_ends(watching), _ends(upload))
            assert set(codes) == {grpc.StatusCode.UNAUTHENTICATED}
            async with asyncio.timeout(60):
                async for _ in events.aiter_bytes():
                    pass
        await served.think(1)
        assert (await staying.read()).mark == 0  # where it begins
        assert (await staying.read()).entry.seq == 1
        assert served.access.figures()["access_streams"] == 1
        assert await served.texts() == ["kept"]
        staying.cancel()


async def test_a_call_whose_token_goes_while_it_opens_hears_that_and_nothing_else(keys):
    access = Access(AccessSettings(tokens_file=keys.path), mind="alpha", wall=lambda: 0.0)
    guard = CallGuard(GatewaySettings(), access)
    token = keys.make("leaver", Scope.WATCH)
    access.refresh()
    CALLER.set(await access.caller(f"Bearer {token}"))
    keys.revoke("leaver")
    access.refresh()

    async def work():
        raise ZeroDivisionError

    with pytest.raises(errors.Unauthenticated):
        await guard.lifetimes.run(work())
    await asyncio.sleep(0)  # saying so is not interrupted
    assert access.figures()["access_streams"] == 0


async def test_the_file_of_the_operator_opens_everything_beside_the_others(serve, keys, tmp_path):
    file = tmp_path / "operator"
    file.write_text("correct-horse-battery")
    reader = keys.make("reader", Scope.WATCH)
    access = Access(AccessSettings(tokens_file=keys.path), mind="alpha", wall=lambda: 0.0, operator_token=file)
    operator = await access.caller("Bearer correct-horse-battery")
    assert (operator.name, operator.scopes) == ("operator", frozenset(Scope))
    assert (await access.caller(f"bearer {reader}")).scopes == {Scope.WATCH}
    file.write_text("another-horse-battery")
    access.refresh()
    assert access.holds(operator) is not None
    with pytest.raises(errors.Unauthenticated):
        await access.caller("Bearer correct-horse-battery")


def test_the_file_is_read_as_its_owner_left_it(keys):
    keys.make("a", Scope.WATCH)
    keys.path.chmod(0o640)
    keys.make("b", Scope.PERCEIVE, Scope.WATCH, expires_in=3600)
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o640
    first, second = read_tokens(keys.path)
    assert (first.name, second.scopes, first.expires) == ("a", {Scope.PERCEIVE, Scope.WATCH}, None)
    assert second.expires is not None


async def test_whatever_is_wrong_with_other_files_what_a_token_has_open_ends_with_it(keys, monkeypatch):
    def fail():
        raise ZeroDivisionError

    now = [0.0]
    access = Access(AccessSettings(tokens_file=keys.path, reload_every=0.01), mind="alpha", wall=lambda: now[0])
    token, gone = keys.make("short", expires_in=60), keys.make("gone")
    access.refresh()
    short, revoked = [await access.caller(f"Bearer {one}") for one in (token, gone)]
    ended = []
    monkeypatch.setattr(access, "certificates", SimpleNamespace(refresh=fail))
    keeping = asyncio.create_task(access.keep())
    with access.lease(revoked, lambda _: ended.append("revoked")):
        keys.revoke("gone")
        await until(lambda: ended == ["revoked"])
    monkeypatch.setattr(access._register, "refresh", fail)
    with access.lease(short, lambda _: ended.append("expired")):
        now[0] = short.expires
        await until(lambda: ended == ["revoked", "expired"])
    keeping.cancel()
