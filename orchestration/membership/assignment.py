"""Which node should have which shard: fair, the same wherever it is computed, and moving no more than needed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping


def assign(count: int, nodes: Collection[str], owners: Mapping[int, str]) -> dict[int, str]:
    """The node for each of the shards 0..``count`` - 1, given who owns which now; empty without nodes.

    No node has more than one shard more than another. A shard stays where it is unless its node is gone or has more
    than its part; one that moves goes to the node with the fewest, and among those to the one that its number and the
    node's name choose (rendezvous hashing, Thaler & Ravishankar 1998), so that not all go the same way.
    """
    if not nodes:
        return {}
    held: dict[str, list[int]] = {node: [] for node in sorted(nodes)}
    for shard in range(count):
        if owners.get(shard) in held:
            held[owners[shard]].append(shard)
    least, more = divmod(count, len(held))
    richest = sorted(held, key=lambda node: (-len(held[node]), node))
    part = {node: least + (place < more) for place, node in enumerate(richest)}
    kept = {
        node: sorted(shards, key=lambda shard: -_weight(shard, node))[: part[node]] for node, shards in held.items()
    }
    wanted = {shard: node for node, shards in kept.items() for shard in shards}
    load = {node: len(shards) for node, shards in kept.items()}
    for shard in range(count):
        if shard not in wanted:
            room = [node for node in load if load[node] < part[node]]
            fewest = min(load[node] for node in room)
            node = max((node for node in room if load[node] == fewest), key=lambda node: _weight(shard, node))
            wanted[shard] = node
            load[node] += 1
    return wanted


def _dearest(node: str, shards: list[int], most: int) -> list[int]:
    return sorted(shards, key=lambda shard: -_weight(shard, node))[:most]


def _weight(shard: int, node: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{shard}/{node}".encode(), digest_size=8).digest())
