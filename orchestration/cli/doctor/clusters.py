"""The checks of ``submind doctor`` beyond this machine: where the mind is kept, agrees and lives."""

import time
from collections.abc import AsyncIterator

from environment.errors import SubliminalError, WrongSchema
from environment.stores.copying import mark_of
from environment.stores.opening import directory_of
from orchestration.cli.doctor.checks import Finding, State, judge
from orchestration.cli.doctor.hosts import hosts
from orchestration.cli.doctor.rays import rays
from orchestration.cli.doctor.trust import certificates, exposed, issuer, secrets, served, tokens
from orchestration.cli.options import HERE
from orchestration.clock import wall
from orchestration.membership.backends import coordination_of
from orchestration.membership.errors import CoordinationError
from orchestration.settings import Settings
from orchestration.store_factory import open_mind

_SLOW = 0.1
"""Seconds for one read of a row: every acknowledgement takes a few of these."""


async def clusters(settings: Settings) -> list[Finding]:
    """Store and coordination, where they are not of this machine alone."""
    address, now, found = settings.store.address, wall(), list[Finding]()
    if address and directory_of(address) is None:
        found += [one async for one in _store(settings)]
        if all(one.state is not State.BAD for one in found):
            from orchestration.cli.doctor.databases import databases  # noqa: PLC0415 - the driver, where it is used

            found += [one async for one in databases(settings)]
    if settings.coordination.address:
        for check in (_coordination, hosts):
            found += [one async for one in check(settings)]
    found += (*secrets(settings), *tokens(settings, now), *certificates(settings, now), *exposed(settings))
    for told in (issuer(settings), served(settings, now), rays(settings)):
        found += [one async for one in told]
    return found


async def _store(settings: Settings) -> AsyncIterator[Finding]:
    shown = settings.store.address.partition("?")[0]
    try:
        stores = await open_mind(settings, HERE, "doctor")
    except WrongSchema as error:
        yield Finding("store", State.BAD, f"{shown}: {error}", error.advice)
        return
    except SubliminalError as error:
        yield Finding("store", State.BAD, str(error), "correct --store, or start the servers")
        return
    try:
        began = time.perf_counter()
        head = await stores.perceptions.head()
        took = time.perf_counter() - began
        told = f"{shown} answers a read in {took * 1000:.1f} ms; {settings.mind.name} perceived {head:,}"
        slow = "acknowledgements wait for a few of these: a nearer data centre would help" if took > _SLOW else ""
        yield judge("store", told, doubtful=slow)
        mark = await mark_of(stores)
        if mark is not None and mark.stage:
            yield Finding(
                "arrival",
                State.BAD,
                f"the mind is still moving in from {mark.source}",
                "`submind restore FILE`, as it was given, goes on with it",
            )
    except SubliminalError as error:
        yield Finding("store", State.BAD, str(error), "look at the servers: nodetool status")
    finally:
        await stores.close()


async def _coordination(settings: Settings) -> AsyncIterator[Finding]:
    try:
        async with coordination_of(settings) as coordination:
            figures = await coordination.figures()
            leader = await coordination.leader()
            answering = int(figures.get("coordination_members_answering", 0))
            members = int(figures.get("coordination_members", 0))
            led = f"{leader.candidate} leads" if leader else "nobody leads"
            told = f"{coordination.address}: {answering} of {members} named members answer; {led}"
            short = "look at the members that do not: etcdctl endpoint health" if answering < members else ""
            yield judge("agreement", told, doubtful=short)
    except CoordinationError as error:
        yield Finding("agreement", State.BAD, str(error), "correct --coordination, or start the servers")
