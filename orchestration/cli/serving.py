"""``submind serve``: gateway and page in a process of their own."""

from pathlib import Path
from typing import Annotated

import typer

from orchestration.access.opening import access_of
from orchestration.cli.options import CoordinationAddress, MindFile, StoreAddress, TokenFile
from orchestration.cli.output import console, emit
from orchestration.client import Credentials
from orchestration.front.front import NONE, Addresses, check, listened
from orchestration.front.run import run_front
from orchestration.gateway.auth import require_guard
from orchestration.loading import load_settings
from orchestration.settings import Settings


def serve(
    mind: MindFile = None,
    store: StoreAddress = None,
    coordination: CoordinationAddress = None,
    leader: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="gRPC of the mind's host. Default: whoever leads, as etcd says."),
    ] = None,
    grpc: Annotated[
        str | None, typer.Option(metavar="HOST:PORT|none", help="Default: gateway.listen, 127.0.0.1:50051.")
    ] = None,
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT|none", help="Default: feed.listen, 127.0.0.1:8080.")
    ] = None,
    probes: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT|none",
            help="/healthz, /readyz and /metrics, apart from the page. Default: front.probes, 127.0.0.1:8081.",
        ),
    ] = None,
    token_file: TokenFile = None,
    upstream_token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The token to show the leader. Default: --token-file.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Say where it listens as a JSON object.")] = False,
) -> None:
    """Serve a mind that another process runs: gRPC, HTTP and the page, as many of these as one likes.

    Reads are answered from the store that the mind shares (--store cassandra://…). Perceptions are checked here, handed
    to whoever leads, and acknowledged when they are durable there; while nobody leads, callers wait a little
    (front.hold) and are then told when to come back. It keeps nothing, and may be started and stopped at any time.

    The same file as the mind's (--mind) makes it judge perceptions as the mind does. On an address that other machines
    can reach a token is required (--token-file).
    """
    flags: dict[str, tuple[str, object]] = {
        "--store": ("store.address", store),
        "--coordination": ("coordination.address", coordination),
        "--leader": ("front.leader", leader),
        "--grpc": ("front.grpc", False) if grpc == NONE else ("gateway.listen", grpc),
        "--http": ("front.http", False) if http == NONE else ("feed.listen", http),
        "--probes": ("front.probes", probes),
        "--token-file": ("gateway.token_file", token_file),
        "--upstream-token-file": ("front.upstream.token_file", upstream_token_file),
    }
    settings = load_settings(mind, flags=flags)
    check(settings)
    guarded = access_of(settings).required
    for listen in listened(settings):
        require_guard(listen, guarded=guarded)  # before anything is started
    Credentials(settings.front.upstream)
    raise typer.Exit(run_front(settings, lambda where: _greet(settings, where, json=json)))


def _greet(settings: Settings, where: Addresses, *, json: bool) -> None:
    if json:
        emit({"mind": settings.mind.name, "grpc": where.grpc, "http": where.http, "probes": where.probes})
        return
    shown = {"page": where.http, "gRPC": where.grpc, "probes": where.probes}
    told = "  ".join(f"{name} {address}" for name, address in shown.items() if address)
    console().print(f"{settings.mind.name}  {told}", highlight=False)
