"""Which tokens hold at present: those of the tokens file, and the one of the operator."""

from collections.abc import Mapping
from pathlib import Path

from orchestration.access.caller import Caller
from orchestration.access.errors import Unauthenticated
from orchestration.access.files import WatchedFiles
from orchestration.access.scopes import Scope
from orchestration.access.tokens import digest, read_token, read_tokens

OPERATOR = "operator"
"""What logs call whoever shows the token of ``--token-file``."""


class TokenRegister(WatchedFiles):
    """The tokens of one mind, as their files have them.

    Guarantee: what ``refresh`` took in holds as a whole. A file that cannot be used is said, and what held before it
    goes on holding: a typing error must not lock everybody out.
    """

    kept = "tokens_kept", "the tokens from before hold until the file is mended"

    def __init__(self, mind: str, tokens_file: Path | None = None, operator_file: Path | None = None) -> None:
        """Raises ``BadCredentials``."""
        self._mind = mind
        self._tokens_file = tokens_file
        self._operator_file = operator_file
        super().__init__(tokens_file, operator_file)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def holders(self) -> Mapping[str, Caller]:
        """Whose tokens there are, and what each allows, by name."""
        return {caller.name: caller for caller in self._known.values()}

    def _take(self) -> None:
        entries = read_tokens(self._tokens_file) if self._tokens_file is not None else ()
        known = {entry.sha256: entry.caller() for entry in entries if entry.mind == self._mind}
        if self._operator_file is not None:
            token = digest(read_token(self._operator_file))
            known[token] = Caller(OPERATOR, "token", frozenset(Scope), token)
        self._known: Mapping[str, Caller] = known
        self._elsewhere = {entry.sha256: entry.mind for entry in entries if entry.mind != self._mind}

    def find(self, token: str | bytes, now: float) -> Caller | None:
        """Who shows this token; None where it is not of these. Raises ``Unauthenticated`` where it does not hold."""
        return self.at(digest(token), now)

    def at(self, key: str, now: float) -> Caller | None:
        """Whose token has this digest; None where it is not of these. Raises ``Unauthenticated`` as ``find`` does."""
        caller = self._known.get(key)
        if caller is None:
            if key in self._elsewhere:
                raise Unauthenticated(
                    "this token is for another mind: show one for this (authorization: Bearer TOKEN)", "OTHER_MIND"
                )
            return None
        if caller.expires is not None and now >= caller.expires:
            raise Unauthenticated(
                "this token has expired: ask for another (authorization: Bearer TOKEN)", "TOKEN_EXPIRED"
            )
        return caller
