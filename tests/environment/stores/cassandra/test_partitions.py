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
from environment.stores.cassandra.schema.migrations import load_migrations
from environment.stores.codec import encode
from tests.environment.stores.cassandra.seeding import UNKNOWN
from tests.environment.stores.making import change, connection, entry, trace

ROOT = Path(__file__).parents[4]
MOST_CELLS, MOST_BYTES = 100_000, 100_000_000
BODY = 32_768
"""A thought or an entry of 6,000 characters, with everything else in it as long as the settings allow; bytes."""
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


def documented():
    """The largest partition of each table, as the document has it: its name, rows, cells and bytes."""
    text = (ROOT / "docs" / "cassandra.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .*? \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) (MB|kB) \|$", text, re.MULTILINE)
    return [
        (table, int(count.replace(",", "")), int(cells.replace(",", "")), float(size) * {"MB": 1e6, "kB": 1e3}[unit])
        for table, count, cells, size, unit in rows
        if not table.startswith("perception_")
    ]


LARGEST = documented()


def test_every_table_is_accounted_for():
    assert sorted(table for table, *_ in LARGEST) == sorted(tables())


@pytest.mark.parametrize(("table", "rows", "cells", "size"), LARGEST, ids=[table for table, *_ in LARGEST])
def test_the_largest_partition_is_small_enough_and_that_of_the_schema(table, rows, cells, size):
    assert cells <= MOST_CELLS
    assert size <= MOST_BYTES
    partition, clustering, rest = tables()[table]
    assert partition[0] == "mind"
    assert cells == rows * max(1, len(rest))
    assert bool(clustering) == (rows > 1)
    assert COUNTED & set(partition) or table in BOUNDED
    assert table not in {"traces", "stream_entries", "reports"} or size >= 0.99 * rows * BODY


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
    assert len(encode(thought)) <= BODY
    assert CassandraSettings().record_bytes <= 2 * BODY
    row = replace(connection(), history=((1.0, "unrewarded"),) * connections.history)
    (rows, size) = next((rows, size) for table, rows, _, size in LARGEST if table == "connections")
    assert len(repr(row)) <= size / rows
    assert rows >= connections.total


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
    bounds = {table: rows for table, rows, *_ in LARGEST}
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
