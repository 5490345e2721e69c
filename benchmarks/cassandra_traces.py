"""Crawls and the rebuild of the live index on Cassandra, each against its bare parts in the same run; and storage.

- Rebuild: what an environment does when it starts, from finding out what is live to an index that can be asked,
  against ``execute_concurrent`` of the bare driver reading the same rows, which it does not even decode.
- Crawl: a search through the view (catching up with the store, index, filters, salience), and a directed crawl of the
  environment, against a bare exact FAISS index plus the bare driver's concurrent reads of the rows that it found.
  Recall at 10 against exact search is printed for the index as it is and for one that was divided into cells.
- Storage: what a day takes of a mind that perceives once a second, where every perception becomes a trace that is
  reinforced once, retired, and one in a hundred is said in the stream. Bytes are those on the disk, compressed.

Either of a pair is run in turn with the other; the ratio of a round is theirs, that of the run is the median.

    python benchmarks/cassandra_traces.py [--json] [--store cassandra://...] [--traces 20000] [--rounds 5]

Without ``--store`` a server of its own is started (Java 17 and Maven are needed). The keyspace that is named is made,
and dropped at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import faiss
import numpy as np
from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.cluster import Session as Driver
from cassandra.concurrent import execute_concurrent
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy
from cassandra_ingest import USAGE, Keyspaces, _keyspaces, _own_server

from environment.index.shard import Shard
from environment.messages import EntryKind, Level, PerceptionRef, StreamEntry, Thought, ThoughtKind, Trace, Vector
from environment.ports import Write, WriteEntries, WriteLevel, WriteTrace
from environment.search import SearchFilters
from environment.settings import EnvironmentSettings
from environment.stores.cassandra.stores import CassandraStores, open_stores
from environment.subliminal import SubliminalEnvironment
from orchestration.view.follower import TraceFollower
from orchestration.view.settings import ViewSettings

MIND, DIM, NOW = "benchmark", 256, 1_772_539_200.0
CRAWL, REBUILD, RECALL = 1.5, 2.0, 0.98
"""What is aimed at."""
QUERIES, K, BATCH = 100, 10, 250
DAY, SAMPLE = 86_400, 10_000
CONCURRENCY = 128
"""Of the bare driver; as many as the store's own by default."""
BARE = """SELECT version, authors, body, newest, live, conscious, value, at, half_life, change FROM traces
    WHERE mind = ? AND id = ? AND chunk = 0 LIMIT 1"""
WORDS = "disk fan rack pump door badge night shift alarm queue cable vendor invoice mail order shelf".split()


