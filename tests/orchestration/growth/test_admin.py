"""Operators: what they read and order over gRPC, HTTP and the command line, and what that does to what is proposed."""

import asyncio

import pytest
import structlog

from environment.errors import StoreUnavailable
from environment.population import GrowthKind, growth_head, read_growth, read_members
from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.client import ClientError
from orchestration.client.errors import Rejected
from orchestration.growth.admin import GrowthAdmin
from orchestration.growth.history import HOUR
from orchestration.growth.log import GrowthLog
from orchestration.growth.proposals import GrowthVerdict
from orchestration.growth.settings import GrowthSettings
from tests.orchestration.cli.conftest import finish, start, submind
from tests.orchestration.growth.test_policy import CONFIGURED, LOOSE, NOON, division, retirement


async def test_what_is_approved_is_born_and_all_of_it_is_in_the_log(desk):
    growth = desk.client.growth(by="ann@desk")
    assert (await desk.propose()).verdict is GrowthVerdict.WAITING
    population = await growth.population()
    assert [(event.id, event.submind, event.act) for event in population.waiting] == [("g-1", "causes", "divide")]
    assert (population.living, population.approval, population.frozen, population.mind_runs) == (
        *(len(CONFIGURED), "divisions", None, True),
    )
    outcome = await growth.approve(1, "it is busy")
    assert (outcome.event.by, outcome.event.reason, outcome.event.at) == ("ann@desk", "it is busy", NOON)
    assert desk.told == [2]  # the mind process looks at once
    granted = await desk.propose(growth="causes/2")
    assert granted.verdict is GrowthVerdict.GRANTED
    assert await desk.stores.registry.state(granted.member.name) == b"first"
    events = await growth.events()
    assert [(event.seq, event.kind, event.proposal) for event in events] == [
        (1, GrowthKind.PROPOSED, 0),
        (2, GrowthKind.APPROVED, 1),
        (3, GrowthKind.DIVIDED, 1),
    ]
    assert events == await read_growth(desk.stores.collections, 0, 10)
    (member,) = (await growth.population()).members
    assert member == (await read_members(desk.stores.collections))[0].__class__(
        **{name: getattr(granted.member, name) for name in ("name", "role", "goals", "parent", "generation", "number")},
        **{name: getattr(granted.member, name) for name in ("born", "share", "topics")},
    )


async def test_what_cannot_be_ordered_is_said_in_a_sentence(desk):
    growth = desk.client.growth()
    with pytest.raises(ClientError, match="g-7 waits for no approval: there is no such proposal") as refused:
        await growth.approve(7)
    assert refused.value.code == "FAILED_PRECONDITION"
    await desk.propose()
    await growth.reject(1, "not now")
    with pytest.raises(ClientError, match="it was rejected by"):
        await growth.approve(1)
    await growth.freeze()
    assert (await growth.freeze()).event is None
    with pytest.raises(Rejected):
        await growth.approve(0)
    with pytest.raises(Rejected):
        await desk.client.growth(by="x" * 300).thaw()


async def test_freezing_holds_at_once_also_for_what_is_on_its_way(desk):
    """Proposals race the order: none is granted after it was answered."""
    await desk.propose()
    await desk.client.growth().approve(1)
    answered = asyncio.Event()
    late = []

    async def propose():
        for number in range(1000):
            known = answered.is_set()
            decision = await desk.propose("people" if number else "causes", f"people/{number}")
            if known and decision.verdict is GrowthVerdict.GRANTED:
                late.append(decision)
            if known and number > 5:
                return

    racing = asyncio.create_task(propose())
    event = (await desk.client.growth().freeze("looks odd")).event
    answered.set()
    await racing
    assert not late
    log = await read_growth(desk.stores.collections, 0, 1000)
    assert all(each.kind not in {GrowthKind.DIVIDED, GrowthKind.RETIRED} for each in log if each.seq > event.seq)
    again = GrowthAdmin(desk.stores, GrowthSettings(), CONFIGURED, lambda: NOON)  # another process, later
    assert (await again.population()).frozen == event


async def test_the_log_is_followed_as_it_grows(desk):
    growth = desk.client.growth(by="ann")
    await growth.freeze("one")
    seen = []

    async def watch():
        async for event in growth.watch():
            seen.append(event)
            if len(seen) == 3:
                return

    watching = asyncio.create_task(watch())
    await growth.thaw("two")
    await growth.freeze("three")
    await asyncio.wait_for(watching, 60)
    assert [(event.seq, event.reason) for event in seen] == [(1, "one"), (2, "two"), (3, "three")]
    assert {event.by for event in seen} == {"ann"}


