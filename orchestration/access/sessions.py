"""Log-ins of the page: a signed cookie that stands for a token, and a brake on guessing."""

import asyncio
import ipaddress
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import jwt

from environment.latest import Latest
from orchestration.access.caller import Caller
from orchestration.access.errors import BadCredentials, LoginThrottled, Unauthenticated
from orchestration.access.files import read
from orchestration.access.logouts import OF, LogOuts
from orchestration.access.scopes import Scope
from orchestration.access.settings import SessionSettings
from orchestration.access.tokens import digest

_ALGORITHM = "HS256"
_LEAST_KEY = 32
_WHOSE = 8
"""Characters by which a log-in says whose it is, so that log-outs without end crowd out one's own alone."""
_ADDRESSES = 4096
_FIRST_PAUSE = 0.1
_OVER = "you are not logged in any more: log in again"


class Sessions:
    """Makes and reads the cookies of the page.

    A cookie says which token was shown, by its digest, and until when; it is signed, so that it can be read by every
    process that has the key, and made by no other. The token is looked up at each request: when it is revoked, whoever
    logged in with it is out at once. Who logs out is out at once in this process, and in those it shares ``over`` with
    when they next look.
    """

    def __init__(
        self, settings: SessionSettings, mind: str, wall: Callable[[], float], clock: Callable[[], float] = monotonic
    ) -> None:
        """Raises ``BadCredentials`` for a key that is too short. ``clock``: seconds that never go back."""
        self._settings = settings
        self._audience = f"session:{mind}"
        self._wall = wall
        self.over = LogOuts(wall, clock, settings.heard_every)
        """Log-ins that somebody logged out of."""
        if settings.key_file is None:
            self._key = secrets.token_bytes(_LEAST_KEY)
        else:
            self._key = read(settings.key_file, "the key of log-ins (access.session.key_file)")
        if len(self._key) < _LEAST_KEY:
            raise BadCredentials(
                f"the key of log-ins {settings.key_file} has {len(self._key)} bytes: write at least {_LEAST_KEY}"
            )

    def begin(self, caller: Caller) -> tuple[str, float]:
        """A cookie for somebody who showed a token, and how many seconds it holds."""
        now = self._wall()
        until = min(now + self._settings.lifetime, caller.expires or float("inf"))
        claims = {
            "aud": self._audience,
            "exp": until,
            "jti": f"{digest(caller.key)[:_WHOSE]}{OF}{secrets.token_urlsafe(16)}",
            "kind": caller.kind,
            "name": caller.name,
            "sha256": caller.digest,
            "scopes": sorted(scope.value for scope in caller.scopes),
        }
        return jwt.encode(claims, self._key, _ALGORITHM), until - now

    def read(self, cookie: str) -> Caller:
        """Who it was made for. Raises ``Unauthenticated``; whether the token still holds is for others to say."""
        claims = self._claims(cookie)
        scopes = frozenset(Scope(scope) for scope in claims["scopes"])
        caller = Caller(claims["name"], claims["kind"], scopes, claims["sha256"], float(claims["exp"]))
        return replace(caller, session=True, login=str(claims["jti"]))

    def end(self, cookie: str) -> str:
        """Take a cookie back; which log-in that was. One that does not hold is none of ours: empty."""
        try:
            claims = self._claims(cookie)
        except Unauthenticated:
            return ""
        login = str(claims["jti"])
        self.over.add(login, float(claims["exp"]))
        return login

    def _claims(self, cookie: str) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(
                cookie,
                self._key,
                algorithms=[_ALGORITHM],
                audience=self._audience,
                options={"require": ["exp", "jti", "kind", "name", "sha256", "scopes"]},
            )
        except jwt.PyJWTError:
            raise Unauthenticated(_OVER, "SESSION_ENDED") from None
        if str(claims["jti"]) in self.over:
            raise Unauthenticated(_OVER, "SESSION_ENDED")
        return claims


class LoginThrottle:
    """Slows down whoever tries tokens: the answer to each wrong one takes longer, and few may be under way at once.

    It bears on the page's form alone. What makes guessing hopeless elsewhere is how long tokens are.
    """

    def __init__(self, settings: SessionSettings) -> None:
        self._settings = settings
        self._under: Counter[str] = Counter()
        self._wrong = Latest[str, int](_ADDRESSES)

    async def attempt(self, address: str, check: Callable[[], Awaitable[Caller]]) -> Caller:
        """What ``check`` says. Raises what it raises, later; or ``LoginThrottled``, where many wrong ones wait already.

        The right token opens at once, whoever else tries from the same address: many have one behind a proxy.
        """
        key, settings = network_of(address), self._settings
        try:
            caller = await check()
        except Unauthenticated:
            if self._under[key] >= settings.attempts:
                raise LoginThrottled(settings.slowest) from None
            wrong = self._wrong[key] = self._wrong.get(key, 0) + 1
            self._under[key] += 1
            try:
                await asyncio.sleep(min(settings.slowest, _FIRST_PAUSE * 2 ** min(wrong, 16)))
            finally:
                self._under[key] -= 1
                if not self._under[key]:
                    del self._under[key]
            raise
        self._wrong.pop(key, None)
        return caller


def network_of(address: str) -> str:
    """Who an address belongs to, as far as can be told: of IPv6, everybody has at least a /64.

    A socket for both kinds calls those of IPv4 ``::ffff:1.2.3.4``: they are not one network, they are all there are.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
