"""Why somebody is not let in. Each class says what to do about it; all survive pickling."""

from __future__ import annotations


class AccessError(Exception):
    """Root of this package's errors."""


class Unauthenticated(AccessError):
    """The caller did not show a token that holds here: ``reason`` says it to programs, ``why`` to people."""

    def __init__(
        self,
        why: str = "this server requires a token: send the metadata `authorization: Bearer TOKEN`",
        reason: str = "TOKEN_REQUIRED",
    ) -> None:
        super().__init__(why, reason)
        self.why = why
        self.reason = reason

    def __str__(self) -> str:
        return self.why


class Forbidden(AccessError):
    """The token holds, but not for this: ask for one with the scope ``scope``."""

    def __init__(self, name: str, scope: str, action: str) -> None:
        super().__init__(name, scope, action)
        self.name = name
        self.scope = scope
        self.action = action

    def __str__(self) -> str:
        return f"{self.action} needs a token with the scope `{self.scope}`, which {self.name!r} does not have"


class OverAllowance(AccessError):
    """A token sends more than its quota ``quota`` allows: nothing was taken in; come back after ``retry_after`` s."""

    def __init__(self, name: str, quota: str, allowed: float, retry_after: float) -> None:
        super().__init__(name, quota, allowed, retry_after)
        self.name = name
        self.quota = quota
        """The setting, for example ``access.quotas.streams``."""
        self.allowed = allowed
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.quota} allows {self.name!r} {self.allowed:g}: try again in {self.retry_after:.3g} s"


class LoginThrottled(AccessError):
    """Too many attempts to log in are under way from one address: try again after ``retry_after`` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(retry_after)
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"too many attempts to log in come from this address: try again in {self.retry_after:g} s"


class BadCredentials(AccessError):
    """A file of certificates, tokens or keys cannot be used: the sentence says which, and what would be right."""
