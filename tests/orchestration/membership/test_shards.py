"""Shards that move as nodes come and go."""

from __future__ import annotations

from collections import Counter
from contextlib import AsyncExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.membership.assignment import assign
from orchestration.membership.ports import ShardHold
from tests.orchestration.membership.joining import Joining
from tests.orchestration.until import until

nodes = st.sets(st.sampled_from([f"node-{number}" for number in range(8)]), min_size=1)


@given(st.integers(0, 60), nodes, st.dictionaries(st.integers(0, 70), st.sampled_from(["node-1", "node-4", "gone"])))
def test_every_shard_has_a_node_and_no_node_has_more_than_its_part(
    count: int, present: set[str], owners: dict[int, str]
) -> None:
    wanted = assign(count, present, owners)
    assert sorted(wanted) == list(range(count))
    load = Counter(wanted.values())
    assert set(load) <= present
    loads = [load[node] for node in present]
    assert max(loads) - min(loads) <= 1
    assert assign(count, present, wanted) == wanted, "what is as it should be moves"
    held = Counter(node for shard, node in owners.items() if shard < count)
    for shard, node in owners.items():
        if shard < count and node in present and held[node] <= count // len(present):
            assert wanted[shard] == node, "it moved though its node has not more than its part"


@given(st.integers(1, 60), nodes)
def test_a_node_that_comes_takes_its_part_and_nothing_else_moves(count: int, present: set[str]) -> None:
    before = assign(count, present, {})
    after = assign(count, {*present, "new"}, before)
    moved = {shard for shard in before if before[shard] != after[shard]}
    assert {after[shard] for shard in moved} <= {"new"}
    assert len(moved) <= -(-count // (len(present) + 1))


def test_without_nodes_nobody_has_anything() -> None:
    assert assign(3, [], {0: "gone"}) == {}


async def test_shards_are_shared_out_and_each_has_one_owner(join: Joining) -> None:
    coordinations = [await join() for _ in range(3)]
    count = 8
    seen: dict[int, int] = {}

    def check(holds: list[ShardHold]) -> bool:
        """At no moment is a shard two nodes'; in the end all are somebody's, and fairly."""
        mine = [hold.mine() for hold in holds]
        owned = [shard for one in mine for shard in one]
        assert len(owned) == len(set(owned)), "a shard has two owners"
        for one in mine:
            for shard, token in one.items():
                assert token >= seen.get(shard, 0), "a later owner has a smaller token"
                seen[shard] = token
        return len(owned) == count and max(map(len, mine)) - min(map(len, mine)) <= 1

    async with AsyncExitStack() as stack:
        holds: list[ShardHold] = []
        for number in range(2):
            holds.append(await stack.enter_async_context(coordinations[number].shards.hold(f"node-{number}", count)))
            await until(lambda: check(holds))
        owners = await coordinations[2].shards.owners()
        assert Counter(owner.node for owner in owners.values()) == {"node-0": 4, "node-1": 4}
        assert {shard: owner.token for shard, owner in owners.items()} == {**holds[0].mine(), **holds[1].mine()}
        async with coordinations[2].shards.hold("node-2", count) as third:
            await until(lambda: check([*holds, third]))
            kept = [set(hold.mine()) for hold in holds]
        assert third.mine() == {}
        await until(lambda: check(holds))
        assert all(before <= set(hold.mine()) for before, hold in zip(kept, holds, strict=True))
        changes = holds[1].changes()
        await anext(changes)
        await coordinations[0].close()  # its process ends: its lease goes, and its shards are taken over
        await until(lambda: len(holds[1].mine()) == count)
        assert all(seen[shard] <= token for shard, token in holds[1].mine().items())
        assert len(await anext(changes)) >= count / 2


async def test_a_hold_that_cannot_be_is_refused(join: Joining) -> None:
    coordination = await join()
    for node, count in (("a/b", 1), ("", 1), ("a", 0)):
        with pytest.raises(ValueError, match="at least one shard"):
            async with coordination.shards.hold(node, count):
                pass
