"""The audit log: what stands in it, and that it stays within its bounds."""

import json
import stat

from environment.population import read_growth
from orchestration.access.audit import NAME, AuditLog, read_audit
from orchestration.access.scopes import Scope
from orchestration.access.settings import AuditSettings
from orchestration.access.tokens import changing
from orchestration.pb.submind.v1 import growth_pb2, growth_pb2_grpc, nodes_pb2, nodes_pb2_grpc
from orchestration.shared_file import SharedFile
from tests.orchestration.access.conftest import MIND, bearer, header
from tests.orchestration.cli.conftest import submind
from tests.orchestration.gateway.conftest import refusal as refused
from tests.orchestration.until import until


def log(folder, **settings):
    now = [0.0]
    return AuditLog(AuditSettings(**settings), "alpha", lambda: now[0], folder), now


async def test_orders_stand_in_it_with_who_what_and_what_came_of_it(serve, keys, tmp_path):
    ops, reader = keys.make("ops"), keys.make("reader", Scope.WATCH)
    async with serve() as served:
        folder = tmp_path / "log"
        folder.mkdir()
        served.access.audit._file = SharedFile(folder / NAME, 1 << 20)
        growth = growth_pb2_grpc.GrowthServiceStub(served.channel)
        nodes = nodes_pb2_grpc.NodeServiceStub(served.channel)
        order = growth_pb2.Order(by="ann@desk", reason="odd")
        await growth.Freeze(growth_pb2.FreezeRequest(order=order), metadata=bearer(ops))
        failed = await refused(
            growth.Approve(growth_pb2.ApproveRequest(proposal="7", order=order), metadata=bearer(ops))
        )
        await nodes.DrainNode(nodes_pb2.DrainNodeRequest(node="n-1"), metadata=bearer(ops))
        await refused(nodes.RestartSubmind(nodes_pb2.RestartSubmindRequest(name="x"), metadata=bearer(reader)))
        await served.http.post("/v1/growth/thaw", json={"by": "bob"}, headers=header(ops))
        await served.http.post("/v1/growth/g-9/reject", json={}, headers=header(ops))
        pack = {"name": "a.csv", "by": "ann", "text": "name,place\nvan,yard\n"}
        await served.http.post("/v1/packs", json=pack, headers=header(reader))
        await served.http.post("/v1/packs", json=pack, headers=header(ops))
        await served.http.get("/v1/status", headers=header("wrong"))
        await served.http.get("/v1/status", headers=header(reader))
        keys.revoke("reader")
        await until(lambda: served.access.figures()["access_tokens"] == 1)
        lines = list(read_audit(folder))
        events = await read_growth(served.stores.collections, 0, 10)
    told = [(one["by"], one["action"], one["outcome"]) for one in lines]
    assert told[0] == ("ops", "Freeze", "done")
    assert told[1] == ("ops", "Approve", failed.text)
    assert told[2] == ("ops", "DrainNode", "done")
    assert told[3][:2] == ("reader", "RestartSubmind")
    assert told[3][2].startswith("refused: RestartSubmind needs a token with the scope `operate`")
    assert told[4:6] == [("ops", "POST /v1/growth/thaw", "done"), ("ops", "POST /v1/growth/g-9/reject", "answered 409")]
    assert (told[6][:2], "scope `operate`" in told[6][2]) == (("reader", "POST /v1/packs"), True)
    assert told[7] == ("ops", "POST /v1/packs", "done")
    assert told[8][:2] == ("", "GET /v1/status")
    assert told[9] == ("access.tokens_file", "tokens", "done")
    assert len(told) == 10  # reading is no deed
    assert json.loads(lines[0]["target"]) == {"order": {"by": "ann@desk", "reason": "odd"}}
    assert json.loads(lines[2]["target"]) == {"node": "n-1"}
    assert lines[9]["gone"] == ["reader"]
    assert {one.get("peer") for one in lines[:9]} == {"127.0.0.1"}
    assert all(one["mind"] == "alpha" and one["time"].endswith("Z") for one in lines)
    assert [event.by for event in events] == ["ann@desk (ops)", "bob (ops)"]
    content = (folder / NAME).read_text()
    assert ops not in content
    assert reader not in content
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600


