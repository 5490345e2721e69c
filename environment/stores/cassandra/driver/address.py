"""Where a mind's Cassandra is: ``cassandra://host[:port],host[:port]/keyspace?dc=...``."""

import re
from dataclasses import dataclass

from environment.addresses import ClusterAddress, InvalidAddress, parse_cluster

DEFAULT_PORT = 9042
FORM = "cassandra://host[:port],host[:port]/keyspace?dc=NAME"

_KEYSPACE = re.compile(r"[a-z][a-z0-9_]{0,47}")


@dataclass(frozen=True, slots=True)
class CassandraAddress(ClusterAddress):
    """A cluster and the keyspace in it. Its hosts are contact points: the rest of the cluster is learnt from them."""

    keyspace: str
    dc: str
    """The data centre whose replicas serve this mind (``LOCAL_QUORUM``); every process of a mind names the same."""

    def __str__(self) -> str:
        """The address without its options, as people name it; safe in any log."""
        return f"cassandra://{self.endpoints}/{self.keyspace}"


def parse_address(text: str) -> CassandraAddress:
    """Read an address. Raises ``InvalidAddress``, whose text never repeats what might be a secret."""
    hosts, keyspace, options, login = parse_cluster(text, FORM, DEFAULT_PORT, ("dc",))
    if not keyspace:
        raise InvalidAddress(f"the address names no keyspace: it has the form {FORM}")
    if "dc" not in options:
        raise InvalidAddress("the address names no data centre: add ?dc=NAME (`nodetool status` shows the names)")
    return CassandraAddress(hosts, _keyspace(keyspace), options["dc"], **login)


def _keyspace(text: str) -> str:
    if not _KEYSPACE.fullmatch(text):
        raise InvalidAddress(
            f"{text!r} is not a keyspace: use up to 48 lower-case letters, digits and underscores, a letter first"
        )
    return text