def vectors(count: int, seed: int = 1) -> np.ndarray:
    """Unit vectors in clusters, as thoughts are."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, count // 100), DIM))
    drawn = centres[rng.integers(len(centres), size=count)] + 0.6 * rng.normal(size=(count, DIM))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def trace(number: int, vector: Vector) -> Trace:
    """A trace of ordinary length."""
    at, drawn = NOW + number, random.Random(number)
    thought = Thought(
        id=f"t-{random.Random(number).getrandbits(80):020x}",
        author=f"author-{number % 12}",
        kind=ThoughtKind.INSIGHT,
        text=" ".join(drawn.choices(WORDS, k=18)),
        time=at,
        at=at + 1,
        vector=vector,
        salience=0.5,
        confidence=0.7,
        trust=0.5,
        perceptions=tuple(PerceptionRef(f"p-{number * 3 + n:020x}", at, "ops") for n in range(3)),
        parents=tuple(f"t-{drawn.getrandbits(80):020x}" for _ in range(2)),
        topic=" ".join(drawn.choices(WORDS, k=2)),
        associations=tuple(drawn.choices(WORDS, k=5)),
    )
    return Trace(thought, 1, Level(0.5, at, 10_800.0), authors=(thought.author,))


@asynccontextmanager
async def opened(place: str) -> AsyncIterator[CassandraStores]:
    stores = await open_stores(place, MIND, writer="environment")
    try:
        yield stores
    finally:
        await stores.close()


class Bare:
    """The driver by itself."""

    def __init__(self, address: Any) -> None:
        profile = ExecutionProfile(
            TokenAwarePolicy(DCAwareRoundRobinPolicy(address.dc)), consistency_level=ConsistencyLevel.LOCAL_QUORUM
        )
        self._cluster = Cluster(
            list(address.hosts), execution_profiles={EXEC_PROFILE_DEFAULT: profile}, protocol_version=5
        )
        self._session: Driver = self._cluster.connect(address.keyspace)
        self._read = self._session.prepare(BARE)

    def read(self, ids: Sequence[str]) -> int:
        """Read the rows of traces concurrently; how many bytes of thoughts there were."""
        statements = [(self._read, (MIND, name)) for name in ids]
        answers = execute_concurrent(self._session, statements, concurrency=CONCURRENCY, raise_on_first_error=True)
        return sum(len(result.one().body) for _, result in answers)

    def close(self) -> None:
        self._cluster.shutdown()


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def rebuild(stores: CassandraStores, flat_limit: int = 25_000) -> SubliminalEnvironment:
    """An environment as it starts."""
    shard = Shard(DIM, flat_limit)
    environment = SubliminalEnvironment(EnvironmentSettings(capacity=2_000_000), shard)
    async for traces in stores.traces.live():
        environment.load(traces)
    environment.crawl("directed", 1, NOW, random.Random(1), vector=vectors(1)[0])
    return environment


async def measure(arguments: argparse.Namespace, keyspaces: Keyspaces) -> dict[str, Any]:
    """Write, then rebuild and crawl in rounds, then a part of a day."""
    place, count = keyspaces.place(keyspaces.ours), arguments.traces
    held = vectors(count)
    traces = [trace(number, held[number]) for number in range(count)]
    ids = [each.id for each in traces]
    async with opened(place) as stores:
        seconds = await timed(lambda: write(stores, traces))
        bare = Bare(keyspaces.ours)
        try:
            rebuilds = [await one_rebuild(stores, bare, ids) for _ in range(arguments.rounds + 1)][1:]
            crawls = [await one_crawl(stores, bare, ids, held, seed) for seed in range(arguments.rounds + 1)][1:]
        finally:
            bare.close()
        recalls = {limit: await recall(stores, held, limit) for limit in (25_000, max(256, count // 4))}
        day = await one_day(stores)
    return {
        "benchmark": "cassandra_traces",
        "traces": count,
        "written_per_s": count / seconds,
        "rebuild": summary(rebuilds, REBUILD),
        "crawl": summary([(view, bare) for view, _, bare in crawls], CRAWL),
        "crawl_environment": summary([(environment, bare) for _, environment, bare in crawls], CRAWL),
        "recall": {"exact": recalls[25_000], "cells": recalls[max(256, count // 4)], "wanted": RECALL},
        "bytes_per_day_at_one_a_second": day,
    }


async def write(stores: CassandraStores, traces: Sequence[Trace]) -> None:
    for start in range(0, len(traces), BATCH):
        await stores.commit([WriteTrace(each) for each in traces[start : start + BATCH]])


async def one_rebuild(stores: CassandraStores, bare: Bare, ids: Sequence[str]) -> tuple[float, float]:
    ours = await timed(lambda: rebuild(stores))
    return ours, await timed(lambda: asyncio.to_thread(bare.read, ids))


async def one_crawl(
    stores: CassandraStores, bare: Bare, ids: Sequence[str], held: np.ndarray, seed: int
) -> tuple[float, float, float]:
    """Seconds for all queries: through the view, by the environment, and bare."""
    queries = near(held, seed)
    follower = TraceFollower(stores.traces, lambda: Shard(DIM), ViewSettings())
    await follower.search(queries[0], K, SearchFilters(), NOW)
    environment = await rebuild(stores)
    index = faiss.IndexFlatIP(DIM)
    index.add(held)
    chance = random.Random(seed)

    async def view() -> None:
        for query in queries:
            await follower.search(query, K, SearchFilters(), NOW)

    async def crawl() -> None:
        for query in queries:
            environment.crawl("directed", K, NOW, chance, vector=query)

    def alone() -> None:
        for query in queries:
            _, places = index.search(query.reshape(1, -1), K)
            bare.read([ids[place] for place in places[0]])

    return await timed(view), await timed(crawl), await timed(lambda: asyncio.to_thread(alone))


def near(held: np.ndarray, seed: int) -> np.ndarray:
    """Queries near what is held."""
    rng = np.random.default_rng(seed + 100)
    drawn = held[rng.integers(len(held), size=QUERIES)] + 0.03 * rng.normal(size=(QUERIES, DIM))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


async def recall(stores: CassandraStores, held: np.ndarray, flat_limit: int) -> float:
    """The share of the ten nearest, by exact search over the vectors as they were given, that a crawl meets."""
    environment = await rebuild(stores, flat_limit)
    ids = [trace(number, held[number]).id for number in range(len(held))]
    queries = near(held, 7)
    _, exact = faiss.knn(queries, held, K, metric=faiss.METRIC_INNER_PRODUCT)
    found = 0
    for query, places in zip(queries, exact, strict=True):
        met = environment.crawl("directed", K, NOW, random.Random(1), vector=query)
        found += len({each.id for each, _ in met} & {ids[place] for place in places})
    return found / exact.size


async def one_day(stores: CassandraStores) -> float:
    """Bytes of a day of one perception a second, by a part of it."""
    before = await on_disk(stores)
    head = await stores.stream.head()
    for start in range(0, SAMPLE, 50):
        writes: list[Write] = []
        for number in range(10_000_000 + start, 10_000_000 + start + 50):
            made = trace(number, vectors(1, number)[0])
            writes += [WriteTrace(made), WriteLevel(made.id, Level(0.6, NOW + number, 10_800.0), True, None)]
        await stores.commit(writes)
        made_ids = [write.trace.id for write in writes if isinstance(write, WriteTrace)]
        gone = Level(0.04, NOW + start + 40_000, 10_800.0)
        await stores.commit([WriteLevel(name, gone, live=False, conscious=None) for name in made_ids])
        if start % 100 == 0:
            head += 1
            await stores.commit([WriteEntries((entry(head, made_ids[0]),))])
    return (await on_disk(stores) - before) / SAMPLE * DAY


def entry(seq: int, focus: str) -> StreamEntry:
    at = NOW + seq
    return StreamEntry(
        *(seq, f"c-{seq:020x}", EntryKind.THOUGHT, " ".join(WORDS), at, at, 0.8, 0.7, 0.5),
        *((PerceptionRef(f"p-{seq:020x}", at, "ops"),), (focus,), focus, "author", vectors(1, seq)[0]),
    )


async def on_disk(stores: CassandraStores) -> int:
    """Bytes of the mind's tables, once everything has been flushed to them; to the MiB."""
    session = stores._session  # noqa: SLF001 - to look at the servers, not at the store
    keyspace = session.address.keyspace
    tables = await session.prepare("SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?")
    names = [row.table_name for row in await session.execute(tables, (keyspace,), idempotent=True)]
    names = [name for name in names if not name.startswith(("perception", "schema"))]
    for name in names:
        await session.run(f"ALTER TABLE {name} WITH memtable_flush_period_in_ms = 1000")
    usage, seen = await session.prepare(USAGE), -1
    while True:
        await asyncio.sleep(3.0)
        rows = await session.execute(usage, (keyspace,), idempotent=True)
        now = sum(row.mebibytes for row in rows if row.table_name in names)
        if now == seen:
            break
        seen = now
    for name in names:
        await session.run(f"ALTER TABLE {name} WITH memtable_flush_period_in_ms = 0")
    return seen << 20


