"""All that the processes of one mind agree on, in etcd."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import KW_ONLY, InitVar, dataclass

from environment.messages import Instant
from orchestration.clock import wall
from orchestration.membership.etcd.address import parse_address, read_credentials
from orchestration.membership.etcd.client import EtcdClient
from orchestration.membership.etcd.configuration import EtcdConfiguration
from orchestration.membership.etcd.diagnosis import examine, member_condition
from orchestration.membership.etcd.term import EtcdTerm, leader_of
from orchestration.membership.etcd.watch import mirror
from orchestration.membership.keys import ROOT, Keys
from orchestration.membership.ports import Leader, LeaderTerm
from orchestration.membership.settings import CoordinationSettings
from orchestration.settings import Settings

_BOOT = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Seconds of a clock that only goes forward, also while the machine sleeps, where the system has such a one."""
    return time.monotonic() if _BOOT is None else time.clock_gettime(_BOOT)


@dataclass(eq=False, repr=False)
class EtcdCoordination:
    """``Coordination`` in etcd."""

    _client: EtcdClient
    _keys: Keys
    _settings: CoordinationSettings
    base: InitVar[Settings]
    _: KW_ONLY
    _wall: Callable[[], Instant] = wall
    _clock: Callable[[], float] = lease_clock

    def __post_init__(self, base: Settings) -> None:
        self._terms: set[EtcdTerm] = set()
        self._closed = False
        self.address = self._client.address.label
        self.configuration = EtcdConfiguration(self._client, self._keys, self._settings, base)

    @asynccontextmanager
    async def leadership(self, candidate: str) -> AsyncIterator[LeaderTerm]:
        term = EtcdTerm(self._client, self._keys, candidate, self._settings, wall=self._wall, lease_clock=self._clock)
        self._terms.add(term)
        try:
            await term.until_elected()
            yield term
        finally:
            self._terms.discard(term)
            await term.end()

    async def leader(self) -> Leader | None:
        return leader_of(await self._client.get(self._keys.leader))

    async def leaders(self) -> AsyncIterator[Leader | None]:
        key, retry = self._keys.leader, min(self._settings.request_timeout, 1.0)
        async with aclosing(mirror(self._client, key, self._settings.lease, retry)) as states:
            async for state in states:
                yield leader_of(state.get(key))

    async def figures(self) -> Mapping[str, float]:
        members = await asyncio.gather(*map(member_condition, self._client.members))
        return {
            "coordination_members": float(len(members)),
            "coordination_members_answering": float(sum(member is not None for member in members)),
            "coordination_quorum": float(any(member is not None and member.quorum for member in members)),
            "coordination_leads": float(any(term.leads() for term in self._terms)),
            "coordination_members_turned_from_total": float(self._client.turned),
        }

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await asyncio.gather(*(term.end() for term in self._terms))
        await self._client.close()


async def open_etcd(
    address: str, mind: str, settings: CoordinationSettings, base: Settings, *, root: str = ROOT
) -> EtcdCoordination:
    """Connect to the etcd at ``address``.

    Raises within ``settings.connect_timeout``, in one sentence: ``BadCoordination`` where the address, a file, a
    certificate, the password or a permission is wrong; ``CoordinationUnavailable`` where nobody answers or the members
    that do are too few to decide anything.
    """
    parsed = parse_address(address)
    credentials = await asyncio.to_thread(read_credentials, parsed)
    keys = Keys(mind, root)
    client = EtcdClient(parsed, credentials, keys.prefix, settings.request_timeout)
    try:
        await examine(client, settings.connect_timeout)
    except BaseException:
        await client.close()
        raise
    return EtcdCoordination(client, keys, settings, base)
