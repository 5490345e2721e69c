"""Whether an etcd can be used, and if not, why not, in one sentence."""

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass

import aetcd
from aetcd import rpc

from environment.addresses import endpoint_label, endpoint_of
from orchestration.membership.errors import BadCoordination, CoordinationError, CoordinationUnavailable
from orchestration.membership.etcd.address import EtcdAddress
from orchestration.membership.etcd.client import EtcdClient, EtcdMember
from orchestration.membership.etcd.faults import coordination_error

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""What an HTTP/2 client says first (RFC 9113, 3.4), and empty settings."""
_SETTINGS = 4
"""Type of the frame that an HTTP/2 server answers with."""
_FRAME = 9
_ALERT = 0x15
"""First byte of a TLS alert (RFC 8446, 5.1)."""


async def examine(client: EtcdClient, within: float) -> None:
    """Do something at etcd that needs everything: reaching it, being known, being allowed, a quorum.

    Raises ``BadCoordination`` or ``CoordinationUnavailable`` when no member can do it within so many seconds.
    """
    halves = within / 2  # one for trying, one for finding out
    tries = await asyncio.gather(*(_attempt(member, client.prefix, halves) for member in client.members))
    if any(fault is None for fault in tries):
        return
    faults = [fault for fault in tries if fault is not None]
    for fault in faults:
        if isinstance(fault, BadCoordination):
            raise fault
    found = await asyncio.gather(
        *(_why(member, client.address, fault, halves) for member, fault in zip(client.members, faults, strict=True))
    )
    for reason in found:
        if isinstance(reason, BadCoordination):
            raise reason
    raise CoordinationUnavailable("; ".join(dict.fromkeys(str(reason) for reason in found)))


@dataclass(frozen=True, slots=True)
class MemberCondition:
    """What a member says of itself."""

    quorum: bool
    """Whether it knows of a majority."""
    size: int
    """Bytes of its database."""
    alarms: tuple[str, ...]
    """``NOSPACE``, ``CORRUPT``: while one is raised, nothing is written anywhere."""


async def member_condition(member: EtcdMember, within: float = 2.0) -> MemberCondition | None:
    """How a member is; None when it does not answer ``within`` so many seconds."""
    with suppress(aetcd.ClientError, rpc.AioRpcError, TimeoutError):
        async with asyncio.timeout(within):
            await member.connect()
            said = await member.maintenancestub.Status(rpc.StatusRequest(), timeout=within, metadata=member.metadata)
            alarms = (error.rpartition("alarm:")[2].strip() for error in said.errors if "alarm:" in error)
            return MemberCondition(bool(said.leader), int(said.dbSize), tuple(dict.fromkeys(alarms)))
    return None


async def _attempt(member: EtcdMember, prefix: str, within: float) -> CoordinationError | None:
    """Read and write (a key that is not there is deleted, which changes nothing); None when it went well."""
    key = f"{prefix}examination".encode()
    try:
        async with asyncio.timeout(within):
            await member.delete(key)
            await member.get(key)
    except (aetcd.ClientError, rpc.AioRpcError) as error:
        return coordination_error(error, member.label, prefix, named=member.credentials.password is not None)
    except TimeoutError:
        return CoordinationUnavailable(f"{member.label} does not answer in time")
    return None


async def _why(member: EtcdMember, address: EtcdAddress, fault: CoordinationError, within: float) -> CoordinationError:
    """Why a member did not do it."""
    host, port = endpoint_of(member.label)
    try:
        async with asyncio.timeout(within * 0.6):
            reason = await _meet(host, port, address)
    except TimeoutError:
        return CoordinationUnavailable(f"nothing answers at {member.label}: check host, port and firewall")
    if reason is not None:
        return reason
    if await _has_lost_the_others(member, address, within * 0.35):
        return CoordinationUnavailable(
            f"the etcd at {member.label} answers but has no quorum: start more of its members, a majority is needed"
        )
    return fault


async def _has_lost_the_others(member: EtcdMember, address: EtcdAddress, within: float) -> bool:
    """Whether it says so; it also does to those who could not yet prove who they are."""
    anybody = EtcdMember(member._host, member._port, address, member.credentials, within)  # noqa: SLF001
    try:
        condition = await member_condition(anybody, within)
        return condition is not None and not condition.quorum
    finally:
        await anybody.close()


async def _meet(host: str, port: int, address: EtcdAddress) -> CoordinationError | None:
    """Say hello as an HTTP/2 client and hear what comes back; None when all is as it should be."""
    where = endpoint_label(host, port)
    context = address.tls_context()
    if context is not None:
        context.set_alpn_protocols(["h2"])  # else it is taken for a client of HTTP/1
    try:
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
    except ssl.SSLCertVerificationError as error:
        return BadCoordination(
            f"the certificate of {where} is not to be trusted by ca_file {address.ca_file}: {error.verify_message}"
        )
    except ssl.SSLError as error:
        return _tls_reason(where, address, error)
    except ConnectionRefusedError:
        return CoordinationUnavailable(f"nothing listens at {where}: check host and port, and whether etcd runs")
    except OSError as error:
        if address.tls and isinstance(error, ConnectionResetError):
            return BadCoordination(f"{where} does not speak TLS: leave ca_file, cert_file and key_file out")
        return CoordinationUnavailable(f"{where} cannot be reached: {error.strerror or error}")
    try:
        writer.write(_PREFACE)
        await writer.drain()
        answer = await reader.readexactly(_FRAME)
    except asyncio.IncompleteReadError as error:
        answer = error.partial
    except ssl.SSLError as error:
        return _tls_reason(where, address, error)
    except ConnectionError:
        answer = b""
    finally:
        writer.transport.abort()
    if len(answer) == _FRAME and answer[3] == _SETTINGS:
        return None
    if not address.tls and (not answer or answer[0] == _ALERT or answer.startswith(b"HTTP/1.")):
        return BadCoordination(
            f"{where} does not take plain connections: if it speaks TLS, name its authority with ca_file=FILE"
        )
    return BadCoordination(f"what answers at {where} does not speak etcd's protocol: check the port")


def _tls_reason(where: str, address: EtcdAddress, error: ssl.SSLError) -> BadCoordination:
    said = (error.reason or str(error)).lower().replace("_", " ")
    if "wrong version number" in said or "record layer" in said:
        return BadCoordination(f"{where} does not speak TLS: leave ca_file, cert_file and key_file out")
    if "certificate required" in said or (address.cert_file is None and "alert" in said):
        return BadCoordination(f"{where} asks for our certificate: name cert_file and key_file")
    if "alert" in said or "certificate" in said:
        return BadCoordination(f"{where} does not accept cert_file {address.cert_file}: {said}")
    return BadCoordination(f"no TLS connection to {where}: {said}")
