"""Addresses: what is understood, and what is refused without repeating a secret."""

from pathlib import Path

import pytest

from environment.addresses import InvalidAddress
from environment.stores.cassandra.driver.address import CassandraAddress, parse_address


def test_hosts_ports_and_options_are_understood():
    address = parse_address(
        "cassandra://one,two:19042,[::1]:9043/minds?dc=east&username=submind&password_file=/run/secrets/p%20w"
        "&ca_file=/etc/ca.pem&cert_file=c.pem&key_file=k.pem"
    )
    assert address == CassandraAddress(
        hosts=(("one", 9042), ("two", 19042), ("::1", 9043)),
        keyspace="minds",
        dc="east",
        username="submind",
        password_file=Path("/run/secrets/p w"),
        ca_file=Path("/etc/ca.pem"),
        cert_file=Path("c.pem"),
        key_file=Path("k.pem"),
    )
    assert address.tls
    assert str(address) == "cassandra://one:9042,two:19042,[::1]:9043/minds"
    assert not parse_address("cassandra://a/b?dc=c").tls


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("sqlite:here", "to have the form"),
        ("cassandra:/a/b?dc=c", "to have the form"),
        ("cassandra://a?dc=c", "names no keyspace"),
        ("cassandra://a/b", r"\?dc=NAME"),
        ("cassandra://a/b?dc=", "'dc' of an address is given once, with a value"),
        ("cassandra://a/b?dc=c&dc=d", "is given once"),
        ("cassandra://a/b?dc=c&colour=red", "no option 'colour': it knows dc, username"),
        ("cassandra://a/b?dc=c&username=me", "password_file come together"),
        ("cassandra://a/b?dc=c&cert_file=x", "key_file come together"),
        ("cassandra://a:70000/b?dc=c", "'a:70000' is not HOST:PORT"),
        ("cassandra:///b?dc=c", "is not HOST:PORT"),
        ("cassandra://a/B?dc=c", "not a keyspace"),
        ("cassandra://a/b%3B%20DROP?dc=c", "not a keyspace"),
        (f"cassandra://a/{'k' * 49}?dc=c", "not a keyspace"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(text, what):
    with pytest.raises(InvalidAddress, match=what):
        parse_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "cassandra://me:hunter2@a/b?dc=c",
        "cassandra://a/b?dc=c&password=hunter2",
        "cassandra://a/b?dc=c&username=me&password=hunter2",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(text):
    with pytest.raises(InvalidAddress, match="holds no password") as refused:
        parse_address(text)
    assert "hunter2" not in str(refused.value)
