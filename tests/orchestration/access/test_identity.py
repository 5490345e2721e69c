"""JWT: whose is taken, whose is not, and how keys come and go."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from orchestration.access.errors import BadCredentials, Unauthenticated
from orchestration.access.identity import IdentityProvider
from orchestration.access.scopes import Scope
from orchestration.access.settings import JwtSettings
from tests.orchestration.access.conftest import bearer, header
from tests.orchestration.gateway.conftest import perceived, request
from tests.orchestration.gateway.conftest import refusal as refused
from tests.orchestration.until import until

ISSUER = "https://idp.example"


class Issuer:
    """An identity provider: its keys, what it publishes, and tokens that it makes."""

    def __init__(self):
        self.keys = {}
        self.add("one")

    def add(self, name, algorithm="ES256"):
        key = ec.generate_private_key(ec.SECP256R1()) if algorithm == "ES256" else rsa.generate_private_key(65537, 2048)
        self.keys[name] = (key, algorithm)

    def published(self):
        listed = []
        for name, (key, algorithm) in self.keys.items():
            public = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
            listed.append({**public, "kid": name, "alg": algorithm, "use": "sig"})
        return {"keys": listed}

    def token(self, key="one", headers=None, **claims):
        secret, algorithm = self.keys[key]
        given = {"iss": ISSUER, "aud": "alpha", "sub": "ann", "exp": time.time() + 60, "scope": "watch perceive"}
        return jwt.encode(_plain(given | claims), secret, algorithm, {"kid": key} | (headers or {}))


def _plain(claims):
    return {name: value for name, value in claims.items() if value is not None}


@pytest.fixture
def issuer():
    return Issuer()


@pytest.fixture
def published(issuer, tmp_path):
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps(issuer.published()))
    return file


class Endpoint:
    """The URL at which an issuer publishes its keys; counts who asks."""

    def __init__(self, issuer):
        self.issuer, self.asked, self.status = issuer, 0, 200
        self.may = Event()
        self.may.set()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                endpoint.asked += 1
                endpoint.may.wait(60)
                body = json.dumps(endpoint.issuer.published()).encode()
                self.send_response(endpoint.status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def endpoint(issuer):
    made = Endpoint(issuer)
    yield made
    made.server.shutdown()
    made.server.server_close()


def provider(jwks, now=None, **settings):
    clock = (lambda: now[0]) if now is not None else time.monotonic
    chosen = JwtSettings(**({"jwks": str(jwks), "issuer": ISSUER, "leeway": 0} | settings))
    return IdentityProvider(chosen, "alpha", time.time, clock)


async def test_whoever_the_issuer_names_is_let_in_with_its_scopes(issuer, published):
    found = await provider(published).caller(issuer.token())
    assert (found.name, found.kind, found.scopes) == ("ann", "jwt", {Scope.WATCH, Scope.PERCEIVE})
    assert found.expires == pytest.approx(time.time() + 60, abs=5)
    issuer.add("rsa", "RS256")
    published.write_text(json.dumps(issuer.published()))
    assert (await provider(published).caller(issuer.token("rsa"))).name == "ann"


async def test_scopes_and_names_are_found_where_the_issuer_puts_them(issuer, published):
    mapped = provider(
        published,
        scope_claim="realm.roles",
        name_claim="email",
        scopes={"mind-reader": ["watch"], "mind-owner": ["watch", "operate"]},
    )
    token = issuer.token(realm={"roles": ["mind-owner", "unknown", 3]}, email="ann@example")
    found = await mapped.caller(token)
    assert (found.name, found.scopes) == ("ann@example", {Scope.WATCH, Scope.OPERATE})
    assert (await mapped.caller(issuer.token(email="bob", scope="operate"))).scopes == frozenset()


async def test_who_comes_while_keys_are_fetched_for_another_waits_for_them(issuer, endpoint):
    held = provider(endpoint.url)
    endpoint.may.clear()
    asking = [asyncio.create_task(held.caller(issuer.token(sub=name))) for name in ("ann", "bob")]
    await until(lambda: endpoint.asked == 1)
    asking.append(asyncio.create_task(held.caller(issuer.token(sub="eve"))))
    await asyncio.sleep(0.1)
    endpoint.may.set()
    assert [one.name for one in await asyncio.gather(*asking)] == ["ann", "bob", "eve"]
    assert endpoint.asked == 1


def forged(issuer, algorithm, secret):
    """A token whose header says another algorithm than the key is for."""

    def coded(part):
        return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")

    claims = {"iss": ISSUER, "aud": "alpha", "sub": "eve", "exp": time.time() + 60, "scope": "operate"}
    body = coded({"alg": algorithm, "typ": "JWT", "kid": "one"}) + b"." + coded(claims)
    signature = hmac.new(secret, body, hashlib.sha256).digest() if secret else b""
    return (body + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


async def test_what_does_not_hold_is_refused_with_the_reason(issuer, published):
    held = provider(published)
    stranger = Issuer()
    good = issuer.token()
    head, body, signature = good.split(".")
    public = json.dumps(issuer.published()["keys"][0]).encode()
    for token, reason in (
        (issuer.token(exp=time.time() - 1), "TOKEN_EXPIRED"),
        (issuer.token(aud="beta"), "OTHER_MIND"),
        (issuer.token(aud=None), "JWT_INVALID"),
        (issuer.token(exp=None), "JWT_INVALID"),
        (issuer.token(iss="https://idp.evil"), "JWT_INVALID"),
        (issuer.token(iss=None), "JWT_INVALID"),
        (issuer.token(sub=None), "JWT_INVALID"),
        (issuer.token(sub="a\nb"), "JWT_INVALID"),
        (issuer.token(nbf=time.time() + 600), "JWT_INVALID"),
        (issuer.token(headers={"kid": "none-such"}), "JWT_INVALID"),
        (stranger.token(), "JWT_INVALID"),
        (f"{head}.{body[:-2]}AA.{signature}", "JWT_INVALID"),
        (f"{head}.{body}.", "JWT_INVALID"),
        (forged(issuer, "none", b""), "JWT_INVALID"),
        (forged(issuer, "HS256", public), "JWT_INVALID"),
        (forged(issuer, "ES256", public), "JWT_INVALID"),
        ("a.b.c", "TOKEN_UNKNOWN"),
        ("submind_x", "TOKEN_UNKNOWN"),
    ):
        with pytest.raises(Unauthenticated) as refusal:
            await held.caller(token)
        assert refusal.value.reason == reason, (token, str(refusal.value))
        assert token not in str(refusal.value)
    assert (await held.caller(good)).name == "ann"


async def test_a_symmetric_key_among_those_published_is_none(issuer, published):
    secret = b"s" * 32
    listed = issuer.published()
    oct_key = {"kty": "oct", "kid": "one", "k": base64.urlsafe_b64encode(secret).decode().rstrip("=")}
    published.write_text(json.dumps({"keys": [oct_key]}))
    with pytest.raises(BadCredentials, match="no key"):
        provider(published)
    published.write_text(json.dumps({"keys": [*listed["keys"], oct_key | {"kid": "two"}]}))
    with pytest.raises(Unauthenticated):
        await provider(published).caller(forged(issuer, "ES256", secret))


async def test_while_there_are_no_keys_no_token_is_said_to_be_of_an_unknown_one(issuer, endpoint):
    endpoint.status = 503
    held = provider(endpoint.url)
    with pytest.raises(Unauthenticated, match="does not have the keys of its issuer yet"):
        await held.caller(issuer.token())
    endpoint.status = 200
    assert await held.look() == 1
    assert (await held.caller(issuer.token())).name == "ann"


@pytest.mark.parametrize("algorithm", [["ES256"], {}, None, 5])
async def test_a_head_that_is_no_head_is_refused_like_any_other(serve, keys, published, algorithm):
    keys.make("other")
    head, claims = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": algorithm}, {})
    )
    made_up = b".".join((head, claims, b"eA")).decode()
    async with serve(jwt=JwtSettings(jwks=str(published), issuer=ISSUER)) as served:
        failed = await refused(served.perception.Perceive(request(perceived()), metadata=bearer(made_up)))
        assert (failed.code.name, failed.text[:8]) == ("UNAUTHENTICATED", "this JWT")
        assert (await served.http.get("/v1/status", headers=header(made_up))).status_code == 401
        assert (await served.http.post("/v1/session", json={"token": made_up})).status_code == 401
        assert served.access.figures()["access_refused_total:jwt_invalid"] == 3


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": 3}', '{"keys": []}', '{"keys": [{"kty": "EC"}]}'])
def test_a_file_without_keys_is_refused_at_the_start(published, content):
    published.write_text(content)
    with pytest.raises(BadCredentials, match=r"jwks\.json"):
        provider(published)


async def test_a_new_key_is_found_at_once_and_unknown_ones_cost_one_fetch(issuer, endpoint):
    now = [0.0]
    held = provider(endpoint.url, now, unknown_key_every=30)
    await held.caller(issuer.token())
    issuer.add("two")
    now[0] = 31
    assert (await held.caller(issuer.token("two"))).name == "ann"
    assert endpoint.asked == 2
    stranger = Issuer()
    stranger.add("three")

    async def ask(number):
        with pytest.raises(Unauthenticated):
            await held.caller(stranger.token("three", sub=f"n{number}"))

    now[0] = 100
    await asyncio.gather(*(ask(number) for number in range(50)))
    assert endpoint.asked == 3
    now[0] = 120
    await ask(0)
    assert endpoint.asked == 3
    now[0] = 131
    await ask(0)
    assert endpoint.asked == 4


async def test_while_the_issuer_is_away_the_last_keys_hold_and_it_is_asked_ever_more_rarely(issuer, endpoint):
    now = [0.0]
    held = provider(endpoint.url, now, refresh=60)
    await held.caller(issuer.token())
    endpoint.status = 500
    for second in range(61, 121):
        now[0] = float(second)
        assert (await held.caller(issuer.token(sub=f"s{second}"))).name == f"s{second}"
    assert held.failures == endpoint.asked - 1
    assert endpoint.asked <= 8
    endpoint.status = 200
    now[0] = 300
    await held.caller(issuer.token(sub="back"))
    assert held.failures == endpoint.asked - 2


async def test_both_interfaces_take_them_beside_other_tokens(serve, keys, issuer, published):
    plain = keys.make("plain", Scope.WATCH)
    async with serve(jwt=JwtSettings(jwks=str(published), issuer=ISSUER, leeway=0)) as served:
        await served.perception.Perceive(request(perceived("by jwt")), metadata=bearer(issuer.token()))
        assert (await served.http.get("/v1/status", headers=header(issuer.token()))).status_code == 200
        assert (await served.http.get("/v1/status", headers=header(plain))).status_code == 200
        failed = await refused(
            served.perception.Perceive(request(perceived()), metadata=bearer(issuer.token(scope="watch")))
        )
        assert failed.code.name == "PERMISSION_DENIED"
        assert (await served.http.get("/v1/status", headers=header(issuer.token(aud="beta")))).status_code == 401
        short = issuer.token(exp=time.time() + 1.5)
        async with served.http.stream("GET", "/v1/stream/events", headers=header(short)) as events:
            assert events.status_code == 200
            async with asyncio.timeout(60):
                async for _ in events.aiter_bytes():
                    pass
