"""What must hold of a mind's stores whatever went wrong, as a list of what does not."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from environment.messages import Perception, Receipt, StreamEntry, Trace
from environment.population import GrowthKind, read_members
from environment.ports import Stores
from orchestration.growth.log import HANDOVERS, GrowthLog
from orchestration.settings import Settings

_PAGE = 10_000


async def broken(
    stores: Stores, settings: Settings, receipts: Sequence[Receipt], seen: Sequence[StreamEntry]
) -> list[str]:
    """Each broken invariant in one sentence; empty when all hold.

    ``receipts`` are all acknowledgements given; ``seen`` what a reader of the stream saw as it grew.
    """
    perceptions = await _perceptions(stores)
    entries = await _entries(stores)
    traces = await _traces(stores)
    return [
        *_acknowledged(perceptions, receipts),
        *_stream(entries, seen),
        *_lineage(entries, traces, {p.id for p in perceptions}),
        *_trust(entries, traces, {p.id: p.trust for p in perceptions}),
        *_bounds(entries, traces, settings),
        *await _connections(stores, settings),
        *await _population(stores, settings),
    ]


async def unowned(stores: Stores, held: Mapping[str, Collection[str]]) -> list[str]:
    """Topics that were ever handed over and that nobody has, or more than one.

    ``held``: the topic keys of every submind that lives. Holds where no topics merged or had to make room.
    """
    return [
        f"topic {key}, which {member.name} was born with, has {' and '.join(have) or 'nobody'}"
        for member in await read_members(stores.collections)
        for key in member.keys
        if len(have := [name for name, keys in held.items() if key in keys]) != 1
    ]


def _acknowledged(perceptions: Sequence[Perception], receipts: Sequence[Receipt]) -> Iterable[str]:
    ids = [p.id for p in perceptions]
    if len(set(ids)) != len(ids):
        yield "a perception is in the log twice"
    missing = {r.id for r in receipts} - set(ids)
    if missing:
        yield f"{len(missing)} acknowledged perceptions are not in the log, {min(missing)} among them"


def _stream(entries: Sequence[StreamEntry], seen: Sequence[StreamEntry]) -> Iterable[str]:
    if [e.seq for e in entries] != list(range(1, len(entries) + 1)):
        yield "the stream's numbers have a gap or a repeat"
    if len({e.id for e in entries}) != len(entries):
        yield "the stream holds a thought twice"
    logged = {e.seq: (e.id, e.text) for e in entries}
    changed = [e.seq for e in seen if logged.get(e.seq) != (e.id, e.text)]
    if changed:
        yield f"entry {changed[0]} is not what a reader was shown"
    if [e.seq for e in seen] != sorted({e.seq for e in seen}):
        yield "a reader was shown an entry twice or out of order"


def _lineage(entries: Sequence[StreamEntry], traces: dict[str, Trace], perceptions: set[str]) -> Iterable[str]:
    known = set(traces) | perceptions | {e.id for e in entries}
    for entry in entries:
        lost = [i for i in (*entry.lineage, *(p.id for p in entry.perceptions)) if i not in known]
        if lost:
            yield f"entry {entry.seq} rests on {lost[0]}, which is nowhere"
        if not entry.perceptions:
            yield f"entry {entry.seq} rests on no perception"
    for trace in traces.values():
        lost = [i for i in trace.thought.parents if i not in known]
        if lost:
            yield f"trace {trace.id} rests on {lost[0]}, which is nowhere"


def _trust(entries: Sequence[StreamEntry], traces: dict[str, Trace], trust: dict[str, float]) -> Iterable[str]:
    every = {**trust, **{t.id: t.thought.trust for t in traces.values()}, **{e.id: e.trust for e in entries}}
    for name, own, parents in (
        *((t.id, t.thought.trust, t.thought.parents) for t in traces.values()),
        *((e.id, e.trust, e.lineage) for e in entries),
    ):
        if parents and own > min(every.get(p, 0.0) for p in parents) + 1e-6:
            yield f"{name} is trusted more than what it came from"


def _bounds(entries: Sequence[StreamEntry], traces: dict[str, Trace], settings: Settings) -> Iterable[str]:
    live = sum(t.live for t in traces.values())
    if live > settings.environment.capacity:
        yield f"{live} traces are live, more than {settings.environment.capacity}"
    levels = [t.level.value for t in traces.values()] + [e.salience for e in entries]
    if any(not 0 <= value <= 1 for value in levels):
        yield "a salience is outside 0..1"
    deepest = max((t.thought.depth for t in traces.values()), default=0)
    limit = 1 + max(settings.submind.max_depth, settings.thinking.max_depth)
    if deepest > limit:
        yield f"a lineage is {deepest} deep, more than {limit}"


async def _connections(stores: Stores, settings: Settings) -> Iterable[str]:
    found = []
    connections = await stores.registry.connections()
    if any(not 0 <= c.weight <= 1 for c in connections):
        found.append("a connection's weight is outside 0..1")
    if any(c.peer == c.owner for c in connections):
        found.append("a submind is connected to itself")
    bounds = settings.submind.connections
    for owner in {c.owner for c in connections}:
        mine = [c for c in connections if c.owner == owner]
        if len(mine) > bounds.total:
            found.append(f"{owner} has {len(mine)} connections, more than {bounds.total}")
        busiest = Counter(c.topic for c in mine).most_common(1)
        if busiest and busiest[0][1] > bounds.per_topic:
            found.append(f"{owner} has more than {bounds.per_topic} connections for topic {busiest[0][0]}")
    return found


async def _population(stores: Stores, settings: Settings) -> Iterable[str]:
    """Members, log and states say the same, within the bounds of growth."""
    found = []
    configured = {s.name: s.role for s in settings.mind.everyone()}
    log = GrowthLog(stores, settings.growth, configured, lambda: math.inf)
    events = await log.follow()
    policy = log.policy
    if [e.seq for e in events] != list(range(1, len(events) + 1)):
        found.append("the log of growth has a gap or a repeat")
    if len(policy.living) > max(settings.growth.ceiling, len(configured)):
        found.append(f"{len(policy.living)} subminds live, more than {settings.growth.ceiling}")
    if sum(policy.share(name) for name in policy.living) > len(configured) + 1e-9:
        found.append("the shares of all that live are more than what was configured")
    born = {e.other for e in events if e.kind is GrowthKind.DIVIDED}
    members = await read_members(stores.collections)
    if born != {m.name for m in members} or len(born) != len(members):
        found.append("who is said to be born is not who is a member")
    owners = {c.owner for c in await stores.registry.connections()}
    for member in members:
        kept = member.living or not member.settled
        left = stores.registry.state(member.name) if member.living else HANDOVERS.get(stores.collections, member.name)
        if not await left and kept:
            found.append(f"{member.name} has {'no state' if member.living else 'left nothing'}")
        if not member.living and member.heir not in policy.members and member.heir not in configured:
            found.append(f"{member.name} left what it had to {member.heir}, who never was")
        if not member.living and member.name in owners:
            found.append(f"{member.name} has ended and still has connections")
    return found


async def _perceptions(stores: Stores) -> list[Perception]:
    found: list[Perception] = []
    while page := await stores.perceptions.read(found[-1].seq if found else 0, _PAGE):
        found += page
    return found


async def _entries(stores: Stores) -> list[StreamEntry]:
    found: list[StreamEntry] = []
    while page := await stores.stream.read(len(found) + 1, _PAGE):
        found += page
    return found


async def _traces(stores: Stores) -> dict[str, Trace]:
    found: dict[str, Trace] = {}
    at = 0
    while True:
        reached, page = await stores.traces.changes(at, _PAGE)
        found.update((t.id, t) for t in page)
        if not page or reached == at:
            return found
        at = reached
