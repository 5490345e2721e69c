"""Load that goes on through everything, and what must have come of it."""

import asyncio
import contextlib
import time

from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.client import ClientError, MindClient


class Teller:
    """Perceives batch after batch; remembers what was acknowledged, by key. ``async with`` it, or begin and end it.

    ``words``: the text of a number; by default its key.
    """

    def __init__(self, mind, prefix="k", pause=0.05, batch=8, words=None):
        self._mind, self._prefix, self._pause, self._size = mind, prefix, pause, batch
        self._words = words or (lambda number: f"{prefix}{number}")
        self.acknowledged = {}

    async def __aenter__(self):
        return self.begin()

    async def __aexit__(self, *_):
        await self.end()

    def begin(self):
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._run())
        return self

    async def end(self):
        self._stop.set()
        await self._task

    async def until(self, count):
        """Wait until so many were acknowledged."""
        async with asyncio.timeout(120):
            while len(self.acknowledged) < count:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)

    def _batch(self, number):
        now, numbers = time.time(), range(number, number + self._size)
        return [
            NewPerception(f"teller-{n % 7}", now, now, text=self._words(n), key=f"{self._prefix}{n}") for n in numbers
        ]

    async def _run(self):
        number = len(self.acknowledged)
        batch = self._batch(number)
        while not self._stop.is_set():
            try:
                async with MindClient(self._mind.grpc, timeout=5.0, retry_for=2.0) as client:
                    while not self._stop.is_set():
                        receipts = await client.perceive(batch)
                        self.acknowledged |= {one.key: receipt for one, receipt in zip(batch, receipts, strict=True)}
                        number += len(batch)
                        batch = self._batch(number)
                        await asyncio.sleep(self._pause)
            except (ClientError, OSError, ValueError, KeyError):
                await asyncio.sleep(0.1)  # the same batch again: its keys make that safe


async def heard(mind, tellers, seconds=240.0):
    """Wait until all that was acknowledged has become traces; nothing of it is lost, doubled, or out of order."""
    wanted = {f"t-{r.id.removeprefix('p-')}" for teller in tellers for r in teller.acknowledged.values()}
    keys = {key for teller in tellers for key in teller.acknowledged}
    stores = await open_stores(mind.data_dir, "mind")
    try:
        async with contextlib.AsyncExitStack():
            until = time.monotonic() + seconds
            while missing := wanted - (await stores.traces.get(sorted(wanted))).keys():
                assert time.monotonic() < until, f"{len(missing)} of {len(wanted)} never became traces"
                await asyncio.sleep(0.3)
        perceived = await stores.perceptions.read(0, 10_000_000)
        assert [p.seq for p in perceived] == list(range(1, len(perceived) + 1))
        assert len({p.key for p in perceived}) == len(perceived)
        assert keys <= {p.key for p in perceived}
        entries = await stores.stream.read(1, 10_000_000)
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        assert len({entry.id for entry in entries}) == len(entries)
        traces = await stores.traces.get(sorted(wanted))
        assert {trace.version for trace in traces.values()} == {1}
        return len(perceived), len(entries)
    finally:
        await stores.close()
