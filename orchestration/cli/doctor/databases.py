"""The checks of ``submind doctor`` on a Cassandra that answers: copies of each row, servers, clocks."""

import random
import time
from collections.abc import AsyncIterator, Callable

from environment.errors import SubliminalError
from environment.messages import Instant
from environment.stores.cassandra.survey import ClusterSurvey, survey
from orchestration.cli.doctor.checks import Finding, State, judge
from orchestration.clock import wall
from orchestration.settings import Settings

ENOUGH = 3
"""Copies of which one may be lost, and reading and writing goes on."""
APART, FAR_APART = 1.0, 30.0
"""Seconds between clocks that are doubted, and that are a fault: leases are that long."""


async def databases(settings: Settings, clock: Callable[[], Instant] = wall) -> AsyncIterator[Finding]:
    """What a cluster's own state makes of a mind that is kept there."""
    try:
        found = await survey(
            settings.store.address,
            settings.store.cassandra,
            rng=random.SystemRandom(),
            wall=clock,
            ticking=time.monotonic,
        )
    except SubliminalError as error:
        yield Finding("copies", State.DOUBTFUL, f"could not be looked at: {error}", "look at nodetool status")
        return
    if found.sync:
        yield durability(found)
    yield copies(found)
    yield servers(found)
    yield clocks("clocks", found.apart)


def durability(found: ClusterSurvey) -> Finding:
    """What the cluster's own settings make of an acknowledgement."""
    told = f"{found.copies} {'copy' if found.copies == 1 else 'copies'} of each row, commitlog_sync is {found.sync}"
    fix = "a server that is killed forgets what it last acknowledged: more copies, or commitlog_sync: batch"
    return judge("durability", told, doubtful="" if found.outlives_a_kill else fix)


def copies(found: ClusterSurvey) -> Finding:
    """Whether the replication bears the loss of a server, and whether it can be served at all."""
    told = f"{found.copies} {'copy' if found.copies == 1 else 'copies'} of each row in {found.dc}, {found.strategy}"
    wanted = min(ENOUGH, max(1, len(found.up) + len(found.down)))
    alter = (
        f"ALTER KEYSPACE {found.keyspace} WITH replication = {{'class': 'NetworkTopologyStrategy', '{found.dc}':"
        f" {wanted}}}, then nodetool repair on every server"
    )
    if not found.copies:
        return Finding("copies", State.BAD, f"{told}: nothing can be read or written there", alter)
    if len(found.up) < found.quorum:
        told = f"{told}: {found.quorum} must answer and {len(found.up)} of its servers do"
        return Finding("copies", State.BAD, told, f"start the others, or {alter}")
    if found.strategy != "NetworkTopologyStrategy":
        return Finding("copies", State.DOUBTFUL, f"{told}: it knows no data centres", alter)
    if found.copies < ENOUGH:
        fix = f"for production: {ENOUGH} servers, and {alter.replace(f': {wanted}', f': {ENOUGH}')}"
        lost = "its rows are gone" if found.copies == 1 else "nothing can be written"
        return Finding("copies", State.DOUBTFUL, f"{told}: when a server is lost, {lost}", fix)
    return Finding("copies", State.GOOD, told)


def servers(found: ClusterSurvey) -> Finding:
    """Those that are known and do not answer."""
    down, all_of = found.down, len(found.up) + len(found.down)
    told = f"{', '.join(down)} of {all_of} servers in {found.dc} do not" if down else f"all {all_of} in {found.dc}"
    return judge("servers", f"{told} answer", doubtful="start them; nodetool status says how they are" if down else "")


def clocks(check: str, apart: dict[str, float]) -> Finding:
    """How far the clocks of others are from this machine's."""
    if not apart:
        return Finding(check, State.DOUBTFUL, "no clock could be read", "start the servers")
    name, seconds = max(apart.items(), key=lambda item: abs(item[1]))
    told = f"that of {name} is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} this machine's"
    state = State.BAD if abs(seconds) > FAR_APART else State.DOUBTFUL if abs(seconds) > APART else State.GOOD
    fix = "" if state is State.GOOD else "synchronise the clocks of all machines: chronyc tracking says how each is"
    return Finding(check, state, told, fix)
