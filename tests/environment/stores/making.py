"""What the tests of stores write down: perceptions, traces, entries and the rest, with sensible defaults."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from environment.collections import Document
from environment.messages import (
    ChangeKind,
    Connection,
    ConnectionChange,
    EntryKind,
    Level,
    NewPerception,
    PerceptionRef,
    StreamEntry,
    SubmindReport,
    SubmindState,
    Thought,
    ThoughtKind,
    Trace,
    Via,
)
from environment.population import GrowthEvent, GrowthKind, Member
from environment.ports import Stores
from environment.stores.movable import Movable

DIM = 256
NOON = 1_772_539_200.0


@dataclass
class Backend:
    """How a backend is tested."""

    open: Callable[..., Awaitable[Movable]]
    """Opens the stores of a mind; every call shares one place, as processes would. ``writer``: for that writer."""


def name(prefix: str, *parts: object) -> str:
    return f"{prefix}-{blake2b(repr(parts).encode(), digest_size=10).hexdigest()}"


def vector(seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=DIM).astype(np.float32)
    return drawn / np.linalg.norm(drawn)


def perception(number: int = 0, **changes: object) -> NewPerception:
    given = {"source": "ops", "time": NOON + number, "received": NOON + number + 0.25, "text": f"line {number}"}
    if changes.keys() & {"telemetry", "image"}:
        del given["text"]
    return NewPerception(**(given | changes))


def trace(number: int = 0, **changes: object) -> Trace:
    thought = Thought(
        id=name("t", number),
        author="text",
        kind=ThoughtKind.PERCEPT,
        text=f"thought {number} \0 \u202e 雪",
        time=NOON + number,
        at=NOON + number + 1,
        vector=vector(number),
        salience=0.5,
        confidence=0.75,
        trust=0.4,
        perceptions=(PerceptionRef(name("p", number), NOON + number, "ops"),),
        parents=(name("p", number),),
        topic="disks",
        depth=1,
        via=(Via("causes", "k1"),),
        emotions={"fear": 0.25},
        associations=("db-1", "disk"),
        insights=("rate x4",),
        count=3,
    )
    given = {"thought": thought, "version": 1, "level": Level(0.5, NOON + number, 3600.0), "authors": ("text",)}
    return Trace(**(given | changes))


def revision(of: Trace, author: str, text: str) -> Trace:
    return replace(
        of, thought=replace(of.thought, author=author, text=text), version=of.version + 1, authors=(*of.authors, author)
    )


def entry(seq: int, **changes: object) -> StreamEntry:
    given = {
        "seq": seq,
        "id": name("c", seq),
        "kind": EntryKind.THOUGHT,
        "text": f"conscious {seq}",
        "time": NOON + seq,
        "at": NOON + seq + 2,
        "salience": 0.8,
        "confidence": 0.7,
        "trust": 0.4,
        "perceptions": (PerceptionRef(name("p", seq), NOON + seq, "ops"),),
        "lineage": (name("t", seq),),
        "focus": name("t", seq),
        "author": "causes",
    }
    return StreamEntry(**(given | changes))


def connection(owner: str = "causes", topic: str = "k1", peer: str = "people", **changes: object) -> Connection:
    given = {
        "label": "disks",
        "weight": 0.3,
        "ltp": False,
        "uses": 4,
        "credited": 2,
        "last_use": NOON,
        "history": ((NOON - 5, "sent"), (NOON, "credited")),
    }
    return Connection(owner=owner, topic=topic, peer=peer, **(given | changes))


def change(number: int = 0, owner: str = "causes") -> ConnectionChange:
    return ConnectionChange(
        owner, "k1", "people", NOON + number, ChangeKind.CREDITED, 0.3, f"reason {number}", "lost keys"
    )


def report(actor: str = "causes", **changes: object) -> SubmindReport:
    given = {"role": "cognitive", "goal": "find causes", "state": SubmindState.RUNNING, "at": NOON}
    given |= {"topics": ("disks",), "mailbox": 3, "metrics": {"thoughts_total": 5.0}, "reason": ""}
    return SubmindReport(name=actor, **(given | changes))


def grown(seq: int, **changes: object) -> GrowthEvent:
    """An event of growth."""
    return replace(
        GrowthEvent(seq, NOON + seq, GrowthKind.DIVIDED, "guard", "causes", "divide", f"causes-{seq}", ("k1", "k2")),
        **changes,
    )


def member(number: int, **changes: object) -> Member:
    """A member that was born by event ``number``."""
    goals = ("Find out why.", "Say so.")
    made = Member(f"causes-{number}", "cognitive", goals, "causes", 1, number, NOON + number, 0.5, ("k1", "k2"))
    return replace(made, **changes)


def document(number: int = 0, **changes: object) -> Document:
    given = {"collection": "notes", "key": f"{number}", "body": b"note %d" % number, "time": NOON + number}
    return Document(**(given | changes))


async def live_ids(stores: Stores, batch: int = 2) -> list[str]:
    return [found.id async for part in stores.traces.live(batch) for found in part]
