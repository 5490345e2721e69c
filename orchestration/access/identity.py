"""Tokens of an identity provider: JWT (RFC 7519), checked with the keys it publishes (JWKS, RFC 7517)."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextvars import Context
from pathlib import Path
from typing import Any

import jwt
import structlog

from environment.latest import Latest
from orchestration.access.caller import Caller
from orchestration.access.errors import BadCredentials, Unauthenticated
from orchestration.access.files import read
from orchestration.access.scopes import Scope
from orchestration.access.settings import JwtSettings
from orchestration.access.tokens import digest

_log = structlog.get_logger(__name__)

_ASYMMETRIC = frozenset({"RSA", "EC", "OKP"})
"""Kinds of keys that are taken: with a symmetric one whoever checks a token could make one."""
_LARGEST = 1 << 20
_REMEMBERED = 1024
"""Tokens whose signature was checked, so that it is not checked at every call."""
_FIRST_PAUSE = 1.0
_INVALID = "JWT_INVALID"
_NONE = "this token is not known here, and is no JWT (authorization: Bearer TOKEN)"


class IdentityProvider:
    """Lets in whoever shows a JWT that ``settings`` accept.

    Keys from a file are there from the start; those from a URL are fetched when they are needed or too old, after a
    failure with growing pauses, and meanwhile the last ones hold. A key that nobody knows leads to one more fetch, and
    not to more than one in ``unknown_key_every`` seconds, however many such tokens come.
    """

    def __init__(self, settings: JwtSettings, mind: str, wall: Callable[[], float], clock: Callable[[], float]) -> None:
        """Raises ``BadCredentials`` where the keys are in a file that cannot be used. ``clock`` never goes back."""
        self._settings = settings
        self._audience = settings.audience or mind
        self._wall, self._clock = wall, clock
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._known = Latest[str, Caller](_REMEMBERED)
        self._fetching: asyncio.Task[None] | None = None
        self._fetched = self._tried = -float("inf")
        self._pause = _FIRST_PAUSE
        self.failures = 0
        """How often the keys could not be had."""
        self._remote = settings.jwks.startswith(("https://", "http://"))
        if not self._remote:
            self._take(read(Path(settings.jwks), "the file of keys (access.jwt.jwks)"))

    async def caller(self, token: str) -> Caller:
        """Who shows this token. Raises ``Unauthenticated`` saying why it does not hold."""
        key = digest(token)
        known = self._known.get(key)
        if known is not None and known.expires is not None and self._wall() < known.expires:
            self._known.move_to_end(key)
            return known
        caller = self._checked(token, await self._key_of(token), key)
        self._known[key] = caller
        return caller

    async def refresh(self) -> None:
        """Fetch the keys where they are too old, unless it failed just now."""
        now = self._clock()
        if now - self._fetched >= self._settings.refresh and now - self._tried >= self._pause:
            await self._fetch()

    async def look(self) -> int:
        """Fetch the keys now; how many there are. Raises ``BadCredentials`` saying why there are none."""
        self._take(await self._read())
        return len(self._keys)

    async def _key_of(self, token: str) -> jwt.PyJWK:
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError:
            raise Unauthenticated(_NONE, "TOKEN_UNKNOWN") from None
        algorithm = header.get("alg")  # whatever JSON has: nobody has checked it yet
        if not isinstance(algorithm, str) or algorithm not in self._settings.algorithms:
            allowed = ", ".join(sorted(self._settings.algorithms))
            raise Unauthenticated(f"this JWT is not signed with one of {allowed}", _INVALID)
        name = header.get("kid", "")
        await self.refresh()
        may = self._fetching is not None or self._clock() - self._tried >= self._settings.unknown_key_every
        if may and self._find(name) is None:
            await self._fetch()
        found = self._find(name)
        if not self._keys:
            why = "this server does not have the keys of its issuer yet, by which a JWT is checked: its log says why"
            raise Unauthenticated(why, _INVALID)
        if found is None:
            raise Unauthenticated("this JWT is signed with a key that its issuer does not publish", _INVALID)
        return found

    def _find(self, name: object) -> jwt.PyJWK | None:
        if not name:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(name) if isinstance(name, str) else None

    def _checked(self, token: str, key: jwt.PyJWK, shown: str) -> Caller:
        settings = self._settings
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=sorted(settings.algorithms),
                issuer=settings.issuer,
                audience=self._audience,
                leeway=settings.leeway,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("this JWT has expired: ask its issuer for another", "TOKEN_EXPIRED") from None
        except jwt.InvalidAudienceError:
            raise Unauthenticated(f"this JWT is for another audience than {self._audience!r}", "OTHER_MIND") from None
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise Unauthenticated(f"this JWT does not hold: {error}", _INVALID) from None
        name = claims.get(settings.name_claim)
        if not isinstance(name, str) or not name or not name.isprintable():
            raise Unauthenticated(f"this JWT does not name its holder in {settings.name_claim!r}", _INVALID)
        scopes = _scopes(claims, settings)
        return Caller(name[:128], "jwt", scopes, shown, float(claims["exp"]) + settings.leeway)

    async def _fetch(self) -> None:
        """Fetch the keys, together with whoever does already. Who goes away meanwhile leaves it to the others."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._try(), name="keys", context=Context())
        await asyncio.wait({self._fetching})

    async def _try(self) -> None:
        self._tried = self._clock()
        try:
            await self.look()
        except Exception as error:  # noqa: BLE001 - whatever an issuer answers, the last keys hold
            self.failures += 1
            self._pause = min(2 * self._pause, self._settings.refresh)
            _log.warning("keys_not_fetched", source=self._settings.jwks, reason=str(error), again_in=self._pause)
        else:
            self._fetched, self._pause = self._clock(), _FIRST_PAUSE
        finally:
            self._fetching = None

    async def _read(self) -> bytes:
        if not self._remote:
            return await asyncio.to_thread(read, Path(self._settings.jwks), "the file of keys (access.jwt.jwks)")
        import httpx  # noqa: PLC0415 - only where keys are fetched

        try:
            async with (
                httpx.AsyncClient(timeout=self._settings.timeout, follow_redirects=False) as http,
                asyncio.timeout(self._settings.timeout),
                http.stream("GET", self._settings.jwks, headers={"Accept": "application/json"}) as answer,
            ):
                if answer.status_code != httpx.codes.OK:
                    raise BadCredentials(f"{self._settings.jwks} answers {answer.status_code}")
                body = b""
                async for chunk in answer.aiter_bytes():
                    body += chunk
                    if len(body) > _LARGEST:
                        raise BadCredentials(f"{self._settings.jwks} answers more than {_LARGEST} bytes")
                return body
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise BadCredentials(f"{self._settings.jwks}: {error or 'no answer in time'}") from None

    def _take(self, content: bytes) -> None:
        """The keys in a JWKS, those that can be used. Raises ``BadCredentials`` where there is none."""
        where = self._settings.jwks
        try:
            listed = json.loads(content)["keys"]
            keys = [each for each in listed if each.get("kty") in _ASYMMETRIC and each.get("use", "sig") == "sig"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise BadCredentials(f"{where} holds no JWKS: an object with a list `keys`") from None
        made: dict[str, jwt.PyJWK] = {}
        for number, each in enumerate(keys):
            try:
                made[str(each.get("kid") or f"#{number}")] = jwt.PyJWK(each)
            except jwt.PyJWTError as error:
                _log.warning("key_left_out", source=where, kid=each.get("kid"), reason=str(error))
        if not made:
            raise BadCredentials(f"{where} holds no key for signatures that can be checked with a public key")
        self._keys = made
        self._known.clear()


def _scopes(claims: Mapping[str, Any], settings: JwtSettings) -> frozenset[Scope]:
    held: Any = claims
    for part in settings.scope_claim.split("."):
        held = held.get(part) if isinstance(held, Mapping) else None
    values = held.split() if isinstance(held, str) else held if isinstance(held, list) else []
    found = (settings.scopes.get(value, frozenset()) for value in values if isinstance(value, str))
    return frozenset[Scope]().union(*found)
