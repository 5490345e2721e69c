"""The running mind that a command speaks to: which one, with which token, and what it means when it does not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestration.access.errors import BadCredentials
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import certificate_flags
from orchestration.client import ClientError, ClientSettings, Credentials, Denied, MindClient, Unavailable
from orchestration.gateway.auth import split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.loading import load_settings
from orchestration.settings import Settings

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104 - recognised, not bound


_TRANSPORT = ("connect", "dns", "resolution", "socket", "unreachable", "handshake", "ssl", "tls")
"""Words of what gRPC says when no connection came about."""
_UNRESOLVED = "errors resolving"
"""What it says when a name has no address."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a mind answers."""

    target: str
    credentials: Credentials


def server(grpc: str | None, token_file: Path | None, mind: Path | None = None) -> Server:
    """The mind that flags, environment and settings point to. Raises ``Failure`` for what cannot be."""
    flags: dict[str, tuple[str, object]] = {
        "--grpc": ("gateway.listen", grpc),
        "--token-file": ("client.token_file", token_file),
        **certificate_flags(),
    }
    return server_in(load_settings(mind, flags=flags))


def server_in(settings: Settings) -> Server:
    """The mind that settings point to. Raises ``Failure`` for what cannot be."""
    try:
        host, port = split_listen(settings.gateway.listen)
        credentials = Credentials(reaching(settings))
    except UnsafeListen as error:
        raise Failure(f"no mind can be reached at {error.listen}: {error.why}", MISUSED) from None
    except BadCredentials as error:
        raise Failure(str(error), MISUSED) from None
    shown = f"[{host}]" if ":" in host else host
    return Server(f"{_EVERYWHERE.get(host, shown)}:{port}", credentials)


def reaching(settings: Settings) -> ClientSettings:
    """How to call the mind of these settings: as ``client`` says, and as it serves where that says nothing."""
    client = settings.client
    token_file = client.token_file or settings.gateway.token_file
    tls = client.tls or settings.access.tls.certificate is not None
    return client.model_copy(update={"token_file": token_file, "tls": tls})


@asynccontextmanager
async def connected(at: Server, patience: float = 2.0) -> AsyncIterator[MindClient]:
    """A client of the mind ``at``; what it answers instead becomes a ``Failure`` in a sentence."""
    async with MindClient(at.target, credentials=at.credentials, patience=patience) as mind:
        try:
            yield mind
        except Denied as error:
            shown = error.message if at.credentials.token else "a token is required: --token-file FILE"
            raise Failure(f"{at.target} refused: {shown}") from None
        except Unavailable as error:
            if _UNRESOLVED in error.message.lower():
                raise Failure(f"the name in {at.target} is not known here: check --grpc HOST:PORT, and DNS") from None
            if error.code == "UNAVAILABLE" and _is_transport(error):
                raise Failure(_nobody(at, error)) from None
            raise Failure(f"{at.target}: {error}") from None
        except ClientError as error:
            raise Failure(f"{at.target}: {error}") from None


def _nobody(at: Server, error: Unavailable) -> str:
    if at.credentials.encrypted and any(sign in error.message.lower() for sign in _TRANSPORT):
        return (
            f"{at.target} answers, but no encrypted connection came about: --ca must name the authority of its"
            " certificate, and --cert and --key one that it accepts, where it asks for that"
        )
    hint = "" if at.credentials.encrypted else ", and --ca FILE speaks TLS to one that asks for it"
    return f"nobody answers at {at.target}: `submind run` starts a mind there{hint}"


def _is_transport(error: Unavailable) -> bool:
    return error.retry_after is None and any(sign in error.message.lower() for sign in _TRANSPORT)
