"""``submind migrate``: the tables of a mind's Cassandra, brought to this version's schema."""

import asyncio
import os
import random
import secrets
import socket
from typing import Annotated

import typer

from environment.errors import StoreBroken, StoreUnavailable, SubliminalError, WrongSchema
from environment.stores.opening import directory_of
from orchestration.cli.failure import MISUSED, Failure
from orchestration.cli.options import MindFile, StoreAddress
from orchestration.cli.output import console
from orchestration.host.settings import StoreSettings
from orchestration.loading import load_settings

_AGAIN = 2.0
"""Seconds between two attempts while a store is waited for."""


def migrate(
    mind: MindFile = None,
    store: StoreAddress = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit code 1 when there is work to do.")
    ] = False,
    create: Annotated[bool, typer.Option("--create", help="Make the keyspace first, if it is not there.")] = False,
    replication: Annotated[
        int, typer.Option(min=1, metavar="N", help="Copies of each row in the keyspace that --create makes.")
    ] = 3,
    wait: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="How long a store that does not answer yet is waited for; with --check, one without its tables too.",
        ),
    ] = 0.0,
) -> None:
    """Bring the tables of a mind's Cassandra to this version's schema. One runner at a time; safe to repeat."""
    if check and create:
        raise Failure("--check changes nothing and --create does: give one of them", MISUSED)
    settings = load_settings(mind, flags={"--store": ("store.address", store)})
    address = settings.store.address
    if not address or directory_of(address) is not None:
        console().print("an embedded store is migrated when a mind opens it: nothing to do")
        return
    asyncio.run(_patiently(settings.store, wait, check=check, replication=replication if create else None))


async def _patiently(store: StoreSettings, wait: float, *, check: bool, replication: int | None) -> None:
    """``_migrate``, again and again for ``wait`` seconds; what it waits for is said once."""
    until = asyncio.get_running_loop().time() + wait
    told = ""
    while True:
        try:
            return await _migrate(store, check=check, replication=replication)
        except SubliminalError as error:
            passing = isinstance(error, StoreUnavailable) or (check and isinstance(error, StoreBroken | WrongSchema))
            if not passing or asyncio.get_running_loop().time() >= until:
                raise
            if told != str(error):
                told = str(error)
                console(error=True).print(f"waiting: {told}", highlight=False)
        await asyncio.sleep(_AGAIN)


async def _migrate(store: StoreSettings, *, check: bool, replication: int | None) -> None:
    from environment.stores.cassandra.driver.address import parse_address  # noqa: PLC0415
    from environment.stores.cassandra.driver.connecting import open_session  # noqa: PLC0415
    from environment.stores.cassandra.schema import migrations  # noqa: PLC0415 - the driver, where it is used
    from environment.stores.cassandra.schema.keyspaces import create_keyspace  # noqa: PLC0415

    address = parse_address(store.address)
    rng = random.SystemRandom()
    out = console()
    if replication is not None and await create_keyspace(address, replication, store.cassandra, rng=rng):
        out.print(f"made keyspace {address.keyspace} with {replication} copies in {address.dc}")
    session = await open_session(address, store.cassandra, rng=rng)
    try:
        known = migrations.load_migrations()
        if check:
            await migrations.require_schema(session, known)
        else:
            await migrations.migrate(
                session,
                known,
                runner=f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}",
                rng=rng,
                told=lambda migration: out.print(f"applied {migration.file}"),
            )
        out.print(f"{address} has schema {len(known)}, which this version knows")
    finally:
        await session.close()
