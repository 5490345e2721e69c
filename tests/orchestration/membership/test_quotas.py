"""Quotas that several take from at once."""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from orchestration.membership.etcd.client import EtcdClient
from orchestration.membership.ports import Allowance
from tests.orchestration.membership.joining import Joining

ROOT = Path(__file__).resolve().parents[3]


async def test_racing_processes_never_get_more_than_there_is(etcd: str, mind: str, client: EtcdClient) -> None:
    count, seconds, capacity, per_second = 3, 2.0, 40.0, 30.0
    command = (sys.executable, "-m", "tests.orchestration.membership.taking", f"etcd://{etcd}", mind)
    takers = [
        await asyncio.create_subprocess_exec(
            *command, *map(str, (seconds, capacity, per_second)),
            stdin=PIPE, stdout=PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(count)
    ]  # fmt: skip
    try:
        async with asyncio.timeout(90):
            for taker in takers:
                assert taker.stdout is not None
                assert await taker.stdout.readline() == b"ready\n"
            outs = await asyncio.gather(*(taker.communicate(b"go\n") for taker in takers))
    finally:
        for taker in takers:
            if taker.returncode is None:
                taker.kill()
                await taker.wait()
    by_taker = [json.loads(out) for out, _ in outs]
    assert all(by_taker), "one of them got nothing at all"
    granted = [grant for grants in by_taker for grant in grants]
    for begin in {asked for asked, _, _ in granted}:
        for end in {answered for _, answered, _ in granted}:
            within = sum(amount for asked, answered, amount in granted if begin <= asked and answered <= end)
            assert within <= capacity + per_second * max(0.0, end - begin) + 1e-6
    total = sum(amount for _, _, amount in granted)
    assert total >= (capacity + per_second * seconds) * 0.7, "what was there was not given"


async def test_what_is_not_there_is_not_given(join: Joining) -> None:
    one, two = (await join()).quotas, (await join()).quotas
    allowance = Allowance(10, 2)
    assert (await one.take("tokens", 8, allowance, 100.0)).left == 2
    taken = await two.take("tokens", 8, allowance, 100.0)
    assert (taken.granted, taken.left, taken.retry_after) == (False, 2.0, 3.0)
    assert await two.left("tokens", allowance, 101.0) == 4
    assert (await two.take("tokens", 4, allowance, 101.0)).granted
    behind = await one.take("tokens", 1, allowance, 90.0)
    assert (behind.granted, behind.retry_after) == (False, 11.5), "a clock that is behind was given time twice"
    assert (await one.take("calls", 10, allowance, 90.0)).granted, "two quotas of different names met"
    assert (await one.take("tokens", 11, allowance, 1000.0)).retry_after == math.inf
    with pytest.raises(ValueError, match="no slash"):
        await one.take("a/b", 1, allowance, 1.0)


async def test_a_smaller_capacity_holds_at_once(join: Joining) -> None:
    quotas = (await join()).quotas
    assert (await quotas.take("tokens", 1, Allowance(100, 0), 1.0)).left == 99
    assert not (await quotas.take("tokens", 6, Allowance(5, 0), 1.0)).granted
    assert (await quotas.take("tokens", 5, Allowance(5, 0), 1.0)).left == 0
