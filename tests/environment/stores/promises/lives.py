"""What stores promise of the lives of one writer: at most one writes. See ``contract.py``."""

import asyncio
import math
import random
from contextlib import suppress

import pytest

from environment.errors import FencedOut, Outlived, StoreUnavailable
from environment.messages import Level
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState, WriteTrace
from tests.environment.stores.making import NOON, change, connection, entry, live_ids, report, trace

OWN = (
    [WriteState("x", b"late")],
    [WriteReport(report("causes", reason="late"))],
    [WriteConnections("causes", (connection(),), (), (change(),))],
)
NUMBERED = (
    [WriteTrace(trace(9))],
    [WriteLevel(trace(1).id, Level(0.01, NOON, 60.0), live=False, conscious=None)],
    [WriteEntries((entry(2),))],
    [WriteTrace(trace(9)), WriteEntries((entry(2),)), WriteState("x", b"late")],
)


class Life:
    """One life of a writer that goes on from what is there, and does not know that others live."""

    def __init__(self, stores, epoch, number, chance):
        self.stores, self.epoch, self.number, self.chance = stores, epoch, number, chance
        self.acknowledged, self.said = [], {}
        self.ended = False

    async def live(self, steps):
        """Claim, read, write; until it is refused, or for so many steps."""
        with suppress(Outlived):
            await self.patiently(lambda: self.stores.claim(self.epoch, self.number, numbers=True))
            before = (await self.stores.registry.state("x") or b"").decode().split()
            head = await self.stores.stream.head()
            for step in range(steps):
                word, spoken = f"{self.number}.{step}", entry(head + 1, id=f"c-{self.number}-{step}")
                await asyncio.sleep(self.chance.choice((0.0, 0.0, 0.001, 0.01)))
                state = WriteState("x", " ".join([*before, *self.acknowledged, word]).encode())
                await self.patiently(lambda state=state: self.stores.commit([state], self.epoch))
                self.acknowledged.append(word)
                trace_id = trace(1000 * self.number + step)
                both = [WriteTrace(trace_id), WriteEntries((spoken,))]
                await self.patiently(lambda both=both: self.stores.commit(both, self.epoch))
                head += 1
                self.said[head] = spoken.id
            return
        self.ended = True

    async def patiently(self, act):
        """The same again while nobody knows what became of it, as shells do."""
        while True:
            try:
                return await act()
            except StoreUnavailable:
                await asyncio.sleep(0)


async def one_history(stores, lives, chance, steps=8):
    """Lives begin one after the other, at any moment of those before and in any order; what must have come of it."""
    last = max(lives, key=lambda life: life.number)

    async def begin(life):
        await asyncio.sleep(chance.uniform(0.0, 0.1))
        await life.live(steps if life is last else 10_000)

    async with asyncio.timeout(120):
        await asyncio.gather(*(begin(life) for life in lives))
    assert [life.number for life in lives if not life.ended] == [last.number]
    assert len(last.said) == steps
    state = (await stores.registry.state("x")).decode().split()
    acknowledged = [word for life in sorted(lives, key=lambda one: one.number) for word in life.acknowledged]
    assert len(state) == len(set(state))
    assert [word for word in state if word in acknowledged] == acknowledged
    said = {seq: spoken for life in lives for seq, spoken in life.said.items()}
    assert sum(len(life.said) for life in lives) == len(said)
    stream = await stores.stream.read(1, 100_000)
    assert [each.seq for each in stream] == list(range(1, len(stream) + 1))
    assert {seq: stream[seq - 1].id for seq in said} == said
    assert len(stream) - len(said) < len(lives)  # what was decided on and never answered: one for each that was refused


