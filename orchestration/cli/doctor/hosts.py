"""The checks of ``submind doctor`` on several hosts of one mind: etcd's own state, who leads, and by what settings."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from typing import Any

from environment.configuration import read_configurations
from environment.errors import SubliminalError
from orchestration.cli.doctor.checks import Finding, State
from orchestration.cli.options import HERE
from orchestration.gateway.auth import is_loopback, split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.membership.backends import coordination_of
from orchestration.membership.errors import CoordinationError
from orchestration.membership.etcd.address import parse_address, read_credentials
from orchestration.membership.etcd.client import EtcdMember
from orchestration.membership.etcd.diagnosis import member_condition
from orchestration.settings import Settings
from orchestration.store_factory import open_mind

_WITHIN = 3.0
_SHOWN = 4
OF_A_HOST = frozenset(
    {"access", "client", "coordination", "feed", "front", "gateway", "host", "runtime", "store", "telemetry", "view"}
)
"""Sections of the settings in which the hosts of a mind may well differ."""


async def hosts(settings: Settings) -> AsyncIterator[Finding]:
    """What keeps several hosts from taking turns."""
    async for finding in _members(settings):
        yield finding
    for told in _advertised(settings):
        yield told
    try:
        async with coordination_of(settings) as coordination:
            leader = await coordination.leader()
            changed = (await coordination.configuration.current()).values
    except CoordinationError:
        return  # said by whoever asked before
    yield await _leader(leader.candidate if leader else "", settings)
    if leader is not None and settings.store.address:
        async for finding in _configuration(settings, changed):
            yield finding


async def _members(settings: Settings) -> AsyncIterator[Finding]:
    """Alarms, which every member tells of itself, and without which nothing can be written."""
    try:
        address = parse_address(settings.coordination.address or "")
        credentials = await asyncio.to_thread(read_credentials, address)
    except CoordinationError:
        return
    for host, port in address.hosts:
        member = EtcdMember(host, port, address, credentials, _WITHIN)
        try:
            found = await member_condition(member, _WITHIN)
        finally:
            await member.close()
        if found is not None and found.alarms:
            told = f"{member.label} has raised {', '.join(found.alarms)} at {found.size / 2**20:.0f} MiB"
            fix = (
                "etcdctl compact REVISION, etcdctl defrag --cluster, etcdctl alarm disarm; then a larger"
                " --quota-backend-bytes"
                if "NOSPACE" in " ".join(found.alarms)
                else "etcdctl alarm list; restore that member from the others"
            )
            yield Finding("alarm", State.BAD, f"{told}: nobody can be elected", fix)
        elif found is not None:
            yield Finding("alarm", State.GOOD, f"{member.label} has none; {found.size / 2**20:.1f} MiB")


def _advertised(settings: Settings) -> Iterator[Finding]:
    """Whether other machines can be sent to this host."""
    named = settings.host.advertise or settings.gateway.listen
    with suppress(UnsafeListen):
        host, _ = split_listen(named)
        if is_loopback(host):
            option = "host.advertise" if settings.host.advertise else "gateway.listen"
            yield Finding(
                "advertise",
                State.DOUBTFUL,
                f"this host would lead as {named}, which other machines take for themselves",
                f"{option} names an address of this machine; or host.advertise: HOST:PORT beside it",
            )


async def _leader(candidate: str, settings: Settings) -> Finding:
    if not candidate:
        where = (settings.coordination.address or "").partition("?")[0]
        fix = f"submind run --coordination {where}; where one runs, its log says why not"
        return Finding("leader", State.DOUBTFUL, "nobody leads: perceptions are not taken in", fix)
    try:
        async with asyncio.timeout(_WITHIN):
            _, writer = await asyncio.open_connection(*split_listen(candidate))
        writer.close()
    except (OSError, UnsafeListen, TimeoutError) as error:
        why = "no address" if isinstance(error, UnsafeListen) else getattr(error, "strerror", None) or "no answer"
        return Finding(
            "leader",
            State.BAD,
            f"{candidate} leads, and from this machine nobody is reached there: {why}",
            "set host.advertise on that host to what other machines reach, and open its gRPC port to them",
        )
    return Finding("leader", State.GOOD, f"{candidate} leads, and is reached from here")


async def _configuration(settings: Settings, changed: Mapping[str, Any]) -> AsyncIterator[Finding]:
    """Whether this host would think as the one that leads does."""
    with suppress(SubliminalError, ValueError):
        stores = await open_mind(settings, HERE, "doctor")
        try:
            last = await read_configurations(stores.collections, 1)
        finally:
            await stores.close()
        if not last:
            return
        apart = [each for each in differing(settings, json.loads(last[0].body)) if each.split(": ")[0] not in changed]
        if apart:
            shown = "; ".join(apart[:_SHOWN]) + (f"; and {len(apart) - _SHOWN} more" if len(apart) > _SHOWN else "")
            yield Finding(
                "same",
                State.DOUBTFUL,
                f"this host's settings are not those at work: {shown}",
                "give every host the same --mind FILE and environment; submind configure changes a mind that runs",
            )
        else:
            yield Finding("same", State.GOOD, f"this host's settings are those at work, version {last[0].version}")


def differing(settings: Settings, at_work: Mapping[str, Any]) -> list[str]:
    """Settings in which the two differ, by path, both values told."""
    here = _flat(json.loads(settings.model_dump_json()))
    there = _flat(at_work)
    return [
        f"{path}: {_told(here.get(path))} here, {_told(there.get(path))} there"
        for path in sorted(here.keys() & there.keys())
        if here[path] != there[path] and path.partition(".")[0] not in OF_A_HOST
    ]


def _told(value: object) -> str:
    return json.dumps(value)[:40]


def _flat(tree: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            found |= _flat(value, f"{above}{name}.")
        else:
            found[f"{above}{name}"] = value
    return found
