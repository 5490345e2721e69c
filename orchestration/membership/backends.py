"""Finding agreement by address."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from orchestration.membership.alone import Alone
from orchestration.membership.errors import BadCoordination
from orchestration.membership.ports import Coordination
from orchestration.membership.settings import CoordinationSettings
from orchestration.settings import Settings


def coordination_of(settings: Settings) -> AbstractAsyncContextManager[Coordination]:
    """``open_coordination`` of the mind of these settings."""
    section = settings.coordination
    return open_coordination(section.address, settings.mind.name, settings=section, base=settings)


@asynccontextmanager
async def open_coordination(
    address: str | None, mind: str, *, settings: CoordinationSettings | None = None, base: Settings | None = None
) -> AsyncIterator[Coordination]:
    """The coordination of ``mind`` at ``address``; None: alone. Everything is let go when the block ends.

    ``base`` are the settings of file and environment, over which live ones are laid and against which they are checked.
    Raises ``BadCoordination`` in one sentence when the address cannot be used, within ``settings.connect_timeout``.
    """
    settings = settings or CoordinationSettings()
    base = base or Settings()
    coordination: Coordination
    if address is None or address == "alone":
        coordination = Alone()
    elif address.startswith("etcd://"):
        from orchestration.membership.etcd.coordination import open_etcd  # noqa: PLC0415 - only where it is used

        coordination = await open_etcd(address, mind, settings, base)
    else:
        raise BadCoordination(
            f"a coordination is written etcd://HOST:PORT, or left out where one process is enough; not {address[:60]!r}"
        )
    try:
        yield coordination
    finally:
        await coordination.close()
