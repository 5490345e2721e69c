"""Where perceptions stand: partitions that never grow beyond their bound, and what counts as committed among rows."""

import random
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environment.ports import LAST_EPOCH
from environment.stores.cassandra.log.layout import (
    AFTER_ALL,
    CHUNK,
    COLUMNS,
    INLINE,
    LARGEST_BODY,
    PART,
    Segment,
    chunk_of,
    first_of,
    last_of,
    parts_of,
    scan,
    split,
    stamp,
)
from orchestration.gateway.settings import GatewaySettings, IntakeSettings

SCHEMA = Path(__file__).parents[4] / "environment/stores/cassandra/schema/001_submind.cql"
MOST_BYTES = 100_000_000
MOST_CELLS = 100_000


def limit(name):
    field = IntakeSettings.model_fields[name]
    (bound,) = [each.le for each in field.metadata if hasattr(each, "le")]
    return bound


def largest_chunk():
    """Bytes of segments that hold one perception each, with the largest body inline: two never stand at one number."""
    return CHUNK * (INLINE + 16 + COLUMNS)


def largest_payload(perception):
    """Bytes of a body, where one perception alone may have so many."""
    largest = max(LARGEST_BODY, perception)
    return largest + COLUMNS * (largest // PART + 1)


def one_perception():
    """Bytes that one perception may have at most."""
    labels = limit("labels") * (256 + limit("label_bytes"))
    readings = limit("telemetry_names") * (256 + 9)
    return max(limit("image_bytes"), limit("text_bytes")) + labels + readings


def test_no_partition_grows_beyond_its_bound_whatever_the_gateway_lets_in():
    """With every limit of the gateway at the largest that may be configured."""
    table = SCHEMA.read_text().partition("EXISTS perception_stretches")[2].partition(";")[0]
    columns = len(re.findall(r"^    \w+ \w+,$", table, re.MULTILINE))
    assert columns > 5
    assert largest_chunk() < MOST_BYTES
    assert CHUNK * columns < MOST_CELLS
    one = one_perception()
    assert largest_payload(one) < MOST_BYTES
    assert GatewaySettings().message_bytes < largest_payload(one)


def test_the_documents_say_what_the_arithmetic_says():
    text = (SCHEMA.parents[4] / "docs" / "cassandra.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(perception_\w+)` \| .* \| ([\d,]+ \| [\d,]+ \| .*?) \|$", text, re.MULTILINE))
    one = one_perception()
    assert rows["perception_stretches"] == f"{CHUNK:,} | {6 * CHUNK:,} | {largest_chunk() / 1e6:.1f} MB"
    parts = -(-max(one, LARGEST_BODY) // PART)
    assert rows["perception_payloads"] == f"{parts} | {parts} | {largest_payload(one) / 1e6:.1f} MB"
    assert set(rows) == set(re.findall(r"EXISTS (perception_\w+)", SCHEMA.read_text()))


def test_every_table_whose_rows_grow_with_age_has_a_bounded_part_of_the_sequence_in_its_partition():
    text = re.sub(r"--.*", "", SCHEMA.read_text())
    tables = dict(re.findall(r"EXISTS (\w+) \((.*?)\n\);", text, re.DOTALL))
    keys = {
        name: re.search(r"PRIMARY KEY \(?(\(.*?\)|\w+)|(mind text PRIMARY KEY)", body) for name, body in tables.items()
    }
    partitions = {name: (found[1] or "(mind)").strip("()").split(", ") for name, found in keys.items()}
    assert {name: key for name, key in partitions.items() if name.startswith("perception_")} == {
        "perception_stretches": ["mind", "chunk"],
        "perception_payloads": ["mind", "position"],
        "perception_keys": ["mind", "key"],
    }


@given(st.integers(1, 1 << 62))
def test_a_number_stands_in_one_chunk(seq):
    chunk = chunk_of(seq)
    assert first_of(chunk) <= seq <= last_of(chunk)
    assert first_of(chunk + 1) == last_of(chunk) + 1
    assert last_of(chunk) - first_of(chunk) < CHUNK


@given(st.integers(1, 1 << 40), st.integers(1, 5 * CHUNK))
def test_a_batch_is_cut_where_chunks_end(position, count):
    pieces = list(split(position, count))
    assert [start for start, _ in pieces] == [0, *(stop for _, stop in pieces[:-1])]
    assert pieces[-1][1] == count
    for start, stop in pieces:
        assert chunk_of(position + start) == chunk_of(position + stop - 1)


@given(st.binary(max_size=50), st.integers(0, 3))
def test_a_large_body_is_the_sum_of_its_parts(rest, whole):
    body = bytes(PART) * whole + rest
    parts = list(parts_of(body))
    assert b"".join(data for _, data in parts) == body
    assert [number for number, _ in parts] == list(range(len(parts)))
    assert all(len(data) <= PART for _, data in parts)
    assert INLINE < PART < LARGEST_BODY


@given(st.tuples(*[st.integers(0, LAST_EPOCH), st.integers(0, (1 << 40) - 1)] * 2))
def test_a_later_epoch_and_then_a_later_attempt_has_the_last_word(drawn):
    one, other = drawn[:2], drawn[2:]
    assert (stamp(*one) < stamp(*other)) == (one < other)
    assert stamp(*one) < AFTER_ALL


@dataclass
class Written:
    """A row and its write time."""

    row: Segment
    at: int


@pytest.mark.parametrize("seed", range(200))
def test_only_what_was_committed_is_seen_whoever_wrote_what_when(seed):
    """Writers take turns to write rows; some attempts are committed; all rows arrive in any order at any time."""
    rng = random.Random(seed)
    chunk = rng.choice([0, 3])
    head, committed, written = first_of(chunk) - 1, [], []
    epoch = 1
    for attempt in range(rng.randrange(1, 12)):
        epoch += rng.random() < 0.3
        position, rows = head + 1, []
        while position <= last_of(chunk) and (not rows or rng.random() < 0.7):
            count = rng.randint(1, min(40, last_of(chunk) + 1 - position))
            rows.append(Segment(position, count, float(attempt), 1, 0))
            position += count
        if not rows:
            break
        commits = rng.random() < 0.6
        arrives = 1.0 if commits else rng.random()
        written += [Written(row, stamp(epoch, attempt)) for row in rows if rng.random() < arrives or commits]
        if commits:
            committed += rows
            head = rows[-1].end
    table: dict[int, Written] = {}
    rng.shuffle(written)
    for each in written:
        there = table.get(each.row.position)
        if there is None or there.at < each.at:
            table[each.row.position] = each
    rows = [table[position].row for position in sorted(table)]
    assert list(scan(rows, first_of(chunk), head)) == committed
    known = rng.randrange(len(committed) + 1)
    begin = committed[known].position if known < len(committed) else head + 1
    later = [row for row in rows if row.position >= begin]
    assert list(scan(later, begin, head)) == committed[known:]


def test_what_is_missing_ends_the_walk():
    rows = [Segment(at, 10, 0.0, 1, 0) for at in (1, 11, 31, 41)]
    assert [each.position for each in scan(rows, 1, 50)] == [1, 11]
