"""``python -m tests.orchestration.membership.stubborn ADDRESS MIND DIR NAME LEASE``: leads, and writes while it can.

It never asks whether it still leads before it writes: only the store can stop it. What it does, it says on standard
output, one JSON object a line; what was acknowledged to it is in ``DIR/NAME.acknowledged``, synced line by line.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from environment.errors import FencedOut, StoreUnavailable
from environment.messages import EntryKind, StreamEntry
from environment.ports import Stores, WriteEntries
from environment.stores.sqlite import open_stores
from orchestration.membership.errors import NotLeading
from orchestration.membership.leading import take_lead
from orchestration.membership.opening import open_coordination
from orchestration.membership.settings import CoordinationSettings

T = TypeVar("T")


def say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def entry(seq: int, name: str) -> StreamEntry:
    return StreamEntry(
        seq=seq, id=name, kind=EntryKind.THOUGHT, text="", time=0.0, at=0.0, salience=0.5, confidence=0.5, trust=0.5,
        perceptions=(), lineage=(),
    )  # fmt: skip


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Try again while the file is locked: by a process that was stopped in the middle of writing, say."""
    while True:
        try:
            return await work()
        except StoreUnavailable:
            await asyncio.sleep(0.05)


async def write(stores: Stores, fence: int, name: str, acknowledged: int) -> None:
    """Until the store refuses."""
    seq = await stores.stream.head()
    while True:
        seq += 1
        said = f"{name}-{fence}-{seq}"
        await patiently(partial(stores.commit, [WriteEntries((entry(seq, said),))], fence))
        os.write(acknowledged, f"{seq} {said}\n".encode())
        await asyncio.sleep(0.01)


async def main(address: str, mind: str, directory: Path, name: str, lease: float) -> None:
    stores = await open_stores(directory, mind, busy_timeout=0.5)
    acknowledged = os.open(directory / f"{name}.acknowledged", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    settings = CoordinationSettings(lease=lease, request_timeout=lease / 4)
    async with open_coordination(address, mind, settings=settings) as coordination:
        say(standing=name)
        while True:
            async with coordination.leadership(name) as term:
                try:
                    fence = await patiently(partial(take_lead, term, stores, stores.perceptions))
                    say(leads=fence)
                    await write(stores, fence, name, acknowledged)
                except FencedOut as error:
                    say(refused=error.fence, current=error.current, sure=term.leads())
                except NotLeading:
                    say(late=term.token)


if __name__ == "__main__":
    _, address, mind, directory, name, lease = sys.argv
    asyncio.run(main(address, mind, Path(directory), name, float(lease)))
