"""The checks of ``submind doctor`` on the Ray cluster that a mind is to live on, and on what its own Ray needs."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psutil

from orchestration.cli.doctor.checks import MIB, Finding, State, judge
from orchestration.placement.errors import ClusterUnreachable
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime.machines.joining import answers, found, joining_environment
from orchestration.settings import Settings

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where Ray puts its object store
_WITHIN = 30.0


async def rays(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the cluster answers, is of our versions, and has room for subminds."""
    cluster = settings.runtime.cluster
    if not cluster.address:
        for each in shared_memory(settings.runtime.object_store_bytes):
            yield each
        return
    environ = {**os.environ, **joining_environment(cluster)}
    try:
        address = found(cluster.address)
        await answers(address, cluster, environ)
    except ClusterUnreachable as error:
        told, _, fix = str(error).partition("; ")
        yield Finding("ray", State.BAD, told, fix or "start the cluster, or correct runtime.cluster.address")
        return
    yield Finding("ray", State.GOOD, f"a cluster answers at {address}")
    if address.startswith("ray://"):
        return
    said = await _said(address, environ)
    if said is None:
        fix = "look at the head's log: gcs_server.out"
        yield Finding("versions", State.DOUBTFUL, f"the cluster at {address} does not say what it is", fix)
        return
    yield _versions(said)
    if said["kept"]:
        yield _head(said["kept"])
    for each in _nodes(said, address, cluster):
        yield each


def shared_memory(wanted: int, place: Path = SHARED_MEMORY) -> Iterator[Finding]:
    """Room for Ray's object store: a container has 64 MiB unless somebody says otherwise."""
    if not place.is_dir():
        return
    room = shutil.disk_usage(place)
    fix = f"docker run --shm-size={wanted // MIB * 2}m; in Kubernetes an emptyDir of medium Memory at {place}"
    told, short = f"{place} has {room.free / MIB:,.0f} MiB free, and Ray takes", room.free < wanted
    disk = ": it would take the disk instead" if short else ""
    yield judge("shm", f"{told} {wanted / MIB:,.0f} MiB of it{disk}", doubtful=fix if short else "")


async def _said(address: str, environ: dict[str, str]) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "orchestration.cli.doctor.rayed", address]
    pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=nowhere, stdout=pipe, stderr=nowhere, env=environ)
    try:
        async with asyncio.timeout(_WITHIN):
            out, _ = await process.communicate()
        said: dict[str, Any] = json.loads(out)
    except (TimeoutError, ValueError):
        return None
    else:
        return said
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _versions(said: dict[str, Any]) -> Finding:
    here, there = said["here"], said["cluster"]
    apart = [f"{name} {there[name]}, here {here[name]}" for name in ("ray", "python") if here[name] != there[name]]
    fits = f"Ray {here['ray']} and Python {here['python']}, as here"
    told = f"the cluster has {' and '.join(apart)}: it refuses this mind" if apart else fits
    return judge("versions", told, bad="one image for the mind and all nodes" if apart else "")


def _head(kept: str) -> Finding:
    """Whether the cluster outlives its head. ``kept``: where that keeps what the cluster knows, as it says itself."""
    lost = kept == "memory"
    then = ": with it the cluster is lost, and the mind begins anew" if lost else ", which outlives it"
    fix = "in the head's environment RAY_gcs_storage=rocksdb and RAY_gcs_storage_path on a volume that outlives it"
    told = f"the cluster's head keeps what it knows in {kept}{then}"
    return judge("head", told, doubtful=fix if lost else "")


def _nodes(said: dict[str, Any], address: str, cluster: ClusterSettings) -> Iterator[Finding]:
    nodes = said["nodes"]
    fitting = [node for node in nodes if node["resources"].get(cluster.resource, 0) > 0]
    units = sum(node["resources"][cluster.resource] for node in fitting)
    if fitting:
        told = f"{len(fitting)} of {len(nodes)} nodes have {cluster.resource}, {units:g} units in all"
        yield Finding("nodes", State.GOOD, told)
    else:
        yield Finding(
            "nodes",
            State.BAD,
            f"none of {len(nodes)} nodes has the resource {cluster.resource}: no submind can live there",
            f"on each that takes some: ray start --address {address} --resources '{{\"{cluster.resource}\": 16}}'",
        )
    ours = {each.address for found in psutil.net_if_addrs().values() for each in found}
    if not any(node["address"] in ours for node in nodes):
        yield Finding(
            "node",
            State.BAD,
            f"no node of {address} runs on this machine, which {address} as an address needs",
            f"ray start --address {address} here, or go through its client server: ray://HOST:10001",
        )
