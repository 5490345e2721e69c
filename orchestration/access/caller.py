"""Who calls, and what they may."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from orchestration.access.errors import Forbidden
from orchestration.access.scopes import Scope


@dataclass(frozen=True, slots=True)
class Quota:
    """What one token may. None: as ``access.quotas`` says; 0: not bounded."""

    perceptions_per_second: float | None = None
    bytes_per_second: float | None = None
    streams: int | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in."""

    name: str
    """The token's name, or the subject of a JWT."""
    kind: Literal["anybody", "token", "jwt"]
    scopes: frozenset[Scope]
    digest: str = ""
    """SHA-256 of the token, in hexadecimal; empty where there is none."""
    expires: float | None = None
    """Seconds since 1970; None: never."""
    quota: Quota = field(default_factory=Quota)
    session: bool = False
    """Whether this is somebody logged in to the page."""
    login: str = ""
    """Which log-in this is; empty where it is none."""
    behalf: str = ""
    """In whose name a process before the mind calls, as it says."""

    @property
    def key(self) -> str:
        """What quotas are counted by."""
        return f"{self.kind}:{self.name}"

    @property
    def told(self) -> str:
        """As a log has it."""
        return f"{self.behalf} by {self.name}" if self.behalf else self.name

    def require(self, scope: Scope, action: str) -> None:
        """Raises ``Forbidden``, naming the scope, where this caller does not have it."""
        if scope not in self.scopes:
            raise Forbidden(self.name, scope.value, action)

    @property
    def counted(self) -> bool:
        """Whether quotas count this caller: nobody without a token, and not who was counted by a process before."""
        return self.kind != "anybody" and not self.behalf

    def signs(self, by: str) -> str:
        """What stands in a log for somebody who calls himself ``by``: with the token's name, where there is one.

        Who gives no name, or one that nobody sees, is called by the token's, or ``somebody``.
        """
        by = " ".join(by.split())
        if not any(sign.isprintable() and not sign.isspace() for sign in by):
            by = ""
        if self.kind == "anybody":
            return by or "somebody"
        return f"{by} ({self.told})" if by else self.told


NOBODY = Caller("", "anybody", frozenset())
"""Somebody who asks what is open to all, and showed no token where one is required."""

ANYBODY = Caller("anybody", "anybody", frozenset(Scope))
"""Everybody, where no token is required: only this machine can connect."""

CALLER: ContextVar[Caller] = ContextVar("submind_caller", default=ANYBODY)
"""Who the call under way is from."""

PEER: ContextVar[str] = ContextVar("submind_peer", default="")
"""The address that it comes from, where that is known."""
