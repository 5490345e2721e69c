"""An old mind starts, thinks and is asked at the price of what is live in it, not of all it ever thought.

``SUBMIND_TEST_TRACES`` says how many traces the old mind has, of which every fiftieth is live; 20,000 by default, which
takes a minute. The claim is the same at a million: what is counted are requests, rows and bytes, not seconds.
"""

import asyncio
import gc
import logging
import os
import random
import secrets
import time
import tracemalloc
from dataclasses import dataclass, replace

import pytest

from environment.errors import StoreUnavailable
from environment.index.shard import Shard
from environment.messages import Level
from environment.ports import WriteTrace
from environment.search import SearchFilters
from environment.settings import EnvironmentSettings
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.stores import open_stores
from environment.subliminal import SubliminalEnvironment
from orchestration.view.follower import TraceFollower
from orchestration.view.settings import ViewSettings
from tests.environment.stores.cassandra.seeding import seed
from tests.environment.stores.making import DIM, NOON, trace, vector
from tests.servers.cassandra import CassandraServer
from tests.servers.fixtures import migrated_keyspace

TRACES = int(os.environ.get("SUBMIND_TEST_TRACES", "20000"))
EVERY = 50
MANY = 100_000
LIVE = TRACES // EVERY
GENERATION = max(100, TRACES // 20)
_log = logging.getLogger(__name__)
SETTINGS = CassandraSettings(generation=GENERATION, known_ids_bytes=1 << 20)
BATCH = 500


@dataclass
class Cost:
    """What a piece of work asked of the store."""

    requests: int = 0
    rows: int = 0


def counting(stores):
    """Counts the requests of this opening and the rows that they were answered with."""
    cost, ask, burst = Cost(), stores._session._ask, stores._session._burst

    async def counted(*arguments):
        answer = await ask(*arguments)
        cost.requests += 1
        cost.rows += len(answer.rows)
        return answer

    async def counted_together(*arguments):
        answers = await burst(*arguments)
        cost.requests += len(answers)
        cost.rows += sum(map(len, answers.values()))
        return answers

    stores._session._ask, stores._session._burst = counted, counted_together
    return cost


def one(number: int, *, live: bool):
    made = trace(number)
    topic = f"topic {number % 40}"
    thought = replace(
        made.thought, author=f"author {number % 8}", topic=topic, at=NOON + number, vector=vector(number % 997)
    )
    level = Level(0.5 if live else 0.01, NOON + number, 1e9)
    return replace(made, thought=thought, level=level, live=live)


@pytest.fixture(scope="module")
def aged_keyspace(request, servers, tmp_path_factory):
    """On a server of its own where there is very much to write."""
    if TRACES <= MANY:
        yield request.getfixturevalue("shared_keyspace")
        return
    server = CassandraServer(tmp_path_factory.mktemp("aged"), durable=False, long=True, heap_mb=2048)
    server.start()
    try:
        with migrated_keyspace(server.address) as address:
            yield address
    finally:
        server.kill()


def one_of_many(number):
    return one(number, live=number % EVERY == 0)


@pytest.fixture(scope="module")
def minds(aged_keyspace):
    """The place, the old mind, and a young one that holds only what is live in the old one."""
    own = secrets.token_hex(6)
    return f"{aged_keyspace}?dc={aged_keyspace.dc}", f"{own}-old", f"{own}-young"


async def live_through(place, mind, numbers):
    stores = await open_stores(place, mind, settings=SETTINGS, rng=random.Random(1))
    for start in range(0, len(numbers), BATCH):
        writes = [WriteTrace(one_of_many(number)) for number in numbers[start : start + BATCH]]
        for patience in range(10, -1, -1):
            try:
                await stores.commit(writes)
                break
            except StoreUnavailable as error:  # a server that shares its cores may be late
                if not patience:
                    raise
                await asyncio.sleep(error.retry_after)
    if stores._noting is not None:
        await stores._noting
    await stores.close()


async def start(place, mind):
    """What an environment does when it starts, and what it cost; the memory is that of traces and indexes."""
    stores = await open_stores(place, mind, settings=SETTINGS, rng=random.Random(2))
    cost = counting(stores)
    gc.collect()
    tracemalloc.start()
    environment, began = SubliminalEnvironment(EnvironmentSettings(), Shard(DIM, 25_000)), time.monotonic()
    async for found in stores.traces.live(500):
        environment.load(found)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    _log.info("%s: a start takes %.2f s", mind, time.monotonic() - began)
    return stores, environment, cost, kept, peak


@pytest.mark.soak
@pytest.mark.timeout(300 + TRACES // 50)
async def test_all_costs_follow_what_is_live(minds):
    place, old, young = minds
    began = time.monotonic()
    await seed(place, old, one_of_many, TRACES - 2, SETTINGS)
    await live_through(place, old, range(TRACES - 2, TRACES))  # what is live is written down
    await live_through(place, young, range(0, TRACES, EVERY))
    _log.info("%d traces, then %d, were left in %.0f s", TRACES, LIVE, time.monotonic() - began)

    warm, *_ = await start(place, young)  # what is loaded and compiled once is nobody's price
    await warm.close()
    aged, environment, age, kept, peak = await start(place, old)
    fresh, _, youth, kept_young, peak_young = await start(place, young)
    try:
        assert len(environment) == LIVE
        figures = await aged.statistics()
        assert (figures["traces_rows"], figures["traces_live_rows"]) == (TRACES, LIVE)
        told = "%d traces: a start reads %d rows in %d requests and keeps %d KiB"
        _log.info(told, TRACES, age.rows, age.requests, kept >> 10)
        _log.info(told, LIVE, youth.rows, youth.requests, kept_young >> 10)
        # One row for each live trace, the pages of their ids, and the changes since these were written.
        assert age.rows <= LIVE + 2 * GENERATION + 50
        assert age.requests <= youth.requests + GENERATION // 1000 + 20
        # Beside them a page of ids, which the filter may be reading just then; all traces would be fifty times as much.
        assert kept <= 1.2 * kept_young + 1_000_000
        assert peak <= 1.2 * peak_young + 400 * GENERATION + 1_500_000

        await the_same_price(aged, fresh)
    finally:
        await aged.close()
        await fresh.close()


async def the_same_price(aged, fresh):
    """Questions cost an old mind what they cost a young one."""
    now = NOON + TRACES
    prices = []
    for stores in (aged, fresh):
        follower = TraceFollower(stores.traces, lambda: Shard(DIM, 25_000), ViewSettings())
        await follower.search(vector(50), 10, SearchFilters(), now)
        steps = []
        cost = counting(stores)
        began = time.monotonic()
        hits = await follower.search(vector(50), 10, SearchFilters(), now)
        _log.info("%s: a search takes %.1f ms", stores._mind, (time.monotonic() - began) * 1000)
        steps.append((cost.requests, cost.rows))
        assert len(hits) == min(10, LIVE)
        assert float(hits[0].trace.thought.vector @ vector(50)) > 0.99
        prices.append(steps)
    for (requests, rows), (requests_young, rows_young) in zip(*prices, strict=True):
        assert requests <= requests_young + 8
        assert rows <= 4 * rows_young + 60
