"""``submind doctor`` on secrets, tokens and certificates: who can read them, whom they are for, how long they hold."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from orchestration.access.scopes import Scope
from orchestration.access.tokens import changing, new_token
from orchestration.cli.doctor import trust
from orchestration.cli.doctor.checks import Finding, State
from orchestration.clock import wall
from orchestration.loading import load_settings
from tests.orchestration.access.test_identity import endpoint, issuer
from tests.orchestration.cli.conftest import by_check, here, submind
from tests.servers.secured_etcd import SecuredEtcd

__all__ = ["endpoint", "issuer"]


def ending(days: float) -> Any:
    return lambda authority: authority.issue_cert("127.0.0.1", not_after=datetime.now(UTC) + timedelta(days=days))


@pytest.mark.parametrize(("days", "state", "told"), [(5, "doubtful", "ends in 5 days"), (-1, "bad", "ended on")])
async def test_certificates_that_end(servers: None, tmp_path: Path, days: float, state: str, told: str) -> None:
    server = SecuredEtcd(tmp_path / "etcd", issue=ending(days), asks=False)
    try:
        await asyncio.to_thread(server.start)
        address = f"etcd://{server.endpoint}?ca_file={server.ca_file}"
        done = await submind(*here(tmp_path), "--coordination", address)
    finally:
        await asyncio.to_thread(server.stop)
    shown = [each for each in done.objects if each["check"] == "certificate" and "shows" in each["found"]]
    assert [(each["state"], told in each["found"]) for each in shown] == [(state, True)], done.out
    assert "renew it" in shown[0]["fix"]
    if days < 0:
        assert done.code == 1
        assert by_check(done)["agreement"]["state"] == "bad"


def test_secrets_that_everybody_reads_and_files_that_are_none(tmp_path: Path) -> None:
    token, nothing = tmp_path / "token", tmp_path / "nothing.pem"
    token.write_text("a token that is long enough")
    token.chmod(0o644)
    nothing.write_text("nothing")
    settings = load_settings(
        environ={},
        flags={
            "a": ("gateway.token_file", token),
            "b": ("runtime.cluster.token_file", tmp_path / "gone"),
            "c": ("store.address", f"cassandra://db/minds?dc=dc1&ca_file={nothing}&password_file={token}&username=x"),
        },
    )
    found = list(trust.secrets(settings))
    assert [(each.state, each.found.rpartition(" ")[0].split(" /")[0]) for each in found] == [
        (State.DOUBTFUL, "gateway token_file"),
        (State.BAD, "runtime.cluster token_file"),
        (State.DOUBTFUL, "store password_file"),
    ]
    assert f"chmod 600 {token}" in found[0].fix
    token.chmod(0o600)
    assert next(trust.secrets(settings)).state is State.GOOD
    (wrong,) = trust.certificates(settings, wall())
    assert (wrong.state, "holds no certificate" in wrong.found) == (State.BAD, True)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(nothing)
    (right,) = trust.certificates(settings, wall())
    assert right.state is State.GOOD
    (late,) = trust.certificates(settings, wall() + 1000 * 366 * trust.DAY)
    assert late.state is State.BAD


def test_secrets_of_callers_and_of_a_model_are_looked_at_as_well(tmp_path: Path) -> None:
    names = ("client.token_file", "front.upstream.token_file", "substrate.server.api_key_file")
    settings = load_settings(environ={}, flags={name: (name, tmp_path / name) for name in names})
    assert [each.state for each in trust.secrets(settings)] == [State.BAD] * len(names)


def test_tokens_that_this_mind_does_not_take(tmp_path: Path) -> None:
    file, now = tmp_path / "tokens.yaml", datetime.now(UTC)
    settings = load_settings(environ={}, flags={"a": ("access.tokens_file", file), "b": ("mind.name", "harbour")})
    assert list(trust.tokens(load_settings(environ={}), wall())) == []
    for mind, expires, state, said in (
        ("mind", None, State.DOUBTFUL, "those in it are for mind"),
        ("harbour", now + timedelta(days=1), State.GOOD, "has 1 for harbour"),
    ):
        with changing(file) as tokens:
            _, tokens[mind, "web-1"] = new_token("web-1", mind, [Scope.WATCH], now=now, expires=expires)
        (found,) = trust.tokens(settings, wall())
        assert (found.state, said in found.found) == (state, True)
    (late,) = trust.tokens(settings, wall() + 2 * trust.DAY)
    assert (late.state, "have expired" in late.found, "--for harbour" in late.fix) == (State.DOUBTFUL, True, True)


async def test_an_issuer_whose_keys_cannot_be_had(tmp_path: Path, endpoint: Any) -> None:
    async def found(jwks: str) -> list[Finding]:
        flags: dict[str, tuple[str, object]] = {"a": ("access.jwt.jwks", jwks), "b": ("access.jwt.issuer", "me")}
        return [each async for each in trust.issuer(load_settings(environ={}, flags=flags))]

    assert [each async for each in trust.issuer(load_settings(environ={}))] == []
    (good,) = await found(endpoint.url)
    assert (good.state, "has 1" in good.found) == (State.GOOD, True)
    endpoint.status = 404
    for jwks, said in (
        (endpoint.url, "answers 404"),
        (str(tmp_path / "none.json"), "cannot be read"),
        ("http://127.0.0.1:port/keys", "port"),
    ):
        (bad,) = await found(jwks)
        assert (bad.state, said in bad.found, "access.jwt.jwks" in bad.fix) == (State.BAD, True, True)


def test_what_others_reach_is_encrypted_and_has_its_name(tmp_path: Path) -> None:
    authority, certificate, key = trustme.CA(), tmp_path / "tls.crt", tmp_path / "tls.key"
    issued = authority.issue_cert("mind.example.org", "*.minds.example.org", "192.0.2.7")
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    plain: dict[str, tuple[str, object]] = {"a": ("gateway.listen", "0.0.0.0:50051")}
    (found,) = trust.exposed(load_settings(environ={}, flags=plain))
    assert (found.state, "gateway.listen 0.0.0.0:50051" in found.found) == (State.DOUBTFUL, True)
    assert "access.tls.certificate" in found.fix
    assert list(trust.exposed(load_settings(environ={}))) == []
    tls = plain | {"b": ("access.tls.certificate", certificate), "c": ("access.tls.key", key)}
    for advertised, wrong in (
        ("mind.example.org:50051", False),
        ("a.minds.example.org:50051", False),
        ("192.0.2.7:50051", False),
        ("other.example.org:50051", True),
        ("a.b.minds.example.org:50051", True),
    ):
        settings = load_settings(environ={}, flags=tls | {"d": ("host.advertise", advertised)})
        assert [each.state for each in trust.exposed(settings)] == [State.BAD] * wrong, advertised
    assert {each.check for each in trust.certificates(settings, wall())} == {"certificate"}
