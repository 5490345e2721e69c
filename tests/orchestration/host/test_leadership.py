"""Leading while one is elected: two hosts over the same stores, elected and deposed by hand."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from environment.errors import FencedOut
from environment.messages import NewPerception, PerceptionBatch
from environment.ports import WriteState
from environment.stores.sqlite import open_stores
from orchestration.gateway.errors import StandingBy
from orchestration.host.appenders import HostAppender
from orchestration.host.leadership import Leadership
from orchestration.membership.alone import Alone
from orchestration.membership.errors import CoordinationUnavailable
from orchestration.membership.ports import Leader
from tests.orchestration.until import until


class Term:
    def __init__(self, council, candidate, token):
        self._council, self.candidate, self.token = council, candidate, token
        self.lost, self.reason = asyncio.Event(), ""

    def leads(self):
        return not self.lost.is_set()

    async def advance(self, above):
        self._council.token = self.token = max(above, self._council.token) + 1
        return self.token


class Council:
    """Elects whoever stands first; ``depose`` ends a term, with or without the deposed knowing."""

    address = "a council"

    def __init__(self):
        self.token = 0
        self.term = None
        self.free = asyncio.Event()
        self.free.set()
        self.away = False
        self.standing = []

    @asynccontextmanager
    async def leadership(self, candidate):
        if self.away:
            raise CoordinationUnavailable("the council does not meet")
        self.standing.append(candidate)
        while not self.free.is_set():
            await self.free.wait()
        self.standing.remove(candidate)
        self.free.clear()
        self.token += 1
        term = self.term = Term(self, candidate, self.token)
        try:
            yield term
        finally:
            term.lost.set()
            if self.term is term:
                self.term = None
                self.free.set()

    async def leader(self):
        return Leader(self.term.candidate, self.token, 0.0) if self.term else None

    async def figures(self):
        return {"coordination_quorum": 1.0}

    def depose(self, *, knows=True):
        term, self.term = self.term, None
        if knows:
            term.reason = "deposed"
            term.lost.set()
        self.free.set()
        return term


class Supervisor:
    """Says what it was told."""

    def __init__(self):
        self.told = []
        self.report = SimpleNamespace(standing_by="", write=lambda: None)

    def start(self, token):
        self.token = token
        self.told.append("start")

    async def halt(self, *, in_order):
        self.told.append("halt" if in_order else "kill")


class LeadingHost:
    """A host, as far as leading goes."""

    def __init__(self, council, name, stores, embedded=False):
        self.stores = stores
        self.supervisor = Supervisor()
        self.appender = HostAppender(stores.perceptions, 0.5)
        self.on_duty = False
        self.leadership = Leadership(
            council, name, stores, self.appender, self.supervisor, [self._duty], embedded=embedded, look_every=0.01
        )
        self.leadership.start()

    async def _duty(self):
        self.on_duty = True
        try:
            await asyncio.Event().wait()
        finally:
            self.on_duty = False

    async def append(self, text="a line"):
        batch = PerceptionBatch.of([NewPerception("ops", 1.0, 1.0, text=text)])
        return await self.appender.append_batches([self.appender.prepare(batch)])


@pytest.fixture
async def council():
    return Council()


@pytest.fixture
async def start_host(tmp_path, council):
    built = []

    async def build(name, coordination=council, embedded=False):
        built.append(LeadingHost(coordination, name, await open_stores(tmp_path, "mind", synchronous="OFF"), embedded))
        return built[-1]

    yield build
    for each in built:
        await each.leadership.stop()
        await each.stores.close()


async def test_the_elected_leads_and_the_other_says_who_does(start_host):
    one = await start_host("one:50051")
    await until(one.leadership.leads.is_set)
    two = await start_host("two:50051")
    await until(lambda: two.appender.leader)
    assert (await one.append())[0].first == 1
    with pytest.raises(StandingBy) as refused:
        await two.append()
    assert refused.value.leader == "one:50051"
    assert refused.value.retry_after == 0.5
    assert "one:50051 leads" in str(refused.value)
    assert (one.supervisor.told, two.supervisor.told) == (["start"], [])
    assert (one.on_duty, two.on_duty) == (True, False)
    assert one.leadership.why == ""
    assert "one:50051 leads" in two.leadership.why
    await until(lambda: "one:50051" in two.supervisor.report.standing_by)
    assert two.leadership.figures == {"coordination_quorum": 1.0, "store_up": 1.0, "store_refused_appends_total": 0.0}


async def test_a_leader_that_is_asked_to_stop_lets_its_mind_save_and_the_next_takes_over(start_host):
    one = await start_host("one")
    await until(one.leadership.leads.is_set)
    two = await start_host("two")
    await one.leadership.stop()
    assert one.supervisor.told == ["start", "halt"]
    assert not one.on_duty
    await until(two.leadership.leads.is_set)
    assert (await two.append())[0].first == 1


async def test_a_leader_that_is_deposed_stops_at_once_and_stands_again(start_host, council):
    one = await start_host("one")
    await until(one.leadership.leads.is_set)
    two = await start_host("two")
    await asyncio.sleep(0.02)
    council.depose()
    assert not one.appender.is_open  # before anybody was told
    await until(two.leadership.leads.is_set)
    await until(lambda: one.supervisor.told == ["start", "kill"])
    with pytest.raises(StandingBy):
        await one.append()
    await until(lambda: council.standing == ["one"])
    council.depose()
    await until(one.leadership.leads.is_set)
    assert one.leadership.terms == 2
    assert (await one.append())[0].first == 1


async def test_who_slept_through_its_deposition_is_refused_where_it_writes(start_host, council):
    one = await start_host("one")
    await until(one.leadership.leads.is_set)
    fence = await one.supervisor.token()
    await one.stores.lead(fence)  # as its mind process does
    two = await start_host("two")
    await asyncio.sleep(0.02)
    council.depose(knows=False)
    await until(two.leadership.leads.is_set)
    assert one.appender.is_open
    with pytest.raises(FencedOut):
        await one.stores.commit([WriteState("stream", b"late")], fence)
    with pytest.raises(StandingBy):
        await one.append("late")
    await until(lambda: one.supervisor.told == ["start", "kill"])
    await two.append("in time")
    assert [p.text for p in await two.stores.perceptions.read(0, 10)] == ["in time"]


async def test_each_mind_process_of_a_term_leads_under_a_newer_number(start_host):
    one = await start_host("one")
    await until(one.leadership.leads.is_set)
    first, second = await one.supervisor.token(), await one.supervisor.token()
    assert 1 < first < second
    assert await one.stores.lead(first) == first
    assert await one.stores.lead(second) == second


async def test_a_store_that_knows_larger_numbers_is_led_all_the_same(start_host, council, tmp_path):
    before = await open_stores(tmp_path, "mind")
    assert await before.lead(70) == 70
    assert await before.perceptions.lead(90) == 90
    one = await start_host("one")
    await until(one.leadership.leads.is_set)
    assert (await one.append())[0].first == 1
    assert await one.stores.lead(await one.supervisor.token()) > 90
    await before.close()


async def test_while_nobody_can_be_asked_it_stands_by_and_stands_again_by_itself(start_host, council):
    council.away = True
    one = await start_host("one")
    await until(lambda: "does not meet" in one.leadership.why)
    with pytest.raises(StandingBy, match="nobody is known to lead"):
        await one.append()
    council.away = False
    await until(one.leadership.leads.is_set)


async def test_alone_one_leads_at_once(start_host):
    one = await start_host("one", Alone(), embedded=True)
    await until(one.leadership.leads.is_set)
    assert await one.supervisor.token() is None
    assert (await one.append())[0].first == 1


async def test_of_two_that_are_alone_with_one_store_the_first_gives_way_for_good(start_host):
    one = await start_host("one", Alone())
    await until(one.leadership.leads.is_set)
    await one.append("first")
    two = await start_host("two", Alone())
    await until(two.leadership.leads.is_set)
    with pytest.raises(StandingBy):
        await one.append("late")
    await until(lambda: one.supervisor.told == ["start", "kill"])
    await asyncio.sleep(0.5)
    assert one.leadership.terms == 1
    await two.append("second")
    assert [p.text for p in await two.stores.perceptions.read(0, 10)] == ["first", "second"]


async def test_of_two_that_are_alone_the_first_also_gives_way_when_its_mind_process_was_fenced_out(start_host):
    one = await start_host("one", Alone())
    await until(one.leadership.leads.is_set)
    one.supervisor.fenced_out("another run leads this mind")
    await until(lambda: one.supervisor.told == ["start", "kill"])
    assert "another run leads" in one.leadership.why
