"""Who was born, what was decided, what was put to work: three collections."""

import pytest

from environment.configuration import Configuration, read_configurations, write_configuration
from environment.errors import StaleRevision
from environment.population import GrowthKind, growth_head, read_growth, read_members, write_growth, write_member
from environment.ports import WriteState
from tests.environment.stores.making import NOON, grown, member


async def test_the_log_of_growth_is_read_on_and_the_first_to_write_a_number_decides(stores):
    read = stores.collections
    assert (await growth_head(read), await read_growth(read, 0, 10)) == (0, [])
    events = [grown(1), grown(2, kind=GrowthKind.FROZEN, by="ann"), *(grown(n) for n in range(3, 13))]
    for event in events:
        await stores.commit([write_growth(event)])
    await stores.commit([write_growth(events[1])])  # the very same
    for late in (grown(2), grown(12, reason="another")):
        with pytest.raises(StaleRevision):
            await stores.commit([WriteState("causes-1", b"late"), write_member(member(9)), write_growth(late)])
    assert await read_growth(read, 0, 100) == events
    assert await read_growth(read, 8, 3) == events[8:11]
    assert (await read_growth(read, 12, 10), await growth_head(read)) == ([], 12)
    assert (await stores.registry.state("causes-1"), await read_members(read)) == (None, [])


async def test_members_come_in_the_order_of_their_births_as_they_are_now(stores):
    made = [member(n) for n in (1, 2, 10)]
    await stores.commit([write_member(each) for each in made[::-1]])
    gone = member(1, retired=NOON + 99, heir="causes")
    await stores.commit([write_member(gone)])
    found = await read_members(stores.collections)
    assert found == [gone, *made[1:]]
    assert [each.living for each in found] == [False, True, True]


async def test_configurations_stay_as_they_were_put_to_work_and_the_newest_comes_first(stores):
    assert await read_configurations(stores.collections) == []
    made = [Configuration(version, NOON + version, "ann", '{"floor": 0.05}') for version in (1, 2, 3, 250)]
    await stores.commit([write_configuration(each) for each in made])
    with pytest.raises(StaleRevision):
        await stores.commit([write_configuration(Configuration(2, NOON, "bob", "{}"))])
    assert await read_configurations(stores.collections) == made[::-1]
    assert await read_configurations(stores.collections, limit=2) == [made[3], made[2]]
