"""Requests to whichever member of etcd answers.

Built on aetcd 1.0, whose client lacks TLS and whose watcher can block for good when a stream breaks while it is being
set up: so a member's channel is opened here, and watching is in ``watch.py``, both with aetcd's stubs.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import aetcd
import grpc
import structlog
from aetcd import rpc
from aetcd.rtypes import KeyValue

from environment.addresses import endpoint_label
from orchestration.membership.errors import CoordinationUnavailable
from orchestration.membership.etcd.address import EtcdAddress, EtcdCredentials
from orchestration.membership.etcd.faults import Fault, coordination_error, fault_of

T = TypeVar("T")
_log = structlog.get_logger(__name__)

_CHANNEL = {
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.min_reconnect_backoff_ms": 500,
    "grpc.max_reconnect_backoff_ms": 1000,  # the default of two minutes would outlast every lease
    "grpc.keepalive_time_ms": 10_000,  # etcd's servers allow one in 5 s
    "grpc.keepalive_timeout_ms": 3_000,
    "grpc.enable_retries": 0,
    "grpc.use_local_subchannel_pool": 1,
}


@dataclass(frozen=True, slots=True)
class Kv:
    """A key as it was at some revision."""

    key: str
    value: bytes
    mod: int
    """Revision of its last change."""
    lease: int


class EtcdMember(aetcd.Client):  # type: ignore[misc]  # aetcd has no types
    """One member, on a channel of its own."""

    def __init__(
        self, host: str, port: int, address: EtcdAddress, credentials: EtcdCredentials, timeout: float
    ) -> None:
        super().__init__(host, port, address.username, credentials.password, timeout, _CHANNEL)
        self.host = host
        self.port = port
        self.credentials = credentials
        self.label = endpoint_label(host, port)
        self._tls = (
            grpc.ssl_channel_credentials(credentials.ca, credentials.key, credentials.cert) if address.tls else None
        )
        self._opening = asyncio.Lock()
        self.metadata: tuple[tuple[str, str], ...] | None = None

    async def connect(self) -> None:
        """As aetcd's, with TLS where the address asks for it, and safe for many callers at once."""
        async with self._opening:
            if self._connected.is_set():
                return
            options = list(self._options.items())
            channel = (
                rpc.insecure_channel(self.label, options=options)
                if self._tls is None
                else rpc.secure_channel(self.label, self._tls, options=options)
            )
            try:
                self.metadata = await self._prove(channel)
            except BaseException:
                await channel.close()
                raise
            self.channel = channel
            self.kvstub, self.leasestub = rpc.KVStub(channel), rpc.LeaseStub(channel)
            self.clusterstub, self.maintenancestub = rpc.ClusterStub(channel), rpc.MaintenanceStub(channel)
            self._connected.set()

    async def prove(self, stale: tuple[tuple[str, str], ...] | None) -> None:
        """Say anew who we are, unless that was done since ``stale``: on the same channel, as others are using it."""
        async with self._opening:
            if self.channel is not None and self.metadata == stale:
                self.metadata = await self._prove(self.channel)

    async def _prove(self, channel: grpc.aio.Channel) -> tuple[tuple[str, str], ...] | None:
        if self._username is None:
            return None
        request = rpc.AuthenticateRequest(name=self._username, password=self._password)
        answer = await rpc.AuthStub(channel).Authenticate(request, timeout=self._timeout)
        return (("token", answer.token),)

    async def close(self) -> None:
        """Close the channel; it may be opened again."""
        async with self._opening:
            channel, self.channel = self.channel, None
            self._connected.clear()
            self.metadata = None
        if channel is not None:
            await channel.close()


