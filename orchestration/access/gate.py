"""Who is let in: the one object that gateway and feed ask."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from time import monotonic
from urllib.parse import unquote

import structlog

from environment.ports import Stores
from orchestration.access.audit import AuditLog
from orchestration.access.caller import ANYBODY, PEER, Caller
from orchestration.access.certificates import Certificates
from orchestration.access.errors import AccessError, Forbidden, LoginThrottled, Unauthenticated
from orchestration.access.identity import IdentityProvider
from orchestration.access.quotas import NAMES, Quotas
from orchestration.access.register import TokenRegister
from orchestration.access.scopes import Scope
from orchestration.access.sessions import LoginThrottle, Sessions
from orchestration.access.settings import AccessSettings

_log = structlog.get_logger(__name__)
_COUNTED = tuple(
    """token_required token_unknown token_expired token_revoked other_mind jwt_invalid session_ended origin_required
    throttled forbidden""".split()
)
"""Reasons that are counted from 0: to Prometheus what appears at 1 has not increased."""

_OUT = "SESSION_ENDED"
_SCHEME = b"bearer "
_LONGEST_TOKEN = 8192
_LONGEST_NAME = 128
_GONE = "this token does not hold any more: show another (authorization: Bearer TOKEN)"


@dataclass(eq=False, slots=True)
class _Lease:
    """A stream that lasts as long as its token."""

    caller: Caller
    end: Callable[[Unauthenticated], object]


class Access:
    """Tokens and certificates of one mind, as they are at present.

    Guarantees: a token that is taken out of its file, or expires, opens nothing from the next ``refresh`` on, and what
    it has open ends then; ``keep`` does so every ``access.reload_every`` seconds. Files that cannot be used are refused
    at the start, and later said and left out.
    """

    def __init__(
        self,
        settings: AccessSettings,
        *,
        mind: str,
        wall: Callable[[], float],
        operator_token: Path | None = None,
        operators: Sequence[str] = (),
        folder: Path | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Raises ``BadCredentials``.

        ``operator_token``: a file with a token that may everything. ``operators``: patterns of sources that speak to
        the mind as operators. ``folder``: where the audit log is kept. ``clock``: seconds that never go back.
        """
        self.settings = settings
        self.mind = mind
        self._wall = wall
        self._register = TokenRegister(mind, settings.tokens_file, operator_token)
        self.required = bool(settings.tokens_file or operator_token or settings.jwt.jwks)
        """Whether callers must show a token."""
        self.certificates = Certificates(settings.tls) if settings.tls.certificate is not None else None
        provider = settings.jwt
        self._provider = IdentityProvider(provider, mind, wall, clock) if provider.jwks else None
        self.sessions = Sessions(settings.session, mind, wall, clock)
        self.login_throttle = LoginThrottle(settings.session)
        self.quotas = Quotas(settings.quotas, clock)
        self.audit = AuditLog(settings.audit, mind, wall, folder)
        self._operators = tuple(operators)
        self._fetching: asyncio.Task[None] | None = None
        self._leases: set[_Lease] = set()
        self._refused: Counter[str] = Counter()

    @property
    def encrypted(self) -> bool:
        """Whether the servers speak TLS."""
        return self.certificates is not None

    async def caller(self, authorization: str | bytes | None, behalf: str = "") -> Caller:
        """Who shows this ``authorization`` header. Raises ``Unauthenticated``.

        ``behalf``: in whose name a process before the mind says to call, percent-encoded; it counts where its token
        may ``forward``.
        """
        if not self.required:
            return ANYBODY
        found = await self._found(_token_in(authorization))
        if behalf and Scope.FORWARD in found.scopes:
            return replace(found, behalf=fit(unquote(behalf)))
        return found

    async def _found(self, token: bytes) -> Caller:
        found = self._register.find(token, self._wall())
        if found is None and self._provider is not None:
            return await self._provider.caller(token.decode("utf-8", "replace"))
        if found is None:
            raise Unauthenticated("this token is not known here: send `authorization: Bearer TOKEN`", "TOKEN_UNKNOWN")
        return found

    def share(self, stores: Stores) -> None:
        """Hear through ``stores``, for as long as ``keep`` runs, who logs out at other processes of the mind."""
        self.sessions.over.share(stores)

    async def logged_in(self, cookie: str) -> Caller:
        """Who a cookie of the page was made for. Raises ``Unauthenticated`` where it or its token does not hold."""
        self.sessions.read(cookie)  # who has none asks the store nothing
        await self.sessions.over.heard()
        caller = self.sessions.read(cookie)
        if caller.kind == "token":
            now = self._register.at(caller.digest, self._wall())
            if now is None:
                raise Unauthenticated("the token you logged in with does not hold any more: log in again", _OUT)
            caller = replace(now, expires=caller.expires, session=True, login=caller.login)
        return caller

    async def log_out(self, cookie: str) -> None:
        """Take a cookie back, end what is open by it, and let other processes of the mind know."""
        if login := self.sessions.end(cookie):
            self._end(lease for lease in self._leases if lease.caller.login == login)
            await self.sessions.over.tell()

    def refuse(self, action: str, error: AccessError, peer: str = "", by: str = "") -> None:
        """Count and write down that somebody was refused. ``by``: who, where the error does not say it."""
        known = error.reason.lower() if isinstance(error, Unauthenticated) else "forbidden"
        self._refused["throttled" if isinstance(error, LoginThrottled) else known] += 1
        who = by or (error.name if isinstance(error, Forbidden) else "")
        self.audit.refused(action, str(error), peer=peer, by=who)

    def speaks(self, caller: Caller, sources: Iterable[str]) -> frozenset[str]:
        """Whether somebody may speak as ``sources``; those that are operators.

        Raises ``Forbidden``: as an operator only with ``operate``. What is said as an operator breaks in, and is
        answered; what became of it goes to ``spoke``.
        """
        if not self.required or not self._operators:
            return frozenset()
        said = frozenset(source for source in sources if any(fnmatchcase(source, known) for known in self._operators))
        for source in sorted(said):
            try:
                caller.require(Scope.OPERATE, f"speaking as {source[:_LONGEST_NAME]!r}")
            except Forbidden as error:
                self.refuse("say", error, PEER.get(), caller.told)
                raise
        return said

    def spoke(self, caller: Caller, said: Iterable[str], outcome: str) -> None:
        """Write down what became of what somebody said as operators."""
        for source in sorted(said):
            self.audit.record("say", caller, outcome, target=source, peer=PEER.get())

    def holds(self, caller: Caller) -> Unauthenticated | None:
        """Why a caller who was let in is not to be any longer; None while he may stay."""
        if caller.expires is not None and self._wall() >= caller.expires:
            return Unauthenticated(_GONE, "TOKEN_EXPIRED")
        if caller.login and caller.login in self.sessions.over:
            return Unauthenticated("you have logged out: log in again", _OUT)
        if caller.kind != "token":
            return None
        try:
            now = self._register.at(caller.digest, self._wall())
        except Unauthenticated as error:
            return error
        if now is None or not caller.scopes <= now.scopes:
            return Unauthenticated(_GONE, "TOKEN_REVOKED")
        return None

    @contextmanager
    def lease(self, caller: Caller, end: Callable[[Unauthenticated], object]) -> Iterator[None]:
        """Have ``end`` called, once, when the token of ``caller`` ends before this does."""
        if caller.kind == "anybody":
            yield
            return
        lease = _Lease(caller, end)
        self._leases.add(lease)
        try:
            self._end([lease])  # where that happened since it was let in
            yield
        finally:
            self._leases.discard(lease)

    def refresh(self) -> None:
        """Look at the files, and end what is open by tokens that are gone."""
        self._renew_certificate()
        self._renew_tokens()
        self._end(self._leases)

    def _renew_certificate(self) -> None:
        if self.certificates is not None:
            self.certificates.refresh()

    def _renew_tokens(self) -> None:
        before = self._register.holders
        if self._register.refresh():
            after = self._register.holders
            added, gone = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
            changed = sorted(name for name in after.keys() & before.keys() if after[name] != before[name])
            self.audit.record("tokens", "access.tokens_file", "done", added=added, gone=gone, changed=changed)

    def _hear(self) -> None:
        if self.sessions.over.unwritten or any(lease.caller.login for lease in self._leases):
            self.sessions.over.listen()

    def _end(self, leases: Iterable[_Lease]) -> None:
        """End those that do not hold any more."""
        for lease in tuple(leases):
            why = self.holds(lease.caller)
            if why is not None:
                self._leases.discard(lease)
                if why.reason != _OUT:  # who logs out is not refused
                    self._refused[why.reason.lower()] += 1
                lease.end(why)

    async def keep(self) -> None:
        """Refresh every ``access.reload_every`` seconds, until cancelled."""
        end = partial(self._end, self._leases)
        while True:
            await asyncio.sleep(self.settings.reload_every)
            for step in (self._hear, self._renew_certificate, self._renew_tokens, end, self.audit.flush):
                try:
                    step()
                except Exception:  # noqa: BLE001 - whatever it is, all else must go on being looked at
                    _log.exception("access_not_refreshed")
            if self._provider is not None and (self._fetching is None or self._fetching.done()):
                self._fetching = asyncio.create_task(self._provider.refresh(), name="keys")

    def figures(self) -> Mapping[str, float]:
        """Counters and gauges since the start, by metric name without prefix."""
        figures = {
            "access_tokens": float(len(self._register)),
            "access_streams": float(len(self._leases)),
            "access_files_refused_total": float(
                self._register.refused + (self.certificates.refused if self.certificates else 0)
            ),
            **{f"access_refused_total:{reason}": 0.0 for reason in _COUNTED},
            **{f"access_refused_total:{reason}": float(n) for reason, n in self._refused.items()},
        }
        figures |= {f"access_quota_refusals_total:{name}": float(self.quotas.hits[name]) for name in NAMES}
        figures["access_audit_lines_total"] = float(self.audit.lines)
        if self._provider is not None:
            figures["access_keys_failures_total"] = float(self._provider.failures)
        if self.certificates is not None:
            figures["access_certificate_expires"] = self.certificates.expires
        return figures


def _token_in(authorization: str | bytes | None) -> bytes:
    if authorization is None:
        raise Unauthenticated
    given = authorization.encode("utf-8", "replace") if isinstance(authorization, str) else authorization
    scheme, token = given[: len(_SCHEME)], given[len(_SCHEME) :].strip()
    if scheme.lower() != _SCHEME or not token:
        raise Unauthenticated
    if len(token) > _LONGEST_TOKEN:
        raise Unauthenticated("this is no token: it is too long (authorization: Bearer TOKEN)", "TOKEN_UNKNOWN")
    return token


def fit(name: str) -> str:
    """A name from outside as a log may have it."""
    return "".join(sign for sign in name if sign.isprintable())[:_LONGEST_NAME]
