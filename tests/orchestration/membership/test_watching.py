"""Watches that break, fall behind and go on."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from orchestration.membership.etcd.client import EtcdClient, Kv
from orchestration.membership.etcd.watch import Compacted, mirror, watching
from tests.orchestration.membership.cable import Cable
from tests.orchestration.membership.joining import client_of


async def value(states: AsyncIterator[Mapping[str, Kv]], key: str, wanted: bytes | None) -> None:
    """Read on until ``key`` is ``wanted``."""
    async with asyncio.timeout(60):
        async for state in states:
            if (state[key].value if key in state else None) == wanted:
                return


async def compact(client: EtcdClient, key: str) -> None:
    """Forget every change up to now."""
    member = await client.member()
    for _ in range(3):
        await client.put(key, b"between")
    _, revision = await client.range(key)
    await member.compact(revision, physical=True)


async def test_changes_come_in_order_and_deletions_with_them(client: EtcdClient) -> None:
    key = f"{client.prefix}a/1"
    revision = await client.put(key, b"1")
    async with watching(client, f"{client.prefix}a/", revision) as watch:
        await client.put(key, b"2")
        await client.put(f"{client.prefix}b", b"not this one")
        await client.delete(key)
        seen: list[tuple[str, bytes | None]] = []
        async with asyncio.timeout(60):
            while len(seen) < 3:
                seen += [(name, kv and kv.value) for name, kv in await watch.next(5) or []]
        assert seen == [(key, b"1"), (key, b"2"), (key, None)]
        assert await watch.next(0.05) is None


async def test_what_was_compacted_away_is_said(client: EtcdClient) -> None:
    key = f"{client.prefix}a"
    revision = await client.put(key, b"1")
    await compact(client, key)
    async with watching(client, key, revision) as watch:
        with pytest.raises(Compacted):
            await watch.next(60)


async def test_a_mirror_goes_on_after_a_break_and_a_compaction(client: EtcdClient, etcd: str, mind: str) -> None:
    key = f"{client.prefix}a"
    await client.put(key, b"1")
    async with Cable(etcd) as cable:
        far = client_of(cable.endpoint, mind)
        states = mirror(far, client.prefix, 30.0, 0.1)
        try:
            await value(states, key, b"1")
            await client.put(key, b"2")
            await value(states, key, b"2")
            cable.pull()
            await client.put(f"{key}2", b"new")
            await compact(client, key)
            await client.delete(key)
            cable.plug()
            await value(states, key, None)
            await client.put(key, b"3")
            await value(states, key, b"3")
            assert cable.connections > 1
        finally:
            await states.aclose()  # type: ignore[attr-defined]  # a generator, though only its iteration is promised
            await far.close()


async def test_a_silent_watch_is_opened_anew(client: EtcdClient) -> None:
    states = mirror(client, client.prefix, 0.05, 0.01)
    async with asyncio.timeout(60):
        for _ in range(3):
            await anext(states)
    await states.aclose()  # type: ignore[attr-defined]  # as above
