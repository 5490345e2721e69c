"""No partition outgrows its bound or grows with the age of a mind: by arithmetic, schema, and what is written."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from actors.settings import ConnectionSettings
from environment.messages import Level, PerceptionRef, Via
from environment.ports import WriteConnections, WriteEntries, WriteTrace
from environment.settings import EnvironmentSettings
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.drafts import Draft
from environment.stores.cassandra.commits.record import STREAM, TRACES, Counters
from environment.stores.cassandra.commits.rows import requests_of
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.partitions import LARGEST
from environment.stores.cassandra.schema.migrations import load_migrations
from environment.stores.codec import encode
from tests.environment.stores.cassandra.seeding import UNKNOWN
from tests.environment.stores.making import change, connection, entry, trace

ROOT = Path(__file__).parents[4]
MOST_CELLS, MOST_BYTES = 100_000, 100_000_000
BOUNDED = {
    # what its rows are bounded by, where the partition has no count or time in its key
    "fenced_logs": "two logs", "fenced_log_names": "actors", "large_records": "one commit", "heads": "one",
    "live_generations": "one", "eras": "a century", "stream_entries_by_id": "one", "names": "actors",
    "documents": "one", "connections": "the settings", "reports": "actors", "states": "one", "known_ids": "one",
}  # fmt: skip
COUNTED = {"chunk", "bucket", "part", "generation", "era", "page"}
"""Columns that divide what grows."""


def tables():
    """Table to its partition key, clustering columns and other columns."""
    found = {}
    made = [each for file in load_migrations() for each in file.statements if each.startswith("CREATE")]
    for statement in made:
        table = re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", statement)[1]
        if table.startswith("perception_"):
            continue  # see test_layout.py
        columns = re.findall(r"[(,] (\w+) (?:text|bigint|int|double|boolean|blob)( static)?( PRIMARY KEY)?", statement)
        key = re.search(r"PRIMARY KEY \(\(([\w, ]+)\)(?:, ([\w, ]+))?\)", statement)
        partition = key[1].split(", ") if key else [name for name, _, is_key in columns if is_key]
        clustering = key[2].split(", ") if key and key[2] else []
        rest = [name for name, static, _ in columns if name not in (*partition, *clustering) and not static]
        found[table] = (partition, clustering, rest)
    return found


def test_every_table_is_accounted_for():
    assert {each.table for each in LARGEST} == set(tables())
    assert len({each.table for each in LARGEST}) == len(LARGEST)


@pytest.mark.parametrize("largest", LARGEST, ids=lambda each: each.table)
def test_the_largest_partition_is_small_enough(largest):
    assert largest.all_cells <= MOST_CELLS
    assert largest.size <= MOST_BYTES


@pytest.mark.parametrize("largest", LARGEST, ids=lambda each: each.table)
def test_the_arithmetic_is_that_of_the_schema(largest):
    partition, clustering, rest = tables()[largest.table]
    assert partition[0] == "mind"
    assert largest.cells == max(1, len(rest))
    assert bool(clustering) == (largest.rows > 1)
    assert COUNTED & set(partition) or largest.table in BOUNDED


def test_the_document_says_the_same():
    text = (ROOT / "docs" / "cassandra.md").read_text("utf-8")
    rows = {
        row[0]: row[1:]
        for row in re.findall(r"^\| `(\w+)` \| (.*?) \| ([\d,]+) \| ([\d,]+) \| (.*?) \|$", text, re.MULTILINE)
    }
    for each in LARGEST:
        size = f"{each.size / 1e6:.1f} MB" if each.size >= 100_000 else f"{max(each.size / 1e3, 0.1):.1f} kB"
        assert rows[each.table] == (each.key, f"{each.rows:,}", f"{each.all_cells:,}", size), each.table


def test_what_the_settings_allow_fits():
    environment, connections = EnvironmentSettings(), ConnectionSettings()
    longest = "x" * 64
    thought = replace(
        trace(1).thought,
        text="雪" * 6000,
        perceptions=tuple(PerceptionRef(f"p-{n:020x}", 1e9, "s" * 256) for n in range(environment.perceptions)),
        parents=tuple(f"t-{n:020x}" for n in range(environment.parents)),
        via=tuple(Via(longest, longest) for _ in range(environment.via)),
        associations=tuple(f"{longest}{n}" for n in range(environment.terms)),
        emotions={f"{longest}{n}": 0.5 for n in range(8)},
        insights=tuple(f"{longest}{n}" for n in range(16)),
    )
    assert len(encode(thought)) <= partitions.BODY
    assert connections.total <= partitions.CONNECTIONS
    assert CassandraSettings().record_bytes <= 2 * partitions.BODY
    row = replace(connection(), history=((1.0, "unrewarded"),) * connections.history)
    assert len(repr(row)) <= next(each.row for each in LARGEST if each.table == "connections")


async def written(numbers):
    """Commits of a trace, an entry and a change each, all in one hour."""
    for n in numbers:
        at = 3600.0 * 9 + n % 3600
        made = trace(n)
        thought = replace(made.thought, at=at)
        gone = replace(made, thought=thought, level=Level(0.01, at, 60.0), live=False, conscious=None)
        changed = WriteConnections("owner", (), (), (replace(change(n, "owner"), at=at),))
        before = {TRACES: Counters(change=n - 1), STREAM: Counters(entries=n - 1)}
        draft = Draft(n * 8, UNKNOWN, before, history=n - 1)
        await draft.add([WriteTrace(gone), WriteEntries((entry(n),)), changed])
        for cql, values in requests_of("mind", draft.stamp, draft.finish(), 604_800):
            yield cql, values


async def test_no_rate_fills_a_partition():
    keys = {table: partition for table, (partition, _, _) in tables().items()}
    count = 3 * partitions.PART + 17
    rows: dict[str, Counter] = {}
    distinct = set()
    async for cql, values in written(range(1, count)):
        table, columns = re.match(r"INSERT INTO (\w+)\s+\(([\w, \n]+)\)", cql).groups()
        row = dict(zip(re.split(r",\s*", columns), values, strict=False))
        if (table, *values[:-1]) not in distinct:
            distinct.add((table, *values[:-1]))
            rows.setdefault(table, Counter())[tuple(row[name] for name in keys[table])] += 1
    assert rows.keys() >= {"traces", "changes", "traces_by_time", "traces_retired"}
    assert rows.keys() >= {"connection_changes", "stream_entries", "buckets", "eras"}
    bounds = {each.table: each.rows for each in LARGEST}
    for table, counted in rows.items():
        assert max(counted.values()) <= bounds[table], table
    assert max(rows["traces_by_time"].values()) == partitions.PART


def test_every_instant_has_an_hour():
    for at in (float("inf"), float("-inf"), float("nan"), 1e300, -1e300, 0.0, -0.5, 3599.9, 3600.0):
        assert isinstance(partitions.hour(at), int)
    assert [partitions.hour(at) for at in (-0.5, 0.0, 3599.9, 3600.0)] == [-1, 0, 0, 1]
    assert (
        partitions.hour(float("-inf")) < partitions.hour(-1e9) < partitions.hour(1e12) < partitions.hour(float("inf"))
    )
