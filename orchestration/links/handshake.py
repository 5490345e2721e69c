"""How two processes prove to each other that they are of one mind, before either believes a byte.

Each sends a nonce and answers the other's with an HMAC-SHA256 over both nonces and its own part, keyed with the secret
of the run: the secret never travels, an answer holds for one connection only, and neither part's answer is of use to
the other. After ISO/IEC 9798-4, mutual authentication in three passes.

    caller    MAGIC, nonce
    called    MAGIC, nonce, mac("called")
    caller    mac("caller")

Where there is TLS it goes through that, and what is proven covers the certificate seen.
"""

from __future__ import annotations

import hmac
import secrets

MAGIC = b"submind1"
NONCE = 32
MAC = 32
SECRET_BYTES = 32
"""Length of a secret as ``new_secret`` makes it."""


class NotOfThisMind(Exception):
    """Who is at the other end did not prove that it belongs to this mind: hang up."""


def new_secret() -> bytes:
    """What the processes of one run know each other by."""
    return secrets.token_bytes(SECRET_BYTES)


class Handshake:
    """One end of it: bytes in, bytes out. ``rest`` is what came after it, once ``done``.

    ``nonce`` must be new and unforeseeable with every connection. At most one message is ever kept.
    """

    def __init__(self, secret: bytes, nonce: bytes, *, caller: bool, binding: bytes = b"") -> None:
        """``binding``: what both ends must have seen of the connection itself (``tls.py``); nothing in plain text."""
        if len(secret) < SECRET_BYTES or len(nonce) != NONCE:
            raise ValueError("a handshake needs a secret and a nonce of 32 bytes")
        self._secret = secret
        self._nonce = nonce
        self._caller = caller
        self._binding = binding
        self._theirs = b""
        self._kept = b""
        self.done = False
        self.rest = b""

    def opening(self) -> bytes:
        """What is written before anything is read."""
        return MAGIC + self._nonce if self._caller else b""

    def feed(self, data: bytes) -> bytes:
        """Take in what came, return what is to be written. Raises ``NotOfThisMind``; nothing more may be fed then."""
        self._kept += data
        magic = self._kept[: len(MAGIC)]
        if not self._theirs and magic != MAGIC[: len(magic)]:
            raise NotOfThisMind("it speaks another language")
        if self._caller:
            return self._answer()
        return self._challenge() if not self._theirs else self._believe()

    def _challenge(self) -> bytes:
        """The called end, first: has the caller's nonce, proves itself."""
        if len(self._kept) < len(MAGIC) + NONCE:
            return b""
        if len(self._kept) > len(MAGIC) + NONCE:
            raise NotOfThisMind("it goes on before it was answered")
        self._theirs, self._kept = self._kept[len(MAGIC) :], b""
        return MAGIC + self._nonce + self._mac(b"called")

    def _believe(self) -> bytes:
        """The called end, second: the caller proves itself; what follows is no longer for the handshake."""
        if len(self._kept) >= MAC:
            self._check(self._kept[:MAC], b"caller")
            self._finish(self._kept[MAC:])
        return b""

    def _answer(self) -> bytes:
        """The calling end: the other proves itself, then this one."""
        length = len(MAGIC) + NONCE + MAC
        if len(self._kept) < length:
            return b""
        self._theirs = self._kept[len(MAGIC) : len(MAGIC) + NONCE]
        self._check(self._kept[len(MAGIC) + NONCE : length], b"called")
        self._finish(self._kept[length:])
        return self._mac(b"caller")

    def _finish(self, rest: bytes) -> None:
        self.done, self.rest, self._kept = True, rest, b""

    def _check(self, mac: bytes, part: bytes) -> None:
        if not hmac.compare_digest(mac, self._mac(part)):
            raise NotOfThisMind("it does not know the secret of this run")

    def _mac(self, part: bytes) -> bytes:
        calling, called = (self._nonce, self._theirs) if self._caller else (self._theirs, self._nonce)
        about = b"submind link/" + part + b"/" + calling + called + self._binding
        return hmac.digest(self._secret, about, "sha256")
