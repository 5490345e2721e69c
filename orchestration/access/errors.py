"""Why somebody is not let in. Each class says what to do about it; all survive pickling."""

from environment.errors import FieldedError


class AccessError(Exception):
    """Root of this package's errors."""


class Unauthenticated(FieldedError, AccessError):
    """The caller did not show a token that holds here: ``reason`` says it to programs, ``why`` to people."""

    why: str = "this server requires a token: send the metadata `authorization: Bearer TOKEN`"
    reason: str = "TOKEN_REQUIRED"


class Forbidden(FieldedError, AccessError):
    """The token holds, but not for this: ask for one with the scope ``scope``."""

    name: str
    scope: str
    action: str

    says = "{action} needs a token with the scope `{scope}`, which {name!r} does not have"


class OverAllowance(FieldedError, AccessError):
    """A token sends more than its quota ``quota`` allows: nothing was taken in; come back after ``retry_after`` s."""

    name: str
    quota: str
    """The setting, for example ``access.quotas.streams``."""
    allowed: float
    retry_after: float

    says = "{quota} allows {name!r} {allowed:g}: try again in {retry_after:.3g} s"


class LoginThrottled(FieldedError, AccessError):
    """Too many attempts to log in are under way from one address: try again after ``retry_after`` seconds."""

    retry_after: float

    says = "too many attempts to log in come from this address: try again in {retry_after:g} s"


class BadCredentials(AccessError):
    """A file of certificates, tokens or keys cannot be used: the sentence says which, and what would be right."""