async def test_whoever_is_refused_is_counted_whatever_for_and_a_token_that_ends_as_well(serve, keys):
    reader, gone = keys.make("reader", Scope.WATCH), keys.make("gone", Scope.WATCH)
    growth = growth_pb2.FreezeRequest(order=growth_pb2.Order(by="ann"))
    async with serve() as served:

        def counted(reason):
            return served.access.figures()[f"access_refused_total:{reason}"]

        await refused(growth_pb2_grpc.GrowthServiceStub(served.channel).Freeze(growth, metadata=bearer(reader)))
        assert (await served.http.post("/v1/growth/freeze", json={}, headers=header(reader))).status_code == 403
        assert counted("forbidden") == 2
        assert (await served.http.get("/v1/status", headers={"Cookie": "submind-alpha=x"})).status_code == 401
        assert counted("session_ended") == 1
        async with served.http.stream("GET", "/v1/stream/events", headers=header(gone)) as events:
            assert events.status_code == 200
            keys.revoke("gone")
            async for _ in events.aiter_bytes():
                pass
        assert counted("token_revoked") == 1
        assert (await served.http.get("/v1/status")).status_code == 401
        assert counted("token_required") == 1


async def test_a_token_that_allows_something_else_now_is_named(serve, keys, tmp_path):
    keys.make("kept", Scope.WATCH)
    keys.make("less", Scope.WATCH, Scope.OPERATE)
    async with serve() as served:
        served.access.audit._file = SharedFile(tmp_path / NAME, 1 << 20)
        with changing(keys.path) as tokens:
            tokens[MIND, "less"] = tokens[MIND, "less"].model_copy(update={"scopes": frozenset({Scope.WATCH})})
        await until((tmp_path / NAME).exists, 10)
        (line,) = read_audit(tmp_path)
    assert (line["added"], line["gone"], line["changed"]) == ([], [], ["less"])


def test_it_stays_within_its_bounds_and_the_oldest_goes(tmp_path):
    audit, _ = log(tmp_path, file_bytes=1024, files=3)
    for number in range(200):
        audit.record("Freeze", f"ops-{number}", "done", target="x" * 5000)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [NAME, f"{NAME}.1", f"{NAME}.2", f"{NAME}.3"]
    assert all(path.stat().st_size < 2048 for path in tmp_path.iterdir())
    numbers = [int(line["by"].partition("-")[2]) for line in read_audit(tmp_path)]
    assert numbers == list(range(numbers[0], 200))


def test_a_flood_of_refusals_is_counted_and_not_written_down(tmp_path):
    audit, now = log(tmp_path, refusals_per_minute=10)
    for _ in range(1000):
        audit.refused("Perceive", "no token", peer="10.0.0.1")
    assert len(list(read_audit(tmp_path))) == 10
    audit.record("Freeze", "ops", "done")
    now[0] = 61.0
    audit.refused("Perceive", "no token", peer="10.0.0.1")
    told = [line["outcome"] for line in read_audit(tmp_path)][-3:]
    assert told == ["done", "990 more were refused within a minute", "refused: no token"]


def test_nobody_waits_for_a_log_that_cannot_be_written(tmp_path):
    (tmp_path / "audit.log").mkdir()  # whoever runs this, root included, writes no lines into a folder
    audit, _ = log(tmp_path)
    audit.record("Freeze", "ops", "done")
    assert audit.lines == 1


async def test_the_command_shows_it(tmp_path):
    audit, now = log(tmp_path)
    audit.record("Freeze", "ann", "done", target="g\x1b[31m")
    now[0] = 1_770_000_000.0
    audit.refused("log in", "not known here", peer="10.0.0.1")
    shown = await submind("audit", "--data-dir", tmp_path)
    assert shown.code == 0, shown.err
    assert "ann  Freeze  done" in shown.out
    assert "\x1b" not in shown.out
    only = await submind("audit", "--data-dir", tmp_path, "--refused", "--json")
    assert [one["action"] for one in only.objects] == ["log in"]
    since = await submind("audit", "--data-dir", tmp_path, "--since", "2026-01-01", "--json")
    assert (since.code, [one["action"] for one in since.objects]) == (0, ["log in"])
    assert (await submind("audit", "--data-dir", tmp_path, "--since", "2026-01-01", "--by", "ann")).out == ""
    absent = await submind("audit", "--data-dir", tmp_path / "absent")
    assert (absent.code, "--data-dir" in absent.err) == (2, True)
