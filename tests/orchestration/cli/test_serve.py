"""What ``submind serve`` refuses, in a sentence, before anything is started."""

import pytest

from tests.orchestration.cli.conftest import submind

STORE = ("--store", "cassandra://127.0.0.1:1/minds?dc=dc1")
LEADER = ("--leader", "127.0.0.1:50052")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((), "give --store cassandra://HOST/KEYSPACE?dc=NAME"),
        (("--store", "sqlite:/var/lib/submind"), "a mind in files (SQLite) has one host"),
        (STORE, "nobody says who leads: give --coordination etcd://HOST:PORT, or --leader HOST:PORT"),
        ((*STORE, "--leader", "somewhere"), "write HOST:PORT"),
        ((*STORE, "--leader", "127.0.0.1:50051"), "is where this front listens itself"),
        ((*STORE, *LEADER, "--grpc", "none", "--http", "none"), "there is nothing to serve"),
        ((*STORE, *LEADER, "--grpc", "0.0.0.0:0"), "a token is required"),
        ((*STORE, *LEADER, "--probes", "0.0.0.0:0"), "a token is required"),
        ((*STORE, *LEADER, "--upstream-token-file", "/nonexistent"), "/nonexistent"),
    ],
)
async def test_what_cannot_be_served_is_code_2_and_a_sentence(args, told):
    done = await submind("serve", *args, starts=False)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.startswith("submind: ")


async def test_settings_that_mean_nothing_without_each_other(tmp_path):
    mind = tmp_path / "mind.yaml"
    mind.write_text("front: {upstream: {cert_file: a.pem}}")
    done = await submind("serve", *STORE, *LEADER, "--mind", mind, starts=False)
    assert done.code == 2
    assert "`cert_file` and `key_file` go together: give both, or neither" in done.err
    mind.write_text("mind: {clock: {start: 2026-03-03T06:00:00Z}}")
    done = await submind("serve", *STORE, *LEADER, "--mind", mind, starts=False)
    assert "mind.clock.start without mind.clock.origin" in done.err


async def test_a_file_that_is_no_certificate_is_named(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("not one")
    mind = tmp_path / "mind.yaml"
    mind.write_text(f"front: {{upstream: {{ca_file: {file}}}}}")
    done = await submind("serve", *STORE, *LEADER, "--mind", mind, starts=False)
    assert done.code == 2
    assert f"the file of authorities {file} holds no certificate in PEM form" in done.err
