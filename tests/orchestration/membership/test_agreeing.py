"""Leadership and configuration in a real etcd, several processes' worth of them."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

import pytest

from orchestration.membership.errors import (
    ConfigurationMoved,
    ConfigurationRefused,
    CoordinationUnavailable,
    NotLeading,
)
from orchestration.membership.etcd.client import EtcdClient
from orchestration.membership.keys import Keys
from orchestration.membership.settings import CoordinationSettings
from tests.orchestration.membership.joining import STEADY, Joining

T = TypeVar("T")
RENEWED = CoordinationSettings(lease=6, request_timeout=2)
"""Its holder gives signs of life within the test, and may stand still for some seconds."""


async def next_of(following: AsyncIterator[T], within: float = 60.0) -> T:
    return await asyncio.wait_for(anext(following), within)


@pytest.mark.parametrize("count", [2, 3])
async def test_candidates_lead_one_after_the_other_with_growing_tokens(join: Joining, count: int) -> None:
    coordinations = [await join() for _ in range(count)]
    terms: list[tuple[int, int]] = []
    leading = 0

    async def stand(number: int) -> None:
        nonlocal leading
        async with coordinations[number].leadership(f"host-{number}") as term:
            leading += 1
            assert leading == 1, "two lead at once"
            assert term.leads()
            assert term.token is not None
            leader = await coordinations[(number + 1) % count].leader()
            assert leader is not None
            assert (leader.candidate, leader.token) == (f"host-{number}", term.token)
            terms.append((number, term.token))
            await asyncio.sleep(0.1)
            leading -= 1
        assert term.lost.is_set()
        assert term.reason == "it resigned"

    await asyncio.wait_for(asyncio.gather(*(stand(number) for number in range(count))), 60)
    assert sorted(number for number, _ in terms) == list(range(count))
    assert [token for _, token in terms] == list(range(1, count + 1))
    assert await coordinations[0].leader() is None


async def test_a_candidate_whose_key_is_taken_away_stops(join: Joining, client: EtcdClient, mind: str) -> None:
    coordination = await join()
    async with coordination.leadership("host") as term:
        await client.put(Keys(mind).leader, b'{"candidate": "usurper", "token": 7, "since": 1.0}')
        await asyncio.wait_for(term.lost.wait(), 60)
        assert term.reason == "etcd names another leader"
        assert not term.leads()
        with pytest.raises(NotLeading):
            await term.advance(10)


async def test_a_token_rises_while_signs_of_life_are_given(join: Joining) -> None:
    """Whatever is read of the leader meanwhile, an older token or a newer one."""
    coordination = await join(RENEWED)
    async with coordination.leadership("host") as term:
        ends = asyncio.get_running_loop().time() + RENEWED.lease
        given = [1]
        while asyncio.get_running_loop().time() < ends:
            given.append(await term.advance(given[-1] + 3))
            assert term.leads(), term.reason
        assert given == sorted(set(given))
        assert term.token == given[-1]
        leader = await coordination.leader()
        assert leader is not None
        assert leader.token == given[-1]


async def test_settings_change_live_with_who_and_when(join: Joining) -> None:
    one, two = (await join()).configuration, (await join()).configuration
    watching = two.watch()
    assert (await next_of(watching)).version == 0
    first = await one.change({"attention.per_hour": "3", "environment.half_life.percept": "90m"}, by="ada", at=10.0)
    assert first.values == {"attention.per_hour": 3.0, "environment.half_life.percept": 5400.0}
    assert await next_of(watching) == first
    second = await two.change({"attention.per_hour": 4}, reset=["environment.half_life.percept"], by="bob", at=20.0)
    assert (second.version, second.by, second.at, second.values) == (2, "bob", 20.0, {"attention.per_hour": 4.0})
    assert second.changed == ("attention.per_hour", "environment.half_life.percept")
    assert await next_of(watching) == second
    assert await one.current() == second
    assert await one.history() == [second, first]
    assert await one.history(1) == [second]
    with pytest.raises(ConfigurationMoved):
        await one.change({"attention.per_hour": 5}, by="ada", at=30.0, base=1)
    assert (await one.change({"attention.per_hour": 5}, by="ada", at=30.0, base=2)).version == 3
    nothing = await one.change({"substrate.budget.tokens_per_day": None}, by="ada", at=40.0)
    assert nothing.values["substrate.budget.tokens_per_day"] is None


@pytest.mark.parametrize(
    ("values", "reset", "sentence"),
    [
        ({"attention.per_hour": -1}, (), "`attention.per_hour` is -1, but it should be greater than 0"),
        ({"environment.half_life.percept": "soon"}, (), "a duration is a number of seconds"),
        ({"mind.name": "other"}, (), "`mind.name` does not change while a mind runs"),
        ({"gateway.token_file": "x"}, (), "does not change while a mind runs"),
        ({"atention.per_hour": 3}, (), "did you mean `attention.per_hour`"),
        ({"attention": 3}, (), "`attention` does not change while a mind runs"),
        ({"attention.per_hour": 3}, ("attention.per_hour",), "both set and taken back"),
        ({}, ("mind.name",), "there is nothing to take back"),
        ({}, (), "nothing is to be changed"),
    ],
)
async def test_what_does_not_hold_is_refused_in_a_sentence(
    join: Joining, values: dict[str, object], reset: tuple[str, ...], sentence: str
) -> None:
    configuration = (await join()).configuration
    with pytest.raises(ConfigurationRefused, match=sentence.replace("(", r"\(")):
        await configuration.change(values, reset=reset, by="ada", at=1.0)
    assert (await configuration.current()).version == 0


async def test_changes_that_race_all_count(join: Joining) -> None:
    paths = [
        "attention.per_hour",
        "attention.break_in",
        "environment.floor",
        "thinking.act_above",
        "perception.speak_at",
    ]
    configurations = [(await join()).configuration for _ in paths]
    made = await asyncio.gather(
        *(one.change({path: 0.5}, by=path, at=1.0) for one, path in zip(configurations, paths, strict=True))
    )
    assert sorted(one.version for one in made) == [1, 2, 3, 4, 5]
    assert (await configurations[0].current()).values == dict.fromkeys(paths, 0.5)
    assert [one.version for one in await configurations[0].history()] == [5, 4, 3, 2, 1]


async def test_history_is_bounded(join: Joining) -> None:
    configuration = (await join(STEADY.model_copy(update={"history": 3}))).configuration
    for number in range(1, 7):
        await configuration.change({"attention.per_hour": number}, by="ada", at=float(number))
    assert [one.version for one in await configuration.history()] == [6, 5, 4]


async def test_what_is_unreadable_is_said(join: Joining, client: EtcdClient, mind: str) -> None:
    coordination = await join()
    await client.put(Keys(mind).configuration, b"no json")
    with pytest.raises(CoordinationUnavailable, match="not a live configuration"):
        await coordination.configuration.current()
