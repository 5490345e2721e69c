"""``submind token``, and commands that speak TLS and show tokens."""

import stat

import yaml

from orchestration.access.tokens import digest
from tests.orchestration.access.conftest import authority, keys, serve
from tests.orchestration.cli.conftest import environ, submind

__all__ = ["authority", "keys", "serve"]


async def test_a_token_is_shown_once_and_kept_as_a_digest(tmp_path):
    file = tmp_path / "etc" / "tokens.yaml"
    made = await submind("token", "new", "web-1", "-s", "perceive", "-s", "watch", "--expires", "30d", "--file", file)
    assert made.code == 0, made.err
    token = made.out.strip()
    assert token.startswith("submind_")
    assert "\n" not in token
    assert token not in made.err
    (entry,) = yaml.safe_load(file.read_text())["tokens"]
    assert (entry["name"], entry["mind"], entry["scopes"]) == ("web-1", "mind", ["perceive", "watch"])
    assert entry["sha256"] == digest(token)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    again = await submind("token", "new", "web-1", "-s", "watch", "--file", file)
    assert (again.code, again.out) == (1, "")
    assert "already" in again.err
    other = await submind(
        "token", "new", "web-1", "-s", "watch", "--for", "other", "--streams", 2, "--json", "--file", file
    )
    assert other.objects[0]["quota"] == {"streams": 2}
    listed = (await submind("token", "list", "--json", "--file", file)).objects
    assert [(one["name"], one["mind"]) for one in listed] == [("web-1", "mind"), ("web-1", "other")]
    shown = await submind("token", "list", "--file", file)
    assert "web-1" in shown.out
    assert token not in shown.out

    gone = await submind("token", "revoke", "web-1", "--file", file)
    assert gone.out == "web-1: revoked\n"
    assert [one["mind"] for one in (await submind("token", "list", "--json", "--file", file)).objects] == ["other"]
    none = await submind("token", "revoke", "web-1", "--file", file)
    assert none.code == 1
    assert "there are: none" in none.err


async def test_what_cannot_be_is_refused_in_a_sentence(tmp_path):
    file = tmp_path / "tokens.yaml"
    for given, said in (
        (("token", "new", "a", "-s", "watch"), "--file"),
        (("token", "new", "a b", "-s", "watch", "--file", file), "a name is at most"),
        (("token", "new", "a", "-s", "watch", "--expires", "soon", "--file", file), "30d"),
        (("token", "new", "a", "-s", "watch", "--expires", "2020-01-01", "--file", file), "over already"),
        (("token", "new", "a", "--file", file), "scope"),
        (("token", "new", "a", "-s", "fly", "--file", file), "fly"),
        (("token", "list", "--file", file), "cannot be read"),
    ):
        done = await submind(*given)
        assert done.code == 2, given
        assert said in done.err
    assert not file.exists()
    file.write_text("tokens: [")
    done = await submind("token", "new", "a", "-s", "watch", "--file", file)
    assert (done.code, "not YAML" in done.err) == (2, True)
    assert file.read_text() == "tokens: ["


async def test_commands_show_certificates_and_tokens_by_flag_and_environment(serve, keys, authority, tmp_path):
    chain, key = authority.issue("client", "client@submind.test")
    file, reader = tmp_path / "token", tmp_path / "reader"
    file.write_text(keys.make("all"))
    reader.write_text(keys.make("reader", "watch"))
    async with serve(tls=authority.tls(mutual=True), verify=False) as served:
        at = ("--grpc", served.target)
        shown = ("--ca", authority.file, "--cert", chain, "--key", key)
        told = await submind("status", "--json", *at, *shown, "--token-file", file)
        assert (told.err, told.objects[0]["mind"]) == ("", "alpha")
        variables = {
            "SUBMIND__CLIENT__CA_FILE": str(authority.file),
            "SUBMIND__CLIENT__CERT_FILE": str(chain),
            "SUBMIND__CLIENT__KEY_FILE": str(key),
            "SUBMIND__CLIENT__TOKEN_FILE": str(file),
        }
        told = await submind("perceive", "-", *at, stdin=b"hello\n", env=environ(**variables))
        assert (told.code, told.out) == (0, "1 new, 0 known, 0 rejected\n")

        without = await submind("status", *at, *shown)
        assert (without.code, "--token-file" in without.err) == (1, True)
        narrow = await submind("perceive", "-", *at, *shown, "--token-file", reader, stdin=b"hello\n")
        assert (narrow.code, "`perceive`" in narrow.err) == (1, True)
        plain = await submind("status", *at, "--token-file", file)
        assert (plain.code, "--ca" in plain.err) == (1, True)
        stranger = await submind("status", *at, "--ca", authority.file, "--token-file", file)
        assert (stranger.code, "--cert" in stranger.err) == (1, True)
        wrong = await submind("status", *at, "--ca", key, "--token-file", file)
        assert (wrong.code, "holds no certificate" in wrong.err) == (2, True)

        nobody = await submind("status", "--grpc", "127.0.0.1:1", *shown, "--token-file", file)
        assert (nobody.code, "nobody answers at 127.0.0.1:1" in nobody.err) == (1, True)
        # To the doctor such a mind runs all the same: nobody is told to end who holds its port.
        found = {one["check"]: one for one in (await submind("doctor", *at, *shown, "--json")).objects}
        assert "a token is required" in found["mind"]["found"]
        assert "by the running mind" in found["grpc"]["found"]
        found = {one["check"]: one for one in (await submind("doctor", *at, "--json")).objects}
        assert "--ca FILE speaks TLS" in found["mind"]["found"]
        assert "unless it is the mind itself" in found["grpc"]["fix"]
        told = await submind("doctor", *at, *shown, "--token-file", file, "--json")
        found = {one["check"]: one for one in told.objects}
        assert found["mind"]["found"].startswith("alpha is ")