class LifePromises:
    """What stores promise of the lives of one writer."""

    @pytest.fixture
    async def lives(self, backend):
        """Opens the stores for one more life of a writer; all are closed at the end."""
        opened = []

        async def another(writer="environment"):
            opened.append(await backend.open("alpha", writer=writer))
            return opened[-1]

        yield another
        for each in opened:
            await each.close()

    async def test_once_a_later_life_has_begun_an_earlier_one_writes_nothing(self, stores, lives):
        epoch = await stores.lead()
        first, second = await lives(), await lives()
        await first.claim(epoch, 1, numbers=True)
        await first.commit([WriteTrace(trace(1)), WriteEntries((entry(1),)), WriteState("x", b"first")], epoch)
        await first.commit([WriteState("x", b"first")], epoch)
        await second.claim(epoch, 2, numbers=True)
        assert await second.registry.state("x") == b"first"
        assert await live_ids(second) == [trace(1).id]
        for late in (*OWN, *NUMBERED):
            with pytest.raises(Outlived) as refused:
                await first.commit(late, epoch)
            assert (refused.value.writer, refused.value.fence, refused.value.current) == ("environment", 1, 2)
        assert await stores.registry.state("x") == b"first"
        assert await stores.registry.reports() == []
        assert await stores.registry.connections() == await stores.registry.history() == []
        assert await stores.stream.read(1, 10) == [entry(1)]
        assert await live_ids(stores) == [trace(1).id]
        for late in (*NUMBERED, *OWN):
            await second.commit(late, epoch)
        assert await stores.registry.state("x") == b"late"
        assert await stores.stream.read(1, 10) == [entry(1), entry(2)]
        assert await live_ids(stores) == [trace(9).id]

    async def test_a_life_that_claims_late_is_refused_and_disturbs_nobody(self, stores, lives):
        epoch = await stores.lead()
        first, second = await lives(), await lives()
        await second.claim(epoch, 7)
        for _ in range(2):
            with pytest.raises(Outlived) as refused:
                await first.claim(epoch, 6)
            assert (refused.value.fence, refused.value.current) == (6, 7)
        with pytest.raises(Outlived):
            await first.commit([WriteState("x", b"late")], epoch)
        await second.claim(epoch, 7)
        await second.commit([WriteState("x", b"its own")], epoch)
        await second.claim(epoch, 8)
        await second.commit([WriteState("x", b"its next")], epoch)
        assert await stores.registry.state("x") == b"its next"

    async def test_lives_of_different_writers_do_not_meet(self, stores, lives):
        epoch = await stores.lead()
        environment, stream, text = await lives(), await lives("stream"), await lives("text")
        await environment.claim(epoch, 1, numbers=True)
        await stream.claim(epoch, 2, numbers=True)
        await text.claim(epoch, 3)
        await environment.commit([WriteTrace(trace(1))], epoch)
        await stream.commit([WriteEntries((entry(1),))], epoch)
        await environment.commit([WriteTrace(trace(2)), WriteEntries((entry(2),))], epoch)
        await text.commit([WriteState("x", b"text")], epoch)
        again = await lives("stream")
        await again.claim(epoch, 4, numbers=True)
        with pytest.raises(Outlived):
            await stream.commit([WriteEntries((entry(3),))], epoch)
        await environment.commit([WriteTrace(trace(3))], epoch)
        await again.commit([WriteEntries((entry(3),))], epoch)
        await text.commit([WriteState("x", b"still")], epoch)
        assert await stores.stream.head() == 3

    async def test_with_a_new_leader_lives_are_counted_anew(self, stores, lives):
        epoch = await stores.lead()
        first, second = await lives(), await lives()
        await first.claim(epoch, 41, numbers=True)
        await first.commit([WriteTrace(trace(1)), WriteState("x", b"before")], epoch)
        newer = await stores.lead()
        for late in (lambda: first.claim(epoch, 42), lambda: first.commit([WriteTrace(trace(2))], epoch)):
            with pytest.raises(FencedOut) as refused:
                await late()
            assert type(refused.value) is FencedOut
            assert (refused.value.fence, refused.value.current) == (epoch, newer)
        await second.claim(newer, 1, numbers=True)
        await second.commit([WriteTrace(trace(2))], newer)
        await second.commit([WriteState("x", b"after")], newer)
        assert await stores.registry.state("x") == b"after"
        with pytest.raises(FencedOut):
            await first.commit([WriteState("x", b"late")], epoch)

    async def test_who_claims_nothing_is_held_to_the_epoch_alone_and_keeps_what_was_claimed(self, stores, lives):
        """The host forgets, tools write, the mind process says how actors are: beside them a claim holds."""
        epoch = await stores.lead()
        first, second, other = await lives(), await lives(), await lives()
        await first.claim(epoch, 1, numbers=True)
        await second.claim(epoch, 2, numbers=True)
        await second.commit([WriteTrace(trace(1)), WriteTrace(trace(2))], epoch)
        await second.commit([WriteLevel(trace(2).id, Level(0.01, NOON, 60.0), live=False, conscious=None)], epoch)
        assert await stores.traces.forget(math.inf) == 1
        await other.commit([WriteTrace(trace(3)), WriteEntries((entry(1),))])
        await other.commit([WriteState("x", b"other")], epoch)
        for late in ([WriteTrace(trace(4))], [WriteEntries((entry(2),))], [WriteState("x", b"late")]):
            with pytest.raises(Outlived):
                await first.commit(late, epoch)
        await second.commit([WriteTrace(trace(4)), WriteEntries((entry(2),))], epoch)
        assert sorted(await live_ids(stores)) == sorted(trace(n).id for n in (1, 3, 4))

    @pytest.mark.parametrize("seed", range(4))
    async def test_however_lives_overlap_there_is_one_history(self, stores, lives, seed):
        chance, epoch = random.Random(seed), await stores.lead()
        await one_history(stores, [Life(await lives(), epoch, n, chance) for n in (2, 3, 5)], chance)