async def test_on_the_command_line(desk):
    at = ["--grpc", desk.target]
    many = ("pumps, valve", "leak, seal", *(f"topic {n}" for n in range(6)))
    await desk.propose(reason="\x1b[31mred", topics=many)
    await desk.propose("people", "p/1")
    shown = await submind("growth", *at)
    assert shown.code == 0
    assert "g-1" in shown.out
    assert "waits for an approval: causes wants to divide" in shown.out
    assert "[pumps, valve; leak, seal; topic 0; topic 1; topic 2; topic 3 and 2 more]" in " ".join(shown.out.split())
    assert "\x1b" not in shown.out
    done = await submind("approve", "g-1", "--reason", "busy", "--by", "ann", *at)
    assert (done.code, done.out, done.err) == (0, "causes may now divide (g-1)\n", "")
    again = await submind("approve", "g-1", *at)
    assert (again.code, "g-1 waits for no approval: it was approved by ann" in again.err) == (1, True)
    assert "people may now divide (g-2)" in (await submind("approve", "--all", *at)).out
    desk.runs[0] = False
    frozen = await submind("freeze", "--reason", "odd", *at)
    assert frozen.out == "growth is frozen\n"
    assert "the mind process is down: this is written down, and holds when it is up again" in frozen.err
    following = await start("growth", "--follow", "--after", "4", "--json", *at)
    line = await asyncio.wait_for(following.stdout.readline(), 120)
    assert b'"seq":5' in line
    following.terminate()
    await finish(following)


async def test_a_store_that_is_away_is_no_decision(desk):
    await desk.stores.close()
    with pytest.raises(StoreUnavailable):
        await GrowthAdmin(desk.stores, GrowthSettings(), CONFIGURED, lambda: NOON).freeze("ann", "")


async def test_members_come_page_by_page_and_those_that_live_alone(desk):
    growth = desk.client.growth()
    names = []
    for number in range(5):
        await desk.propose(growth=f"causes/{number}")
        await growth.approve(await growth_head(desk.stores.collections))
        names.append((await desk.propose(growth=f"causes/{number}")).member.name)
    await desk.log.consider(retirement(names[1]), lambda member: [WriteState(member.name, b"will")])
    found, token = [], ""
    while True:
        answer = await desk.http.get("/v1/growth", params={"page_size": 2, "page_token": token})
        page = answer.json()
        assert page["born"] == 5
        assert len(page["members"]) <= 2
        found += [member["name"] for member in page["members"]]
        if not (token := page["next_page_token"]):
            break
    assert found == names
    living = (await desk.http.get("/v1/growth", params={"living": True})).json()["members"]
    assert [member["name"] for member in living] == [name for name in names if name != names[1]]
    assert [member.name for member in (await growth.population(living=True)).members] == [m["name"] for m in living]
    assert (await growth.population()).born == 5
    assert (await desk.http.get("/v1/growth", params={"page_token": "x"})).status_code == 422


async def test_the_same_order_again_is_answered_with_what_it_decided(desk):
    ann, bob = desk.client.growth(by="ann"), desk.client.growth(by="bob")
    await desk.propose()
    await desk.propose("people", "p/1")
    first, second = await ann.approve(1, "busy"), await bob.reject(2, "not now")
    assert await ann.approve(1, "busy") == first
    assert await bob.reject(2, "not now") == second
    for order, said in (
        (ann.approve(1, "another reason"), "approved by ann"),
        (bob.approve(1, "busy"), "approved by ann"),
        (ann.reject(1, "busy"), "approved by ann"),
        (bob.approve(2, "not now"), "rejected by bob"),
    ):
        with pytest.raises(ClientError, match=said):
            await order
    assert [event.kind.value for event in await ann.events()] == ["proposed", "proposed", "approved", "rejected"]


async def test_births_that_a_wrong_clock_dated_years_ahead_wait_an_hour(tmp_path):
    stores, now = await open_stores(tmp_path, "alpha"), [NOON + 365 * 24 * HOUR]
    bounds = GrowthSettings(**LOOSE | {"births_per_hour": 1})

    async def divide(log, name):
        return (await log.consider(division(growth=name), lambda member: [WriteState(member.name, b"")])).verdict

    assert await divide(GrowthLog(stores, bounds, CONFIGURED, lambda: now[0]), "causes/1") is GrowthVerdict.GRANTED
    now[0] = NOON
    with structlog.testing.capture_logs() as told:
        after = GrowthLog(stores, bounds, CONFIGURED, lambda: now[0])
        assert await divide(after, "causes/2") is GrowthVerdict.REFUSED
    assert [(line["event"], line["seconds"]) for line in told] == [("growth_was_dated_ahead", 365 * 24 * 3600)]
    now[0] = NOON + HOUR
    for log in (GrowthLog(stores, bounds, CONFIGURED, lambda: now[0]), after):
        assert await divide(log, "causes/3") is GrowthVerdict.GRANTED, "the log says when the clock was set right"
        now[0] += HOUR
    await stores.close()
