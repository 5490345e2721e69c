"""What every registry promises: connections, states, reports. See ``contract.py``."""

import asyncio
from dataclasses import replace

import pytest

from environment.errors import (
    FencedOut,
)
from environment.ports import (
    WriteConnections,
    WriteRemoved,
    WriteReport,
    WriteState,
    WriteTrace,
)
from tests.environment.stores.making import NOON, change, connection, report, trace


class RegistryPromises:
    """What every registry promises: connections, states, reports."""

    async def test_connections_are_kept_changed_and_removed(self, stores):
        strong, weak = connection(peer="a", weight=0.9, ltp=True), connection(peer="b", weight=0.1)
        foreign = connection(owner="people", peer="a", weight=0.5)
        await stores.commit([WriteConnections("causes", (weak, strong), (), (change(1), change(2)))])
        await stores.commit([WriteConnections("people", (foreign,), (), (change(3, "people"),))])
        assert await stores.registry.connections("causes") == [strong, weak]
        assert await stores.registry.connections() == [strong, foreign, weak]
        raised = replace(weak, weight=0.95, uses=5, history=())
        await stores.commit([WriteConnections("causes", (raised,), (("k1", "a"), ("k1", "nobody")), ())])
        assert await stores.registry.connections("causes") == [raised]
        assert await stores.registry.history() == [change(3, "people"), change(2), change(1)]
        assert await stores.registry.history("causes", limit=1) == [change(2)]
        assert await stores.registry.forget(NOON + 2) == 1
        assert await stores.registry.history() == [change(3, "people"), change(2)]

    async def test_the_history_is_read_in_pages_while_it_grows(self, stores):
        made = [replace(change(n // 4, "causes" if n % 3 else "people"), reason=f"{n}") for n in range(24)]
        for start in range(0, 24, 6):  # several at one time, in one commit and across commits
            for owner in ("causes", "people"):
                mine = tuple(c for c in made[start : start + 6] if c.owner == owner)
                await stores.commit([WriteConnections(owner, (), (), mine)])
        whole = await stores.registry.history()
        assert sorted(int(c.reason) for c in whole) == list(range(24))
        assert [c.at for c in whole] == sorted((c.at for c in made), reverse=True)
        assert await stores.registry.history("causes") == [c for c in made[::-1] if c.owner == "causes"]
        paged = await stores.registry.history(limit=5)
        await stores.commit([WriteConnections("causes", (), (), (change(9), change(10)))])
        while page := await stores.registry.history(limit=5, before=paged[-1].mark):
            paged += page
        assert paged == whole
        assert len({c.mark for c in paged}) == 24
        assert await stores.registry.history("people", since=NOON + 3) == [
            c for c in whole if c.owner == "people" and c.at >= NOON + 3
        ]
        later = await stores.registry.history(since=NOON + 4, before=whole[2].mark)
        assert later == [c for c in whole[3:] if c.at >= NOON + 4]
        for wrong in ("soon", "[1,2]", "-1", "9" * 40):
            with pytest.raises(ValueError, match="not a mark"):
                await stores.registry.history(before=wrong)

    async def test_states_and_reports_replace_the_ones_before(self, stores):
        assert await stores.registry.state("causes") is None
        await stores.commit([WriteState("causes", b"\0one"), WriteReport(report()), WriteReport(report("alpha"))])
        await stores.commit([WriteState("causes", b"two"), WriteReport(report(mailbox=9, reason="busy"))])
        assert await stores.registry.state("causes") == b"two"
        assert await stores.registry.reports() == [report("alpha"), report(mailbox=9, reason="busy")]

    async def test_changes_are_followed_in_the_order_in_which_they_were_written(self, stores):
        assert (await stores.registry.last_written(), await stores.registry.written("", 9)) == ("", [])
        order = [5, 1, 9, 2, 9, 0, 7]  # whatever their mind times
        for place, second in enumerate(order):
            made = replace(change(second, "ab"[place % 2]), reason=f"{place}")
            await stores.commit([WriteConnections(made.owner, (), (), (made,))])
        last, found, after = await stores.registry.last_written(), [], ""
        async with asyncio.timeout(60):
            while len(found) < len(order):  # it may take a moment until it is known that nothing comes before
                page = await stores.registry.written(after, 3)
                assert len(page) <= 3
                found += page
                after = page[-1].mark if page else after
        assert [int(c.reason) for c in found] == list(range(len(order)))
        assert after == last
        for place, one in enumerate(found):
            assert await stores.registry.written(one.mark, 99) == found[place + 1 :]
        for wrong in ("soon", "[1,2]", "-1", "9" * 40):
            with pytest.raises(ValueError, match="not a mark"):
                await stores.registry.written(wrong, 1)

    async def test_reports_and_owners_are_read_page_by_page(self, stores):
        names = sorted(["Zoë", "zebra", "a", "ab", "b-10", "b-9", "\U0001f331", "\uffee"], key=str.encode)
        await stores.commit([WriteReport(report(name)) for name in names])
        await stores.commit([WriteConnections(n, (connection(owner=n),), (), ()) for n in names])
        for read, name_of in ((stores.registry.reports, lambda r: r.name), (stores.registry.owners, str)):
            assert [name_of(one) for one in await read()] == names
            found, after = [], ""
            while page := await read(after, 3):
                assert len(page) <= 3
                found += [name_of(one) for one in page]
                after = found[-1]
            assert found == names
            assert [name_of(one) for one in await read("b", 2)] == ["b-10", "b-9"]

    async def test_what_an_actor_left_is_removed_and_what_it_thought_stays(self, stores):
        fence = await stores.lead()
        writes = [WriteReport(report("causes-1")), WriteState("causes-1", b"mine"), WriteState("~of causes-1", b"too")]
        await stores.commit([*writes, WriteReport(report("alpha")), WriteState("alpha", b"kept")], fence)
        thought = replace(trace(1).thought, author="causes-1")
        await stores.commit([WriteTrace(replace(trace(1), thought=thought))], fence)
        for _ in range(2):
            await stores.commit([WriteRemoved(("causes-1", "nobody"), ("~of causes-1",))], fence)
            assert await stores.registry.reports() == [report("alpha")]
            assert [await stores.registry.state(name) for name in ("causes-1", "~of causes-1", "alpha")] == [
                *(None, None, b"kept")
            ]
            assert (await stores.traces.get([trace(1).id]))[trace(1).id].thought.author == "causes-1"
        await stores.commit([WriteReport(report("causes-1")), WriteRemoved(("causes-1",)), WriteState("x", b"")], fence)
        assert await stores.registry.reports() == [report("alpha")]
        await stores.lead()
        with pytest.raises(FencedOut):
            await stores.commit([WriteRemoved(("alpha",))], fence)
        assert await stores.registry.reports() == [report("alpha")]
