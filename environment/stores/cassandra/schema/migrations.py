"""The tables of a keyspace, brought up to date by numbered files, one runner at a time."""

import asyncio
import contextlib
import hashlib
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from environment.errors import StoreBroken, StoreUnavailable, WrongSchema
from environment.stores.cassandra.driver.errors import NoSuchTable, OutcomeUnknown
from environment.stores.cassandra.driver.session import Session

T = TypeVar("T")

SCHEMA = Path(__file__).parent
_AGREEMENT = 20.0
"""How long nodes may take to agree on a schema, in seconds."""
_COMMENT = re.compile(r"--.*")
_LEAST = re.compile(r"^-- runs with schema (\d+)$", re.MULTILINE)

# Every write to it is conditional: claims, renewals and records are decided in one order.
_TABLE = """CREATE TABLE IF NOT EXISTS schema_migrations (
    scope text, number int, name text, checksum text, holder text static, least int, PRIMARY KEY ((scope), number))"""
_CLAIM = "UPDATE schema_migrations USING TTL ? SET holder = ? WHERE scope = 'submind' IF holder = null"
_RENEW = "UPDATE schema_migrations USING TTL ? SET holder = ? WHERE scope = 'submind' IF holder = ?"
_RELEASE = "UPDATE schema_migrations SET holder = null WHERE scope = 'submind' IF holder = ?"
_RECORD = """BEGIN BATCH
    UPDATE schema_migrations USING TTL ? SET holder = ? WHERE scope = 'submind' IF holder = ?;
    UPDATE schema_migrations SET name = ?, checksum = ?, least = ? WHERE scope = 'submind' AND number = ?;
    APPLY BATCH"""
_APPLIED = "SELECT number, name, checksum, least FROM schema_migrations WHERE scope = 'submind'"
_HOLDER = "SELECT holder FROM schema_migrations WHERE scope = 'submind' LIMIT 1"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    statements: tuple[str, ...]
    least: int = 0
    """The oldest schema whose versions still run once this is applied, so that they can be gone back to; 0: its own
    alone. A file says so in a line of its own: ``-- runs with schema 5``."""

    @property
    def checksum(self) -> str:
        """Of the statements: comments and layout may change, what is done may not."""
        return hashlib.sha256("\n".join(self.statements).encode()).hexdigest()[:32]

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.number:03}_{self.name}.cql"


def load_migrations(directory: Path | None = None) -> tuple[Migration, ...]:
    """The migrations in a directory, by number from 1 on; without one, those that this version knows.

    Each only adds and may be repeated. Comments end their line, and no statement holds a semicolon.
    """
    found: list[Migration] = []
    for number, path in enumerate(sorted((directory or SCHEMA).glob("*.cql")), 1):
        text = path.read_text("utf-8")
        least = _LEAST.search(text)
        statements = [" ".join(each.split()) for each in _COMMENT.sub("", text).split(";")]
        made = tuple(each for each in statements if each)
        found.append(Migration(number, path.stem.partition("_")[2], made, int(least[1]) if least else 0))
    return tuple(found)


async def applied(session: Session, known: Sequence[Migration]) -> int:
    """The number of the newest migration that is in the keyspace, 0 where none is.

    Newer ones that say that this version still runs do not count. Raises ``StoreBroken``, naming the file, where one
    was applied in another form than this version knows.
    """
    try:
        select = await session.prepare(_APPLIED)
    except NoSuchTable:
        return 0
    rows = {row.number: row for row in await session.serial(select) if row.number is not None}
    for migration in known:
        row = rows.get(migration.number)
        if row is not None and row.checksum != migration.checksum:
            raise StoreBroken(
                str(session.address),
                f"migration {row.number:03}_{row.name}.cql was applied with checksum {row.checksum}, and this "
                f"version's {migration.file} has {migration.checksum}: another version made this keyspace. Run that "
                "one, or make a new keyspace and restore a backup into it",
            )
    newer = [row for number, row in rows.items() if number > len(known)]
    if newer and all(0 < (row.least or 0) <= len(known) for row in newer):
        return len(known)
    return max(rows, default=0)


