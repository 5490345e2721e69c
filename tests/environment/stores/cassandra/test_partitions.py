"""No partition outgrows its bound or grows with the age of a mind: by arithmetic, schema, and what is written."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from actors.settings import ConnectionSettings
from environment.messages import PerceptionRef, Via
from environment.settings import EnvironmentSettings
from environment.stores.cassandra import partitions
from environment.stores.cassandra.commits.record import (
    Changed,
    Entry,
    LaneState,
    Part,
    Payload,
    Record,
    Standing,
    Version,
)
from environment.stores.cassandra.commits.rows import rows_of
from environment.stores.cassandra.driver.settings import CassandraSettings
from environment.stores.cassandra.partitions import LARGEST
from environment.stores.cassandra.schema.cql import statements
from environment.stores.cassandra.schema.migrations import SCHEMA
from environment.stores.codec import encode
from tests.environment.stores.contract import connection, trace

ROOT = Path(__file__).parents[4]
MOST_CELLS, MOST_BYTES = 100_000, 100_000_000
BOUNDED = {
    # what its rows are bounded by, where the partition has no count or time in its key
    "minds": "one", "lanes": "two lanes", "lane_names": "actors", "large_records": "one commit", "heads": "one",
    "live_generations": "one", "eras": "a century", "stream_entries_by_id": "one", "names": "actors",
    "connections": "the settings", "reports": "actors", "states": "one", "known_ids": "one",
}  # fmt: skip
COUNTED = {"chunk", "bucket", "part", "generation", "era", "page"}
"""Columns that divide what grows."""


def tables():
    """Table to its partition key, clustering columns and other columns."""
    found = {}
    files = [statements(file.read_text("utf-8")) for file in sorted(SCHEMA.glob("*.cql"))[1:]]
    made = [each for file in files for each in file if each.startswith("CREATE")]
    later = [each for file in files for each in file if " ADD " in each]
    for statement in made:
        table = re.match(r"CREATE TABLE IF NOT EXISTS (\w+)", statement)[1]
        columns = re.findall(r"[(,] (\w+) (?:text|bigint|int|double|boolean|blob)( static)?( PRIMARY KEY)?", statement)
        key = re.search(r"PRIMARY KEY \(\(([\w, ]+)\)(?:, ([\w, ]+))?\)", statement)
        partition = key[1].split(", ") if key else [name for name, _, is_key in columns if is_key]
        clustering = key[2].split(", ") if key and key[2] else []
        rest = [name for name, static, _ in columns if name not in (*partition, *clustering) and not static]
        found[table] = (partition, clustering, rest)
    for statement in later:
        table, column = re.match(r"ALTER TABLE (\w+) ADD IF NOT EXISTS (\w+) \w+$", statement).groups()
        found[table][2].append(column)
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


def written(numbers):
    """Commits of a trace, an entry and a change each, all in one hour, by one author, about one topic."""
    for n in numbers:
        version = Version(f"t-{n}", 1, n, "author", "topic", 3600.0 * 9 + n % 3600, 0.5, 1.0, 60.0, b"", b"")
        standing = Standing(f"t-{n}", 1, n, False, 0, 0.01, 3600.0 * 9 + n % 3600, 60.0)
        change = Changed("owner", "topic", "peer", 3600.0 * 9 + n % 3600, "opened", 0.5, "")
        payload = Payload([version], [standing], [Entry(n, f"c-{n}", b"")], changed=[change])
        record = Record(n * 8, b"word", [Part("core", "traces", n, LaneState(change=n, history=n))], b"")
        yield from rows_of("mind", record, payload, 604_800)


def test_no_rate_fills_a_partition():
    keys = {table: partition for table, (partition, _, _) in tables().items()}
    count = 3 * partitions.PART + 17
    rows: dict[str, Counter] = {}
    distinct = set()
    for cql, values in written(range(1, count)):
        table, columns = re.match(r"INSERT INTO (\w+)\s+\(([\w, \n]+)\)", cql).groups()
        row = dict(zip(re.split(r",\s*", columns), values, strict=False))
        if (table, *values[:-1]) not in distinct:
            distinct.add((table, *values[:-1]))
            rows.setdefault(table, Counter())[tuple(row[name] for name in keys[table])] += 1
    assert rows.keys() >= {"traces", "changes", "traces_by_time", "traces_by_author", "traces_by_topic"}
    assert rows.keys() >= {"traces_retired", "connection_changes", "stream_entries", "buckets", "eras"}
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
