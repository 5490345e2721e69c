"""The running mind that a command speaks to: which one, with which token, and what it means when it does not answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from orchestration.cli.failure import MISUSED, Failure
from orchestration.client import ClientError, Denied, MindClient, Unavailable
from orchestration.gateway.auth import read_token, split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.loading import load_settings

_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}  # noqa: S104 - recognised, not bound


@dataclass(frozen=True, slots=True)
class Server:
    """Where a mind answers."""

    target: str
    token: str | None


def server(grpc: str | None, token_file: Path | None, mind: Path | None = None) -> Server:
    """The mind that flags, environment and settings point to. Raises ``Failure`` for what cannot be."""
    flags: dict[str, tuple[str, object]] = {
        "--grpc": ("gateway.listen", grpc),
        "--token-file": ("gateway.token_file", token_file),
    }
    settings = load_settings(mind, flags=flags).gateway
    try:
        host, port = split_listen(settings.listen)
        token = read_token(settings.token_file) if settings.token_file else None
    except UnsafeListen as error:
        raise Failure(str(error), MISUSED) from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise Failure(f"the token file {settings.token_file} cannot be read: {why}", MISUSED) from None
    shown = f"[{host}]" if ":" in host else host
    return Server(f"{_EVERYWHERE.get(host, shown)}:{port}", token)


@asynccontextmanager
async def connected(at: Server, patience: float = 2.0) -> AsyncIterator[MindClient]:
    """A client of the mind ``at``; what it answers instead becomes a ``Failure`` in a sentence."""
    async with MindClient(at.target, token=at.token, patience=patience) as mind:
        try:
            yield mind
        except Denied as error:
            shown = (
                "the token is not the one this mind expects" if at.token else "a token is required: --token-file FILE"
            )
            raise Failure(f"{at.target} refused: {shown} ({error})") from None
        except Unavailable as error:
            if error.code == "UNAVAILABLE" and _is_transport(error):
                raise Failure(f"nobody answers at {at.target}: `submind run` starts a mind there") from None
            raise Failure(f"{at.target}: {error}") from None
        except ClientError as error:
            raise Failure(f"{at.target}: {error}") from None


def _is_transport(error: Unavailable) -> bool:
    return error.retry_after is None and any(
        sign in error.message.lower() for sign in ("connect", "dns", "resolution", "socket", "unreachable")
    )
