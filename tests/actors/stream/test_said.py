"""A thought is handed over that the stream holds, longer ago than it remembers."""

from actors.events import Broadcast, Conscious, Tick
from actors.settings import ShellSettings
from actors.shell import ActorShell
from actors.stream.core import StreamCore
from actors.stream.settings import StreamSettings
from tests.actors.making import DIM
from tests.actors.shells import Out
from tests.actors.stream.test_stream import candidate

REMEMBERED = 16


async def born(stores) -> ActorShell:
    head = await stores.stream.head()
    tail = await stores.stream.read(max(1, head - REMEMBERED + 1), REMEMBERED)
    core = StreamCore("stream", DIM, tail, StreamSettings(remembered=REMEMBERED, reorder=0.0))
    return ActorShell(core, stores, Out(), ShellSettings(), embedder=None)


async def hand_over(shell, *candidates, now):
    for each in candidates:
        shell.offer(Conscious(each), 1.0, now)
    shell._driver.sent.clear()
    await shell.step(now)
    return [(to, event) for to, event in shell._driver.sent if isinstance(event, Broadcast)]


async def test_who_hands_it_over_hears_that_it_was_said_and_the_stream_goes_on(stores):
    shell = await born(stores)
    said = [candidate(float(n)) for n in range(40)]
    for n, each in enumerate(said):
        await hand_over(shell, each, now=float(n))
    shell = await born(stores)
    fresh = candidate(50.0)
    told = await hand_over(shell, said[0], fresh, now=50.0)
    assert {(to, event.entry.seq) for to, event in told} == {("attention", 1), ("environment", 1)}
    assert await stores.stream.head() == 40, "nothing of that step was said"
    assert not shell.unfinished
    told = await hand_over(shell, said[0], fresh, now=51.0)
    assert {(event.entry.id, event.entry.seq) for _, event in told} == {(said[0].id, 1), (fresh.id, 41)}
    assert await shell.step(52.0) == 0
    shell.offer(Tick(), 1.0, 53.0)
    await shell.step(53.0)
    entries = await stores.stream.read(1, 100)
    assert [e.seq for e in entries] == list(range(1, 42))