class EtcdClient:
    """Asks one member after the other until one answers, where asking again can do no harm.

    Every method raises ``CoordinationUnavailable`` within ``timeout`` times the number of members, and
    ``BadCoordination`` where asking again is of no use.
    """

    def __init__(self, address: EtcdAddress, credentials: EtcdCredentials, prefix: str, timeout: float) -> None:
        self.address = address
        self.prefix = prefix
        self.timeout = timeout
        self.members = [EtcdMember(host, port, address, credentials, timeout) for host, port in address.hosts]
        self.turned = 0
        """Times that another member was asked because one did not answer."""
        self._at = random.SystemRandom().randrange(len(self.members))

    async def get(self, key: str) -> Kv | None:
        """A key as it is now (linearizable)."""
        found = await self._ask(lambda member: member.get(key.encode()), again=True)
        return None if found is None else _kv(found)

    async def range(self, prefix: str) -> tuple[dict[str, Kv], int]:
        """All keys under a prefix, and the revision at which they were so."""
        found = await self._ask(lambda member: member.get_prefix(prefix.encode()), again=True)
        return {kv.key: kv for kv in map(_kv, found)}, int(found.header.revision)

    async def put(self, key: str, value: bytes, lease: int | None = None) -> int:
        """Write a key; the revision of that. Asks again: writing the same twice changes nothing."""
        done = await self._ask(lambda member: member.put(key.encode(), value, lease), again=True)
        return int(done.header.revision)

    async def delete(self, key: str) -> None:
        """Delete a key, there or not."""
        await self._ask(lambda member: member.delete(key.encode()), again=True)

    async def transact(self, compare: Sequence[Any], success: Sequence[Any]) -> bool:
        """Do ``success`` if all of ``compare`` holds; whether it did. Not asked again where it may have been done."""
        done, _ = await self._ask(lambda member: member.transaction(compare, success, []), again=False)
        return bool(done)

    async def grant(self, ttl: float) -> tuple[int, float]:
        """A new lease: its id and its length."""
        lease = await self._ask(lambda member: member.lease(max(1, round(ttl)), 0), again=False)
        return int(lease.id), float(lease.ttl)

    async def renew(self, lease: int) -> float:
        """Renew a lease; how long it runs, 0 when it is over."""
        answer = await self._ask(lambda member: member.refresh_lease(lease), again=True)
        if answer is None:
            raise CoordinationUnavailable("etcd ended the conversation about a lease")
        return float(answer.TTL)

    async def revoke(self, lease: int) -> None:
        """End a lease; its keys go. One that is over already is no error."""
        try:
            await self._ask(lambda member: member.revoke_lease(lease), again=True)
        except CoordinationUnavailable as error:
            if "lease not found" not in error.reason:
                raise

    async def member(self) -> EtcdMember:
        """The member that is asked now, connected."""
        member = self.members[self._at]
        try:
            await member.connect()
        except (aetcd.ClientError, rpc.AioRpcError) as error:
            self.turn_from(member)
            raise coordination_error(error, member.label, self.prefix) from error
        return member

    def turn_from(self, member: EtcdMember) -> None:
        """Ask another one from now on."""
        if self.members[self._at] is member and len(self.members) > 1:
            self._at = (self._at + 1) % len(self.members)
            self.turned += 1

    async def close(self) -> None:
        """Close the channels to all members; requests under way fail. May be called twice."""
        await asyncio.gather(*(member.close() for member in self.members), return_exceptions=True)

    async def _ask(self, request: Callable[[EtcdMember], Awaitable[T]], *, again: bool) -> T:
        stale = False
        left = len(self.members)
        while True:
            member = self.members[self._at]
            proof = member.metadata
            try:
                if stale:
                    await member.prove(proof)
                return await request(member)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():  # we are, and not the call by a channel that closes
                    self.turn_from(member)  # perhaps because it took too long
                    raise
                raise CoordinationUnavailable(f"the connection to {member.label} was closed") from None
            except (aetcd.ClientError, rpc.AioRpcError) as error:
                fault = fault_of(error)
                if fault is Fault.STALE and not stale:
                    stale = True
                    continue
                if fault is not Fault.BAD:
                    self.turn_from(member)
                left -= 1
                if left <= 0 or fault is Fault.BAD or not (again or fault is Fault.REFUSED):
                    raise coordination_error(error, member.label, self.prefix) from error


def _kv(found: KeyValue) -> Kv:
    return Kv(found.key.decode(), bytes(found.value), int(found.mod_revision), int(found.lease))
