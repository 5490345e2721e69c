"""The running mind that a command speaks to: which one, with which token, and what it means when it does not answer."""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from environment.addresses import endpoint_label
from orchestration.access.errors import BadCredentials
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import Ca, Cert, Grpc, Key, MindFile, TokenFile
from orchestration.client import ClientError, ClientSettings, Credentials, Denied, MindClient, Unavailable
from orchestration.gateway.auth import split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.loading import load_settings
from orchestration.settings import Settings

A = TypeVar("A")

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - recognised, not bound


_TRANSPORT = ("connect", "dns", "resolution", "socket", "unreachable", "handshake", "ssl", "tls")
"""Words of what gRPC says when no connection came about."""
_CLOSED = ("connect to remote host", "connection refused", "unreachable")
"""... when nobody listens there, or the way there is closed."""
_UNRESOLVED = "errors resolving"
"""What it says when a name has no address."""


class NobodyAnswers(Failure):
    """Nobody listens there, as far as can be seen from here."""


class ServerRefused(Failure):
    """A mind answers, and does not take the token, or wants one."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a mind answers."""

    target: str
    credentials: Credentials


def server(
    grpc: Grpc = None,
    token_file: TokenFile = None,
    mind: MindFile = None,
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
) -> Server:
    """The mind that flags, environment and settings point to. Raises ``Failure`` for what cannot be."""
    flags: dict[str, tuple[str, object]] = {
        "--grpc": ("gateway.listen", grpc),
        "--token-file": ("client.token_file", token_file),
        "--ca": ("client.ca_file", ca),
        "--cert": ("client.cert_file", cert),
        "--key": ("client.key_file", key),
    }
    return server_in(load_settings(mind, flags=flags))


def calling(command: Callable[..., None]) -> Callable[..., None]:
    """A command that is handed the mind it calls as ``at``; it takes the options of ``server`` beside its own."""
    own = inspect.signature(command, eval_str=True)
    pointing = inspect.signature(server, eval_str=True).parameters

    @functools.wraps(command)
    def called(**given: Any) -> None:
        at = server(**{name: given.pop(name) for name in pointing})
        command(**given, at=at)

    taken = [*(one for one in own.parameters.values() if one.name != "at"), *pointing.values()]
    called.__signature__ = own.replace(parameters=taken)  # type: ignore[attr-defined]  # what typer looks at
    called.__annotations__ = {one.name: one.annotation for one in taken}
    return called


def ask(at: Server, question: Callable[[MindClient], Awaitable[A]]) -> A:
    """What the mind ``at`` answers. Raises ``Failure``."""

    async def asked() -> A:
        async with connected(at) as mind:
            return await question(mind)

    return asyncio.run(asked())


def server_in(settings: Settings) -> Server:
    """The mind that settings point to. Raises ``Failure`` for what cannot be."""
    try:
        host, port = split_listen(settings.gateway.listen)
        credentials = Credentials(reaching(settings))
    except UnsafeListen as error:
        raise Failure(f"no mind can be reached at {error.listen}: {error.why}", MISUSED) from None
    except BadCredentials as error:
        raise Failure(str(error), MISUSED) from None
    return Server(endpoint_label(_EVERYWHERE.get(host, host), port), credentials)


def reaching(settings: Settings) -> ClientSettings:
    """How to call the mind of these settings: as ``client`` says, and as it serves where that says nothing."""
    client = settings.client
    token_file = client.token_file or settings.gateway.token_file
    tls = client.tls or settings.access.tls.certificate is not None
    return client.model_copy(update={"token_file": token_file, "tls": tls})


def reaching_own(settings: Settings) -> ClientSettings:
    """How whoever started the mind of these settings calls it: ``client`` may well be about another one.

    Its own token goes before that of ``client``, and certificates are for where it speaks TLS at all.
    """
    client = settings.client
    token_file = settings.gateway.token_file or client.token_file
    if settings.access.tls.certificate is None:
        return ClientSettings(token_file=token_file)
    return client.model_copy(update={"token_file": token_file, "tls": True})


@asynccontextmanager
async def connected(at: Server, retry_for: float = 2.0, within: float = 30.0) -> AsyncIterator[MindClient]:
    """A client of the mind ``at``; what it answers instead becomes a ``Failure`` in a sentence."""
    async with MindClient(at.target, credentials=at.credentials, retry_for=retry_for, timeout=within) as mind:
        try:
            yield mind
        except Denied as error:
            shown = error.message if at.credentials.token else "a token is required: --token-file FILE"
            raise ServerRefused(f"{at.target} refused: {shown}") from None
        except Unavailable as error:
            if _UNRESOLVED in error.message.lower():
                raise Failure(f"the name in {at.target} is not known here: check --grpc HOST:PORT, and DNS") from None
            if error.code == "UNAVAILABLE" and _is_transport(error):
                raise _unconnected(at, error) from None
            raise Failure(f"{at.target}: {error}") from None
        except ClientError as error:
            raise Failure(f"{at.target}: {error}") from None


def _unconnected(at: Server, error: Unavailable) -> Failure:
    """Why there is no connection, as far as gRPC says it."""
    if any(sign in error.message.lower() for sign in _CLOSED):
        return NobodyAnswers(f"nobody answers at {at.target}: `submind run` starts a mind there")
    if at.credentials.encrypted:
        return Failure(
            f"{at.target} answers, but no encrypted connection came about: --ca must name the authority of its"
            " certificate, and --cert and --key one that it accepts, where it asks for that"
        )
    return Failure(
        f"{at.target} answers, but not in plain text: --ca FILE speaks TLS to a mind that asks for it;"
        " is it a mind at all?"
    )


def _is_transport(error: Unavailable) -> bool:
    return error.retry_after is None and any(sign in error.message.lower() for sign in _TRANSPORT)
