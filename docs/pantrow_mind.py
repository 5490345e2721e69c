"""Who lives in the mind of the example day: reports, connections and what happened to them, one birth.

See ``pantrow.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from environment.messages import (
    ChangeKind,
    Connection,
    ConnectionChange,
    Instant,
    SubmindReport,
    SubmindState,
)
from environment.population import GrowthEvent, GrowthKind, Member, write_growth, write_member
from environment.ports import (
    Stores,
    WriteConnections,
    WriteReport,
)
from orchestration.settings import MindSettings

_PERCEPTUAL = frozenset({"text", "telemetry", "image"})
_METACOGNITIVE = frozenset({"monitoring", "control"})
PARENT, CHILD = "association", "association-2"
LTP = 0.6
"""Weight from which a connection may be promoted."""


def _reports(mind: MindSettings, wall: Instant, traces: int, chance: Random) -> list[SubmindReport]:
    reports = []
    named = [(s.name, s.role, s.goal) for s in mind.subminds]
    named += [(CHILD, role, goal) for name, role, goal in named if name == PARENT]
    named += [(role, role, goal) for role, goal in _FACULTIES.items()]
    for name, role, goal in named:
        work = chance.randrange(40, 900)
        metrics = {
            "events_handled_total": float(work * 7),
            "traces_posted_total": float(work // 4),
            "messages_received_total": float(work * 3),
        }
        if name == "environment":
            metrics |= {"traces_live": float(traces), "limit_hits:live_traces": 0.0}
        reports.append(
            SubmindReport(
                name=name,
                role=role,
                goal=goal,
                state=SubmindState.RUNNING,
                at=wall,
                topics=() if role in _FACULTIES else tuple(chance.sample(_TOPICS, 3)),
                mailbox=chance.choice((0, 0, 1, 3, 8)),
                metrics=metrics,
            )
        )
    return reports


_FACULTIES = {
    "environment": "Keeps the traces, and lets them evaporate.",
    "attention": "Lifts the most salient traces into the stream.",
    "stream": "Orders what is conscious, and leads from one thought to the next.",
    "thinking": "Decides what to do about each conscious thought.",
}
_TOPICS = (
    "room2 compressor",
    "payment abandoned",
    "Brinewell",
    "cold-store pages",
    "Quillhaven trays",
    "van 5 door",
    "stock-sync",
    "Thursday letter",
)


def connections_of(names: Sequence[str], now: Instant, chance: Random) -> Iterator[Connection]:
    """Who is connected to whom, as after a long day."""
    cognitive = [name for name in names if name not in _PERCEPTUAL and name not in _METACOGNITIVE]
    for owner in names:
        if owner in _METACOGNITIVE:
            continue
        for peer in chance.sample([name for name in cognitive if name != owner], k=chance.randint(2, 4)):
            weight = round(min(0.95, chance.betavariate(1.6, 2.2)), 3)
            uses = chance.randint(3, 60)
            topic = chance.choice(_TOPICS)
            yield Connection(
                owner=owner,
                topic=topic,
                label=topic,
                peer=peer,
                weight=weight,
                ltp=weight >= LTP,
                uses=uses,
                credited=math.floor(uses * weight),
                last_use=now - chance.uniform(5, 4000),
                history=((now - 60.0, "credited"),),
            )


def life_of(connection: Connection, now: Instant, chance: Random) -> Iterator[ConnectionChange]:
    """How a connection came to its weight, by the law of the registries: credit raises, no credit lowers."""

    def change(at: Instant, kind: ChangeKind, weight: float, reason: str) -> ConnectionChange:
        c = connection
        return ConnectionChange(c.owner, c.topic, c.peer, at, kind, weight, reason, c.label)

    at, weight = now - chance.uniform(3, 6) * 3600.0, 0.2
    yield change(at, ChangeKind.OPENED, weight, "its goal is near this topic")
    strong = False
    while at < now - 400.0 and abs(weight - connection.weight) > 0.05:  # noqa: PLR2004 - near enough
        at += chance.uniform(120, 1500)
        credited = weight < connection.weight
        weight = weight + 0.15 * (1 - weight) if credited else weight * 0.9
        kind = ChangeKind.CREDITED if credited else ChangeKind.UNREWARDED
        yield change(min(at, now), kind, weight, "made conscious" if credited else "no credit within the window")
        if weight >= LTP and not strong:
            strong = True
            yield change(min(at, now), ChangeKind.PROMOTED, weight, "proven by 5 credited uses")


async def divide(stores: Stores, now: Instant) -> None:
    """One birth: on a day with so much to connect, the submind that connects had too much to do."""
    topics, why = _TOPICS[:2], "mailbox at 91 % of its bound for 5 min, topics in 2 groups"
    event = GrowthEvent(
        1, now - 3900.0, GrowthKind.DIVIDED, "guard", PARENT, "divide", CHILD, topics, f"{PARENT}:1", reason=why
    )
    member = Member(CHILD, "cognitive", ("",), PARENT, 1, 1, event.at, 0.5, topics, growth=event.growth, settled=True)
    await stores.commit([write_member(member), write_growth(event)])


async def use(stores: Stores, now: Instant) -> None:
    """Let something flow: some of the connections are used, as in a mind that thinks."""
    chance = Random(3)
    for owner in ("text", "telemetry", "concern", "association"):
        kept = await stores.registry.connections(owner)
        used = [replace(c, uses=c.uses + chance.randint(1, 3), last_use=now) for c in kept[: chance.randint(1, 2)]]
        await stores.commit([WriteConnections(owner, tuple(used), (), ())])


async def report(stores: Stores, wall: Instant, mind: MindSettings | None = None) -> None:
    """Let every actor report, as a running mind's do every few seconds."""
    live = int((await stores.statistics()).get("traces_live_rows", 0))
    await stores.commit([WriteReport(r) for r in _reports(mind or MindSettings(), wall, live, Random(5))])
