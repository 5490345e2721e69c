"""Opening a session: the cluster, who is let in, and one sentence where that fails."""

import asyncio
import logging
import random
import socket
import ssl

from cassandra import ConsistencyLevel, ProtocolVersion
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.cluster import Session as DriverSession
from cassandra.policies import (
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    ExponentialReconnectionPolicy,
    FallthroughRetryPolicy,
    NoSpeculativeExecutionPolicy,
    TokenAwarePolicy,
)

from environment.addresses import UnusableFile
from environment.errors import StoreBroken, StoreUnavailable
from environment.stores.cassandra.driver.address import CassandraAddress
from environment.stores.cassandra.driver.bridge import in_thread, named_rows
from environment.stores.cassandra.driver.refusals import refusal
from environment.stores.cassandra.driver.session import CONDITIONAL, PLAIN, SERIAL, Session
from environment.stores.cassandra.driver.settings import CassandraSettings

_LOGGERS = ("cassandra.cluster", "cassandra.pool", "cassandra.connection", "cassandra.protocol")
_TOLD = (
    "Control connection failed to connect",  # the session raises it, with what to put right
    "Error preparing query",  # the same
    "Server warning: `USE <keyspace>` with prepared statements",  # here the keyspace goes with each statement
)


async def open_session(
    address: CassandraAddress,
    settings: CassandraSettings | None = None,
    *,
    rng: random.Random,
    keyspace: bool = True,
) -> Session:
    """Connect, within ``settings.connect_timeout``. ``rng`` draws the pauses between attempts.

    ``keyspace`` false connects to the cluster only, to make the keyspace. Raises ``StoreUnavailable`` where no server
    answers and ``StoreBroken`` where the address, a secret or a certificate must be put right.
    """
    settings = settings or CassandraSettings()
    calm()
    try:
        secret, tls = address.password(), address.tls_context()
    except UnusableFile as error:
        raise StoreBroken(str(error.path), f"{error.option} {error.why}") from None
    try:
        async with asyncio.timeout(settings.connect_timeout):
            cluster, driver = await in_thread(
                lambda: _connect(address, settings, secret, tls, keyspace=keyspace),
                undo=lambda made: made[0].shutdown(),
            )
    except TimeoutError:
        raise StoreUnavailable(f"{address} did not answer within {settings.connect_timeout:g} s") from None
    return Session(cluster, driver, address, settings, rng, address.keyspace if keyspace else None)


def _connect(
    address: CassandraAddress,
    settings: CassandraSettings,
    secret: str | None,
    tls: ssl.SSLContext | None,
    *,
    keyspace: bool,
) -> tuple[Cluster, DriverSession]:
    try:
        cluster = _cluster(address, settings, secret, tls)
    except Exception as error:  # noqa: BLE001 - names that cannot be resolved come in many classes
        raise refusal(error, address) from None
    try:
        driver = cluster.connect()
    except Exception as error:  # noqa: BLE001 - translated, whatever it is
        dcs = sorted({host.datacenter for host in cluster.metadata.all_hosts() if host.datacenter})
        cluster.shutdown()
        if dcs and address.dc not in dcs:
            raise StoreBroken(
                str(address), f"the cluster has no data centre {address.dc!r}: it has {', '.join(dcs)}"
            ) from None
        raise refusal(error, address) from None
    if keyspace and address.keyspace not in cluster.metadata.keyspaces:
        cluster.shutdown()
        raise StoreBroken(
            str(address), f"there is no keyspace {address.keyspace!r}: `submind migrate --create` makes it"
        )
    return cluster, driver


def _cluster(
    address: CassandraAddress, settings: CassandraSettings, secret: str | None, tls: ssl.SSLContext | None
) -> Cluster:
    plain = _profile(address, settings, speculate=True)
    return Cluster(
        contact_points=list(address.hosts),
        port=address.hosts[0][1],
        protocol_version=ProtocolVersion.V5,
        auth_provider=None if secret is None else PlainTextAuthProvider(address.username, secret),
        ssl_context=tls,
        connect_timeout=settings.connect_timeout / 2,
        control_connection_timeout=settings.connect_timeout / 2,
        idle_heartbeat_interval=settings.heartbeat,
        idle_heartbeat_timeout=settings.heartbeat,
        sockopts=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],  # else several requests in a row wait 40 ms for an ACK
        reconnection_policy=ExponentialReconnectionPolicy(0.5, settings.reconnect_within, max_attempts=None),
        execution_profiles={
            EXEC_PROFILE_DEFAULT: plain,
            PLAIN: plain,
            CONDITIONAL: _profile(address, settings, speculate=False),
            SERIAL: _profile(address, settings, speculate=True, consistency=ConsistencyLevel.LOCAL_SERIAL),
        },
    )


def _profile(
    address: CassandraAddress,
    settings: CassandraSettings,
    *,
    speculate: bool,
    consistency: int = ConsistencyLevel.LOCAL_QUORUM,
) -> ExecutionProfile:
    speculate = speculate and settings.speculate_after > 0
    return ExecutionProfile(
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy(address.dc), shuffle_replicas=speculate),
        retry_policy=FallthroughRetryPolicy(),  # the session repeats, it knows what may be
        consistency_level=consistency,
        serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL,
        request_timeout=settings.request_timeout,
        row_factory=named_rows,
        speculative_execution_policy=(
            ConstantSpeculativeExecutionPolicy(settings.speculate_after, 1)
            if speculate
            else NoSpeculativeExecutionPolicy()
        ),
    )


def calm() -> None:
    """From now on the driver logs no tracebacks, and nothing that is told elsewhere. May be called again."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_readable)


def _readable(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    if message.startswith(_TOLD):
        return False
    if record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        record.msg = f"{message.rstrip(' :')}: {type(error).__name__}: {' '.join(str(error).split())}"
        record.args = ()
    record.exc_info, record.exc_text = None, None
    return True
