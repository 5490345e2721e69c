"""Joining a Ray cluster that others run: nothing of it is started, stopped or configured here.

Ray itself waits for minutes for a cluster that is not there, and says of a token that is refused only that there was
no connection; so the address is asked first, in the way Ray's own processes would.
"""

import asyncio
import importlib
import logging
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc

from environment.addresses import endpoint_of
from orchestration.placement.errors import ClusterUnreachable
from orchestration.placement.settings import CLIENT_SCHEME, ClusterSettings

_GCS_METHOD = "/ray.rpc.NodeInfoGcsService/GetClusterId"
_CLIENT_METHOD = "/ray.rpc.RayletDriver/ClusterInfo"
_MADE_BY_RAY_START = Path("/tmp/ray/ray_current_cluster")  # noqa: S108 - where Ray writes it, and nobody trusts it more


def joining_environment(settings: ClusterSettings) -> Mapping[str, str]:
    """Variables that must be set before the mind process imports Ray. The operator's own hold where nothing is said."""
    said = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
    if settings.token_file is not None:
        path = str(settings.token_file.resolve())
        said |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "", "RAY_AUTH_TOKEN_PATH": path}
    return said


async def join(settings: ClusterSettings, namespace: str) -> str:
    """Connect this process as a driver; the address. Its actors end with it.

    Raises ``ClusterUnreachable`` with what is wrong and what would be right.
    """
    address = found(settings.address)
    await answers(address, settings)
    try:
        await asyncio.to_thread(_connect, address, namespace)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterUnreachable(_why(address, error)) from error
    return address


def node_address() -> str:
    """The address at which other nodes reach this one, once this process has joined."""
    import ray  # noqa: PLC0415 - it takes a second, and who only asks for an address needs none of it

    address: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    return address


def reachable_from(address: str) -> str:
    """The address of this machine at which the nodes of a cluster reach this process."""
    if not address.startswith(CLIENT_SCHEME):
        return node_address()  # a driver runs on a node, which is known by this, whatever name it was joined by
    host, port = endpoint_of(address.removeprefix(CLIENT_SCHEME))
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))  # sends nothing
        return str(probe.getsockname()[0])


def found(address: str, environ: Mapping[str, str] = os.environ, known: Path = _MADE_BY_RAY_START) -> str:
    """The address that is meant. Raises ``ClusterUnreachable`` when ``auto`` finds none, or nonsense."""
    if address != "auto":
        return address
    named, by = environ.get("RAY_ADDRESS", "").strip(), "RAY_ADDRESS"
    if not named:
        with suppress(OSError):
            named, by = known.read_text("utf-8").strip(), str(known)
    if not named or named == "auto":
        raise ClusterUnreachable(
            "no Ray cluster was joined on this machine: `ray start` joins one, or give --address HOST:PORT"
        )
    try:
        endpoint_of(named.removeprefix(CLIENT_SCHEME))
    except ValueError:
        raise ClusterUnreachable(
            f"{by} says {named[:80]!r}: a Ray cluster is written HOST:PORT or ray://HOST:PORT"
        ) from None
    return named


async def answers(address: str, settings: ClusterSettings, environ: Mapping[str, str] = os.environ) -> None:
    """Whether somebody answers there who wants us. Raises ``ClusterUnreachable``."""
    client = address.startswith(CLIENT_SCHEME)
    method = _CLIENT_METHOD if client else _GCS_METHOD
    token = await asyncio.to_thread(_token, environ)
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    async with grpc.aio.insecure_channel(address.removeprefix(CLIENT_SCHEME)) as channel:
        call: Any = channel.unary_unary(method, request_serializer=None, response_deserializer=None)
        try:
            await call(b"", timeout=settings.connect_within, metadata=metadata, wait_for_ready=False)
        except grpc.aio.AioRpcError as error:
            code = error.code()
            if code is grpc.StatusCode.UNAUTHENTICATED:
                said = "this mind's token is refused" if token else "it asks for a token"
                raise ClusterUnreachable(
                    f"the Ray cluster at {address}: {said}; name the file that holds its token in"
                    " runtime.cluster.token_file, or set RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH"
                ) from None
            if code is grpc.StatusCode.UNIMPLEMENTED and not client:
                raise ClusterUnreachable(
                    f"{address} is no GCS of a Ray cluster (it listens on 6379 by default; a Ray client server, on"
                    " 10001, is written ray://HOST:10001)"
                ) from None
            if code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}:
                raise ClusterUnreachable(
                    f"no Ray cluster answers at {address}: is it started, and reachable?"
                ) from None


def _token(environ: Mapping[str, str]) -> str:
    """The token that Ray's variables name, where they ask for one."""
    if environ.get("RAY_AUTH_MODE", "").lower() != "token":
        return ""
    given = environ.get("RAY_AUTH_TOKEN", "").strip()
    if given:
        return given
    place = Path(environ.get("RAY_AUTH_TOKEN_PATH", "") or Path.home() / ".ray" / "auth_token")
    try:
        return place.read_text("utf-8").strip()
    except OSError as error:
        raise ClusterUnreachable(f"{place}, which is to hold the token of the Ray cluster: {error.strerror}") from None


def _connect(address: str, namespace: str) -> None:
    ray = importlib.import_module("ray")
    ray.init(address, namespace=namespace, log_to_driver=False, configure_logging=False, logging_level=logging.ERROR)


def _why(address: str, error: Exception) -> str:
    said = " ".join(str(error).split())
    if "ersion mismatch" in said:
        return (
            f"the Ray cluster at {address} has another version: {said.partition(': ')[2][:300]};"
            " use the same image for the mind and all nodes"
        )
    if "No node info found" in said:
        return (
            f"no node of the Ray cluster at {address} runs on this machine: start one here with"
            f" `ray start --address {address}`, or go through its client server (--address ray://HOST:10001)"
        )
    if "Starting Ray client server failed" in said:
        return (
            f"the Ray client server at {address} did not come to serve this mind: its machine is busy, or short of"
            " memory; the head's ray_client_server_*.err says more"
        )
    return f"the Ray cluster at {address} cannot be joined: {said[:300]}"
