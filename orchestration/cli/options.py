"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

Grpc = Annotated[
    str | None,
    typer.Option(
        "--grpc",
        metavar="HOST:PORT",
        help="Where the mind answers. Default: gateway.listen of the settings, 127.0.0.1:50051.",
        show_default=False,
    ),
]
TokenFile = Annotated[
    Path | None, typer.Option("--token-file", metavar="FILE", help="File that holds the token.", show_default=False)
]
MindFile = Annotated[
    Path | None,
    typer.Option("--mind", metavar="FILE", help="Settings of the mind (YAML).", show_default=False),
]
DataDir = Annotated[Path, typer.Option("--data-dir", metavar="DIR", help="Where the mind is kept.")]
HERE = Path("mind-data")
"""Where a mind is kept unless somebody says otherwise."""
StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="sqlite:DIR, or cassandra://HOST[:PORT],HOST/KEYSPACE?dc=NAME. Default: the data directory.",
        show_default=False,
    ),
]
CoordinationAddress = Annotated[
    str | None,
    typer.Option(
        "--coordination",
        metavar="ADDRESS",
        help="etcd://HOST:PORT,HOST:PORT. Default: coordination.address of the settings.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]

_given: ContextVar[dict[str, tuple[str, object]] | None] = ContextVar("submind_certificates", default=None)


def _keep(option: str, setting: str) -> Callable[[Path | None], None]:
    def keep(value: Path | None) -> None:
        _given.set({**(_given.get() or {}), option: (setting, value)})

    return keep


def _certificates(
    ca: Annotated[
        Path | None,
        typer.Option(
            "--ca",
            metavar="FILE",
            help="Authority of the server's certificate (PEM); speaks TLS.",
            callback=_keep("--ca", "client.ca_file"),
            expose_value=False,
            show_default=False,
        ),
    ] = None,
    cert: Annotated[
        Path | None,
        typer.Option(
            "--cert",
            metavar="FILE",
            help="Certificate to show, with --key, where the server asks for one.",
            callback=_keep("--cert", "client.cert_file"),
            expose_value=False,
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Private key of --cert.",
            callback=_keep("--key", "client.key_file"),
            expose_value=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """The options of every command that calls a mind, told once: they are not arguments of its function."""


def certificate_options() -> list[Any]:
    """These options, to be added to a command's own."""
    only = typer.Typer(add_completion=False)
    only.command()(_certificates)
    return [one for one in get_command(only).params if one.name in {"ca", "cert", "key"}]


def certificate_flags() -> dict[str, tuple[str, object]]:
    """What they were given, as ``load_settings`` takes it."""
    return dict(_given.get() or {})
