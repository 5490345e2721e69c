"""A mind that has everything a mind can have, and stores that give out in the middle."""

from contextlib import asynccontextmanager
from dataclasses import replace

from environment.collections import Document, RemoveDocument, WriteDocument
from environment.configuration import Configuration, write_configuration
from environment.errors import StoreUnavailable
from environment.messages import Image, Level
from environment.population import write_growth, write_member
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState, WriteTrace
from environment.stores.forwarding import ForwardingStores
from environment.stores.sqlite import open_stores
from tests.environment.stores.making import (
    NOON,
    change,
    connection,
    document,
    entry,
    grown,
    member,
    name,
    perception,
    report,
    revision,
    trace,
    vector,
)


@asynccontextmanager
async def opening(directory, **always):
    """Opens stores below a directory by name, without waiting for the disk, and closes them all at the end."""
    found = []

    async def open_at(place, mind="alpha", **options):
        stores = await open_stores(directory / place, mind, synchronous="OFF", **always, **options)
        found.append(stores)
        return stores

    yield open_at
    for stores in found:
        await stores.close()


async def furnish(stores, traces=20, *, middle=True):
    """Perceptions with keys, pictures and gaps; traces with revisions, sunk and conscious; all the rest.

    ``middle``: some are forgotten from the middle as well, which not every log can do.
    """
    log = stores.perceptions
    await log.append([perception(n, key=f"old-{n}") for n in range(5)])
    await log.append([perception(100 + n, key=f"k-{n}", labels={"level": "warn"}, trust=0.7) for n in range(40)])
    await log.append([perception(200, key="k-0", source="feed"), perception(201, telemetry={"load": 1.5})])
    await log.append([perception(50 + n) for n in range(3)])
    await log.append([perception(300, image=Image(b"\x89PNG\0\xff" * 5000, "image/png"), key="a picture")])
    gone = await log.forget(NOON + 90, 1000)
    assert gone == 8 if middle else gone >= 5  # the first, and some in the middle
    made = [trace(n) for n in range(traces)]
    await stores.commit([WriteTrace(each) for each in made])
    newer = [revision(each, "causes", f"more of {each.id}") for each in made[::3]]
    newer += [revision(each, "people", f"still more of {each.id}") for each in newer[::2]]
    await stores.commit([WriteTrace(each) for each in newer])
    levels = [WriteLevel(each.id, Level(0.9, NOON + 500, 60.0), False, None) for each in made[1::3]]
    await stores.commit([*levels, WriteLevel(made[2].id, Level(0.7, NOON + 400, 60.0), True, 2)])
    spoken = [replace(entry(n), vector=vector(n) if n % 2 else None) for n in range(1, 8)]
    await stores.commit([WriteEntries(tuple(spoken))])
    for number, owner in enumerate(("causes", "people", "causes")):
        kept = (connection(owner, f"k{number}"), connection(owner, f"k{number}", "causes", ltp=True, weight=0.8))
        changes = tuple(change(number * 10 + at, owner) for at in range(4))
        await stores.commit([WriteConnections(owner, kept, (), changes)])
    await stores.commit([WriteState("causes", b"\0\xff state"), WriteState("attention", b"x" * 100_000)])
    await stores.commit([WriteReport(report("causes")), WriteReport(report("people"))])
    configured = [Configuration(n, NOON + n, "somebody", f'{{"attention": {{"per_hour": {n}}}}}') for n in (1, 2, 3)]
    await stores.commit([write_configuration(each) for each in configured])
    for n in (1, 2, 3):
        await stores.commit([write_growth(grown(n)), write_member(member(n))])
    await stores.commit([write_growth(grown(4)), write_member(member(2, retired=NOON + 9, heir="causes"))])
    noted = [document(n, expires=NOON * 2 if n % 2 else None, vector=vector(n)) for n in range(5)]
    await stores.commit([WriteDocument(each) for each in noted])
    await stores.commit([WriteDocument(replace(noted[1], body=b"second")), RemoveDocument("notes", "4")])
    await stores.commit([WriteDocument(document(1, vector=vector(1))), WriteDocument(document(1, collection="more"))])
    await stores.commit([WriteDocument(Document(".aside", "of this place", b""))])
    return [name("t", n) for n in range(traces)]


class GivingOut(ForwardingStores):
    """Stores of which the ``nth`` write, and every one after it, fails, before or (``after``) after it was made."""

    def __init__(self, stores, nth, *, after=False):
        super().__init__(stores)
        self._left = nth
        self._after = after
        self.perceptions = _Part(stores.perceptions, self._guard)
        self.moving = _Part(stores.moving, self._guard)

    async def _guard(self, write):
        self._left -= 1
        if self._left < 0 or (self._left == 0 and not self._after):
            raise StoreUnavailable("it gave out")
        answer = await write()
        if self._left == 0:
            raise StoreUnavailable("it gave out")
        return answer

    async def commit(self, writes, fence=0):
        await self._guard(lambda: self._stores.commit(writes, fence))


class _Part:
    def __init__(self, part, guard):
        self._part = part
        self._guard = guard

    def __getattr__(self, called):
        method = getattr(self._part, called)
        if called not in {"append", "skip"}:
            return method
        return lambda *given: self._guard(lambda: method(*given))