async def require_schema(session: Session, known: Sequence[Migration] | None = None) -> None:
    """Raise ``WrongSchema`` unless the keyspace has the schema this version knows, or one that it still runs on."""
    known = load_migrations() if known is None else known
    found = await applied(session, known)
    if found < len(known):
        raise WrongSchema(found, len(known), "run `submind migrate` with this version")
    if found > len(known):
        raise WrongSchema(found, len(known), "a newer version has migrated it: run that version")


async def migrate(
    session: Session,
    known: Sequence[Migration] | None = None,
    *,
    runner: str,
    rng: random.Random,
    holds: int = 30,
    wait: float = 120.0,
    told: Callable[[Migration], None] = lambda _: None,
) -> list[Migration]:
    """Apply what is missing, in order; what was applied by this call. May be repeated, also after a crash at any point.

    One runner at a time: others wait until it is done or, where it died, until its claim expires, ``holds`` seconds
    later by the servers' clocks. ``runner`` names this one, differently from every other. ``told`` is called after each
    migration. Raises ``WrongSchema`` where the keyspace is newer than this version, ``StoreUnavailable`` where another
    runner holds its claim for longer than ``wait`` seconds.
    """
    known = load_migrations() if known is None else known
    if await _up_to_date(session, known):
        return []
    await session.run(_TABLE)
    done: list[Migration] = []
    async with _claimed(session, runner, rng, holds, wait):
        if await _up_to_date(session, known):
            return []
        found = await applied(session, known)
        for migration in known[found:]:
            for statement in migration.statements:
                await session.run(statement)
            await _record(session, migration, runner, holds)
            done.append(migration)
            told(migration)
    return done


async def _up_to_date(session: Session, known: Sequence[Migration]) -> bool:
    found = await applied(session, known)
    if found > len(known):
        raise WrongSchema(found, len(known), "a newer version has migrated it: nothing is left to do for this one")
    return found == len(known)


@contextlib.asynccontextmanager
async def _claimed(session: Session, runner: str, rng: random.Random, holds: int, wait: float) -> AsyncIterator[None]:
    """Hold the claim; it is renewed while the body runs, and expires by itself where this process dies."""
    texts = (_CLAIM, _RENEW, _RELEASE, _HOLDER)
    take, renew, release, holder = [await _agreed(partial(session.prepare, cql)) for cql in texts]
    loop = asyncio.get_running_loop()
    until = loop.time() + wait
    while True:
        with contextlib.suppress(OutcomeUnknown):
            await _agreed(partial(session.conditional, take, (holds, runner)))
        rows = await _agreed(partial(session.serial, holder))
        other = rows[0].holder if rows else None
        if other == runner:
            break
        if loop.time() > until:
            raise StoreUnavailable(f"{session.address} is being migrated by {other}: wait until it is done")
        await asyncio.sleep(rng.uniform(0.1, 0.5))

    async def keep() -> None:
        while True:
            await asyncio.sleep(holds / 3)
            with contextlib.suppress(StoreUnavailable):
                await session.conditional(renew, (holds, runner, runner))

    keeping = asyncio.ensure_future(keep())
    try:
        yield
    finally:
        keeping.cancel()
        with contextlib.suppress(StoreUnavailable):  # it expires
            await session.conditional(release, (runner,))


async def _agreed(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask about a table that another runner may have made a moment ago: a node may not know it yet."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _AGREEMENT
    while True:
        try:
            return await ask()
        except NoSuchTable:
            if loop.time() > until:
                raise
        await asyncio.sleep(0.1)


async def _record(session: Session, migration: Migration, runner: str, holds: int) -> None:
    """Write down that a migration is done, while the claim is still this runner's."""
    record = await session.prepare(_RECORD)
    values = (holds, runner, runner, migration.name, migration.checksum, migration.least, migration.number)
    try:
        kept = await session.conditional(record, values)
    except OutcomeUnknown:
        kept = any(row.number == migration.number for row in await session.serial(await session.prepare(_APPLIED)))
    if not kept:
        raise StoreUnavailable(f"the claim on {session.address} was lost while {migration.file} was applied: repeat")
