"""Several processes that write to one mind, killed at any moment."""

import asyncio
import random
import secrets

from hypothesis import given, settings
from hypothesis import strategies as st

from environment.errors import StoreUnavailable
from environment.messages import Level
from environment.ports import WriteEntries, WriteLevel, WriteTrace
from environment.stores.cassandra.stores import open_stores
from tests.environment.stores.cassandra.openings import SMALL, dies_before_its_rows, opened
from tests.environment.stores.making import NOON, entry, live_ids, trace

__all__ = ["opened"]


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_any_mixture_of_openings_and_deaths_keeps_one_history(data, shared_keyspace):
    """Openings take turns on the lanes, some die between a decision and its rows: nothing is lost, doubled or torn."""

    async def live():
        place, mind = f"{shared_keyspace}?dc={shared_keyspace.dc}", secrets.token_hex(6)
        openings = [await open_stores(place, mind, settings=SMALL, rng=random.Random(n)) for n in range(2)]
        seq, levels = 0, {}
        try:
            for _ in range(data.draw(st.integers(3, 10))):
                stores = openings[data.draw(st.integers(0, 1))]
                number, dies = data.draw(st.integers(1, 4)), data.draw(st.booleans())
                value = data.draw(st.sampled_from([0.25, 0.5, 0.75]))
                alive = data.draw(st.booleans())
                writes = [
                    WriteTrace(trace(number)),
                    WriteLevel(trace(number).id, Level(value, NOON, 60.0), live=alive, conscious=None),
                    WriteEntries((entry(seq + 1),)),
                ]
                whole = stores._writer.logs.__class__
                if dies:
                    dies_before_its_rows(stores)
                try:
                    await stores.commit(writes)
                except StoreUnavailable:
                    assert dies
                    stores._writer.logs.__class__ = whole
                    await openings[data.draw(st.integers(0, 1))].commit(writes)
                seq += 1
                levels[trace(number).id] = (value, alive)
            last = await open_stores(place, mind)
            openings.append(last)
            stream = await last.stream.read(1, 100)
            assert [each.id for each in stream] == [entry(n + 1).id for n in range(seq)]
            found = await last.traces.get(list(levels))
            assert {i: (t.level.value, t.live) for i, t in found.items()} == levels
            assert set(await live_ids(last)) == {i for i, (_, alive) in levels.items() if alive}
            figures = await last.statistics()
            assert figures["traces_live_rows"] == sum(alive for _, alive in levels.values())
        finally:
            for each in openings:
                await each.close()

    asyncio.run(live())
