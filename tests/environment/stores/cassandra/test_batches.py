"""Rows of one partition go together, and end as they would have one by one."""

import secrets

from cassandra.query import BatchStatement

from environment.stores.cassandra.driver.batches import gathered

TABLE = "CREATE TABLE pairs (a int, b int, c blob, PRIMARY KEY ((a), b))"
OTHER = "CREATE TABLE others (a int, b int, c blob, PRIMARY KEY ((a), b))"
PUT = "INSERT INTO pairs (a, b, c) VALUES (?, ?, ?) USING TIMESTAMP ?"
PUT_OTHER = "INSERT INTO others (a, b, c) VALUES (?, ?, ?) USING TIMESTAMP ?"
CHANGE = "UPDATE pairs USING TIMESTAMP ? SET c = ? WHERE a = ? AND b = ?"
DROP = "DELETE FROM pairs USING TIMESTAMP ? WHERE a = ? AND b = ?"


async def test_what_is_written_together_is_what_was_asked_for(session):
    await session.run(TABLE)
    await session.run(OTHER)
    put, other, change, drop = [await session.prepare(cql) for cql in (PUT, PUT_OTHER, CHANGE, DROP)]
    rows = [(put, (n % 3, n, bytes([n]), 10)) for n in range(90)]
    rows += [(other, (n % 3, n, bytes([n]), 10)) for n in range(0, 90, 9)]
    rows += [(change, (20, b"new", n % 3, n)) for n in range(10)]
    rows += [(drop, (20, n % 3, n)) for n in range(10, 20)]
    rows += [(drop, (5, n % 3, n)) for n in range(20, 30)]  # earlier than what is put: it stays
    await session.write_all(rows)
    await session.write_all(rows)
    read = await session.prepare("SELECT a, b, c FROM pairs")
    there = {(row.a, row.b): row.c for row in await session.execute(read, idempotent=True)}
    expected = {(n % 3, n): b"new" if n < 10 else bytes([n]) for n in range(90) if not 10 <= n < 20}
    assert there == expected
    read = await session.prepare("SELECT a, b FROM others")
    assert len(await session.execute(read, idempotent=True)) == 10
    await session.write_all([])
    await session.write_all([(put, (7, 7, b"one", 1))])


async def test_they_go_by_partition_and_never_too_many_bytes_at_once(session):
    await session.run(TABLE)
    await session.run(OTHER)
    put, other = await session.prepare(PUT), await session.prepare(PUT_OTHER)
    large = secrets.token_bytes(1500)
    rows = [(put, (1, n, large, 1)) for n in range(7)]
    rows += [(put, (2, n, secrets.token_bytes(9000), 1)) for n in range(2)]
    rows += [(other, (1, n, b"", 1)) for n in range(4)]
    rows += [(put, (3, 1, b"", 1))]
    made = gathered([session._bind(*row, True, None) for row in rows])
    sizes = [len(each._statements_and_parameters) if isinstance(each, BatchStatement) else 1 for each in made]
    assert sizes == [2, 2, 2, 1, 1, 1, 4, 1]
    assert all(each.is_idempotent for each in made)
    assert len({each.routing_key for each in made}) == 3