def summary(pairs: Sequence[tuple[float, float]], wanted: float) -> dict[str, Any]:
    """Medians of ours and of the bare, in seconds, and of their ratio."""
    ratios = [ours / bare for ours, bare in pairs]
    return {
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "wanted": wanted,
        "seconds": statistics.median(ours for ours, _ in pairs),
        "bare_seconds": statistics.median(bare for _, bare in pairs),
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    rebuilt, recalls = result["rebuild"], result["recall"]
    took = f"{rebuilt['seconds']:.2f} s, bare reads {rebuilt['bare_seconds']:.2f} s"
    lines = [f"rebuild of {result['traces']:,} live traces: {took}: ratio {spread(rebuilt)}"]
    for name, label in (("crawl", "through the view"), ("crawl_environment", "by the environment")):
        crawl = result[name]
        each, alone = crawl["seconds"] / QUERIES * 1e3, crawl["bare_seconds"] / QUERIES * 1e3
        lines.append(f"crawl {label}: {each:.2f} ms, bare FAISS and row reads {alone:.2f} ms: ratio {spread(crawl)}")
    lines.append(
        f"recall@{K} {recalls['exact']:.3f} as it is, {recalls['cells']:.3f} in cells (wanted: {recalls['wanted']:.2f})"
    )
    day = result["bytes_per_day_at_one_a_second"] / 2**20
    lines.append(f"written: {result['written_per_s']:.0f} new traces/s in commits of {BATCH}")
    lines.append(f"a day of one perception a second, each a trace of its own: {day:.0f} MiB on the disk")
    return "\n".join(lines)


def spread(figures: dict[str, Any]) -> str:
    ratios = figures["ratios"]
    return f"{figures['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f}; wanted: {figures['wanted']:.1f} at most)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--store", help="cassandra://host:port/keyspace?dc=NAME")
    parser.add_argument("--traces", type=int, default=20_000, help="live traces")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keyspaces = asyncio.run(_keyspaces(arguments.store or _own_server(stack, directory)))
        stack.callback(lambda: asyncio.run(keyspaces.drop()))
        result = asyncio.run(measure(arguments, keyspaces))
        print(json.dumps(result) if arguments.json else table(result))


if __name__ == "__main__":
    main()
