"""Rows of one partition, written as one mutation: one request, and for the servers hardly more than one row."""

from collections.abc import Sequence

from cassandra.query import BatchStatement, BatchType, BoundStatement, Statement

_BYTES = 4096
"""Of what is bound in one batch: servers warn of those above 5 KiB."""


def gathered(statements: Sequence[BoundStatement]) -> list[Statement]:
    """The statements, those of one partition of a table in unlogged batches; all of them may be repeated."""
    partitions: dict[tuple[str, bytes | None], list[list[BoundStatement]]] = {}
    sizes: dict[tuple[str, bytes | None], int] = {}
    for statement in statements:
        place = (statement.prepared_statement.column_metadata[0].table_name, statement.routing_key)
        size = sum(len(value) for value in statement.values if isinstance(value, bytes))
        batches = partitions.setdefault(place, [[]])
        if batches[-1] and sizes[place] + size > _BYTES:
            batches.append([])
        sizes[place] = size + (sizes[place] if batches[-1] else 0)
        batches[-1].append(statement)
    return [_batch(batch) for batches in partitions.values() for batch in batches]


def _batch(statements: Sequence[BoundStatement]) -> Statement:
    if len(statements) == 1:
        return statements[0]
    batch = BatchStatement(BatchType.UNLOGGED)
    for statement in statements:
        batch.add(statement)
    batch.is_idempotent = True
    return batch
