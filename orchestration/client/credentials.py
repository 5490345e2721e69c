"""What a client shows to a mind: its token, and certificates."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc

from orchestration.access.errors import BadCredentials
from orchestration.access.files import Signature, read, signature
from orchestration.access.settings import ClientSettings
from orchestration.access.tokens import read_token

Metadata = tuple[tuple[str, str], ...]


class Credentials:
    """Opens channels and signs calls as ``settings`` say.

    The token is read again when its file changes, so a new one takes the place of the old without a restart; while the
    file cannot be read, the last one is shown. Certificates are read when a channel is opened.
    """

    def __init__(self, settings: ClientSettings | None = None, *, token: str | None = None) -> None:
        """Raises ``BadCredentials`` naming the file that cannot be used. ``token`` goes before that of a file."""
        self._settings = settings or ClientSettings()
        self._file = None if token is not None else self._settings.token_file
        self._seen: Signature = signature([self._file] if self._file else [])
        self._token = read_token(self._file) if self._file is not None else token
        self._secure = _channel_credentials(self._settings) if self._settings.encrypted else None

    @property
    def encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return self._secure is not None

    @property
    def token(self) -> str | None:
        """What is shown at present."""
        if self._file is not None:
            seen = signature([self._file])
            if seen != self._seen:
                with suppress(BadCredentials):  # half written, or gone: what it held before is the best there is
                    self._token = read_token(self._file)
                    self._seen = seen
        return self._token

    def of_another(self, token: str) -> Credentials:
        """The same way to the mind for somebody who shows this token, and nothing of ours."""
        nobody = {"token_file": None, "cert_file": None, "key_file": None}
        return Credentials(self._settings.model_copy(update=nobody), token=token)

    def metadata(self) -> Metadata:
        """What goes with every call."""
        token = self.token
        return (("authorization", f"Bearer {token}"),) if token else ()

    def channel(self, target: str, options: Sequence[tuple[str, Any]] = ()) -> grpc.aio.Channel:
        """A connection to ``HOST:PORT``."""
        if self._secure is None:
            return grpc.aio.insecure_channel(target, options=options)
        name = self._settings.server_name
        override = (("grpc.ssl_target_name_override", name),) if name else ()
        return grpc.aio.secure_channel(target, self._secure, options=(*options, *override))


def _channel_credentials(settings: ClientSettings) -> grpc.ChannelCredentials:
    authorities = _authorities(settings.ca_file)
    key = chain = None
    if settings.cert_file is not None and settings.key_file is not None:
        chain, key = read(settings.cert_file, "the certificate"), read(settings.key_file, "the key")
        _check_pair(settings.cert_file, settings.key_file)
    return grpc.ssl_channel_credentials(authorities, key, chain)


def _authorities(file: Path | None) -> bytes | None:
    if file is None:
        return None
    content = read(file, "the file of authorities")
    try:
        ssl.create_default_context(cadata=content.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise BadCredentials(f"the file of authorities {file} holds no certificate in PEM form") from None
    return content


def _check_pair(certificate: Path, key: Path) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, password=lambda: b"")
    except (ssl.SSLError, OSError, ValueError):
        raise BadCredentials(
            f"the certificate {certificate} and the key {key} are not a certificate and its own key, both in PEM form"
        ) from None
