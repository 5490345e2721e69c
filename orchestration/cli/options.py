"""Options that several commands have, and commands that are several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Grpc = Annotated[
    str | None,
    typer.Option(
        "--grpc",
        metavar="HOST:PORT",
        help="Where the mind answers. Default: gateway.listen of the settings, 127.0.0.1:50051.",
    ),
]
TokenFile = Annotated[Path | None, typer.Option("--token-file", metavar="FILE", help="File that holds the token.")]
MindFile = Annotated[Path | None, typer.Option("--mind", metavar="FILE", help="Settings of the mind (YAML).")]
DataDir = Annotated[Path, typer.Option("--data-dir", metavar="DIR", help="Where the mind is kept.")]
HERE = Path("mind-data")
"""Where a mind is kept unless somebody says otherwise."""
StoreAddress = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="ADDRESS",
        help="sqlite:DIR, or cassandra://HOST[:PORT],HOST/KEYSPACE?dc=NAME. Default: the data directory.",
    ),
]
CoordinationAddress = Annotated[
    str | None,
    typer.Option(
        "--coordination",
        metavar="ADDRESS",
        help="etcd://HOST:PORT,HOST:PORT. Default: coordination.address of the settings.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Ca = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Authority of the server's certificate (PEM); speaks TLS.")
]
Cert = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Certificate to show, with --key, where the server asks for one.")
]
Key = Annotated[Path | None, typer.Option(metavar="FILE", help="Private key of --cert.")]


@dataclass(frozen=True, slots=True)
class Group:
    """A command that is several."""

    help: str
    commands: Mapping[str, Callable[..., None]]
