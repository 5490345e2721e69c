"""A front and a leader that knows whom it lets in: TLS, tokens, and both replaced while they are used."""

import asyncio

import pytest

from orchestration.access.audit import read_audit
from orchestration.access.caller import CALLER, Caller
from orchestration.access.scopes import Scope
from orchestration.front.asking import AskedStatus, forwarded
from orchestration.front.errors import NoLeader
from orchestration.front.settings import FrontSettings
from orchestration.pb.submind.v1 import nodes_pb2
from orchestration.placement.errors import PlacementError
from orchestration.schema.methods import METHODS
from orchestration.shared_file import SharedFile
from tests.orchestration.access.conftest import Authority, authority, keys, serve  # noqa: F401 - fixtures
from tests.orchestration.front.relaying import relaying
from tests.orchestration.until import until

WANTED = (Scope.PERCEIVE, Scope.WATCH, Scope.OPERATE, Scope.FORWARD)


@pytest.fixture
def token(keys, tmp_path):  # noqa: F811
    """The file of one that may do all that a front does."""
    path = tmp_path / "token"
    path.write_text(keys.make("front", *WANTED))
    return path


async def ask_nodes(way, call, /, **fields):
    """One question about nodes, handed on to the leader."""
    rpc = f"/submind.v1.NodeService/{call}"
    return await forwarded(way.upstream, "submind.v1.NodeService")[rpc](METHODS[rpc].request(**fields))


async def test_over_mutual_tls_with_a_token_of_its_own(serve, token, authority):  # noqa: F811
    chain, key = authority.issue("front", "front")
    shown = {"ca_file": authority.file, "cert_file": chain, "key_file": key, "token_file": token}
    async with serve(tls=authority.tls(mutual=True)) as leader, relaying(leader.target, upstream=shown) as way:
        assert [each.new for each in await way.tell("a", "b")] == [True, True]
        asked = AskedStatus(way.upstream, FrontSettings())
        assert (await asked.status()).mind == "alpha"
        assert await ask_nodes(way, "ListNodes") == nodes_pb2.ListNodesResponse()
        assert list((await ask_nodes(way, "RestartSubmind", name="concern")).renewed) == ["concern"]


async def test_a_leader_of_another_authority_is_not_believed(serve, token, authority, tmp_path):  # noqa: F811
    strange = Authority(tmp_path / "elsewhere")
    shown = {"ca_file": strange.file, "token_file": token}
    async with (
        serve(tls=authority.tls()) as leader,
        relaying(leader.target, upstream=shown, hold=0.3) as way,
    ):
        with pytest.raises(NoLeader):
            await way.tell("to an impostor")
        assert await leader.texts() == []
        with pytest.raises(NoLeader):
            await ask_nodes(way, "ListNodes")


async def test_a_token_that_is_ended_and_replaced_loses_nothing(serve, keys, tmp_path):  # noqa: F811
    token = tmp_path / "token"
    token.write_text(keys.make("first", *WANTED))
    async with serve() as leader, relaying(leader.target, upstream={"token_file": token}, hold=20.0) as way:
        await way.tell("before")
        keys.revoke("first")
        await until(lambda: way.relay.why)
        held = asyncio.create_task(way.tell("between"))
        await asyncio.sleep(0.2)
        assert not held.done()
        assert "refuses the token of this front" in way.relay.why
        token.write_text(keys.make("second", *WANTED))
        assert (await held)[0].new
        assert await leader.texts() == ["before", "between"]


async def test_a_token_without_the_scopes_it_takes(serve, keys, tmp_path):  # noqa: F811
    token = tmp_path / "token"
    token.write_text(keys.make("front", Scope.WATCH))
    async with serve() as leader, relaying(leader.target, upstream={"token_file": token}, hold=1.5) as way:
        with pytest.raises(NoLeader, match="`perceive`"):
            await way.tell("more than it may")
        with pytest.raises(PlacementError, match="`operate`"):
            await ask_nodes(way, "DrainNode", node="node")
        asked = AskedStatus(way.upstream, FrontSettings(ask_every=0))
        while await asked.status() is None:  # noqa: ASYNC110 - the relay, which is refused, hangs up again and again
            await asyncio.sleep(0.01)


async def test_callers_who_were_counted_at_the_front_are_not_counted_as_one_by_the_leader(serve, token):  # noqa: F811
    upstream = {"token_file": token}
    async with (
        serve(quotas={"perceptions_per_second": 1, "streams": 1, "burst": 1}) as leader,
        relaying(leader.target, upstream=upstream, hold=20.0) as one,
        relaying(leader.target, upstream=upstream, hold=20.0) as two,
    ):
        told = await asyncio.gather(*(way.tell(*(f"{n}-{m}" for m in range(20))) for n, way in enumerate((one, two))))
        assert sum(len(each) for each in told) == 40
        assert not leader.access.quotas.hits


async def test_who_called_the_front_is_named_to_the_leader(serve, token, tmp_path):  # noqa: F811
    names = ["José 雪", "%6Fps"]  # the latter decoded twice: ops
    async with serve() as leader, relaying(leader.target, upstream={"token_file": token}) as way:
        leader.access.audit._file = SharedFile(tmp_path / "audit.log", 1 << 20)
        for name in names:
            CALLER.set(Caller(name, "jwt", frozenset({Scope.OPERATE})))
            assert list((await ask_nodes(way, "RestartSubmind", name="concern")).renewed) == ["concern"]
        assert [one["behalf"] for one in read_audit(tmp_path) if one["action"] == "RestartSubmind"] == names


async def test_what_is_said_as_an_operator_stands_at_the_leader_in_the_name_of_who_said_it(serve, token, tmp_path):  # noqa: F811
    async with serve() as leader, relaying(leader.target, upstream={"token_file": token}) as way:
        leader.access._operators = ("operator",)
        leader.access.audit._file = SharedFile(tmp_path / "audit.log", 1 << 20)
        for name in ("ann", "José 雪", "ann"):
            CALLER.set(Caller(name, "token", frozenset({Scope.OPERATE})))
            await way.tell("open the gate", source="operator")
        lines = [one for one in read_audit(tmp_path) if one["action"] == "say"]
        assert [(one["by"], one["behalf"], one["outcome"]) for one in lines] == [
            ("front", "ann", "done"),
            ("front", "José 雪", "done"),
        ]
