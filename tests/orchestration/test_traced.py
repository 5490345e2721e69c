"""A real mind that is traced to a real receiver, and what Prometheus reads of it."""

import json
import re
import subprocess
import time

import grpc
import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from orchestration.pb.submind.v1 import perception_pb2, perception_pb2_grpc
from orchestration.telemetry import names
from orchestration.telemetry.tracing.ids import TraceIds, hex_trace
from tests.orchestration.living import ROOT, LivingMind, eventually
from tests.servers.otlp import OtlpReceiver

MONITORING = ROOT / "k8s" / "components" / "monitoring"
CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{CALLER}-00f067aa0ba902b7-01"
ELSEWHERE = {
    "submind_front_connected": "at fronts",
    "submind_host_coordination_quorum": "where hosts agree through etcd",
    "submind_mind_budget_left": "where a model server has a budget",
    "submind_access_certificate_expiry_timestamp_seconds": "where there is a certificate",
    "submind_access_keys_failures_total": "where an identity provider signs tokens",
    "submind_http_limit_hits_total": "after the first hit",
}
"""What the smallest mind that people run does not show, and when it is shown."""


@pytest.fixture(scope="module")
def receiver():
    made = OtlpReceiver()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def mind(tmp_path_factory, receiver):
    env = {
        "SUBMIND__TELEMETRY__TRACING__ENDPOINT": receiver.endpoint,
        "SUBMIND__TELEMETRY__TRACING__SAMPLE": "1",
        "SUBMIND__TELEMETRY__TRACING__EVERY": "0.2",
        "SUBMIND__TELEMETRY__LEVEL": "debug",
        "SUBMIND__SHELL__SAVE_EVERY": "1",
    }
    with LivingMind(tmp_path_factory.mktemp("traced"), env=env) as living:
        yield living.start()


def perceive(mind, *said, traceparent=PARENT):
    """Tell it something as a stock client would; the ids."""
    with grpc.insecure_channel(mind.grpc) as channel:
        stub = perception_pb2_grpc.PerceptionServiceStub(channel)
        batch = [perception_pb2.Perception(source=source, text=text) for source, text in said]
        request = perception_pb2.PerceiveRequest(perceptions=batch)
        answer = stub.Perceive(request, metadata=(("traceparent", traceparent),), timeout=60)
        return [receipt.id for receipt in answer.receipts]


def scraped(mind):
    return httpx.get(f"{mind.http}metrics", timeout=60).raise_for_status().text


def samples(mind, name):
    families = text_string_to_metric_families(scraped(mind))
    return [sample for family in families for sample in family.samples if sample.name == name]


@pytest.mark.timeout(300)
def test_one_trace_leads_from_a_perception_to_the_conscious_thought_through_every_process(mind, receiver):
    (said,) = perceive(mind, ("operator", "The compressor of room 2 is down, please call Norvane before six."))
    trace = hex_trace(TraceIds("mind", 1.0).of(said))

    def told():
        return {(span["name"], span["process"]) for span in receiver.trace(trace)}

    ways = {("accept", "host"), ("perceive", "text"), ("leave", "environment"), ("choose", "attention")}
    receiver.until(lambda: told() >= {*ways, ("append", "stream"), ("aware", "thinking")}, 120)
    receiver.until(lambda: all(span["parent"] in {"", *receiver.spans} for span in receiver.trace(trace)))
    assert [span["name"] for span in receiver.trace(trace) if not span["parent"]] == ["accept"]
    assert {span["mind"] for span in receiver.trace(trace)} == {"mind"}


@pytest.mark.timeout(300)
def test_log_lines_of_a_call_name_the_trace_of_its_caller(mind):
    answer = httpx.get(f"{mind.http}v1/status", headers={"traceparent": PARENT}, timeout=60)
    number = answer.headers["X-Request-Id"]

    def line():
        lines = (json.loads(one) for one in (mind.data_dir / "submind.log").read_text("utf-8").splitlines())
        return [one for one in lines if one.get("request") == number]

    (told, *_) = eventually(line)
    assert (told["trace_id"], told["span_id"], told["mind"]) == (CALLER, "00f067aa0ba902b7", "mind")


def used():
    """Metrics that alerts and dashboard ask for, each with where."""
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text("utf-8"))
    asked = [(rule["alert"], rule["expr"]) for group in rules["groups"] for rule in group["rules"]]
    board = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))
    asked += [(panel["title"], target["expr"]) for panel in board["panels"] for target in panel.get("targets", ())]
    return {(name, where) for where, expression in asked for name in re.findall(r"\bsubmind_[a-z_]+", expression)}


@pytest.mark.timeout(300)
def test_every_metric_of_alerts_and_dashboard_is_shown_by_a_running_mind(mind):
    perceive(mind, ("operator", "Is anybody there?"))

    def missing():
        shown = {sample.name for family in text_string_to_metric_families(scraped(mind)) for sample in family.samples}
        return {(name, where) for name, where in used() if name not in shown | set(ELSEWHERE)}

    assert len(used()) > 60
    until = time.monotonic() + 90
    while missing() and time.monotonic() < until:  # some are shown with the first report
        time.sleep(0.5)
    assert not missing()
    all_names = {f"submind_{told.name}" for told in names.HOST.values()} | {"submind_http_limit_hits_total"}
    assert set(ELSEWHERE) <= all_names


@pytest.mark.timeout(300)
def test_what_prometheus_reads_is_to_its_liking_and_explained(mind):
    text = scraped(mind)
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    wrong = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert done.returncode == 0, wrong
    assert not wrong
    vague = re.findall(r"^# HELP (submind_\S+) .*as (?:its actor|the host) (?:reports|tells) it\.$", text, re.MULTILINE)
    assert vague == []
    listed = set(re.findall(r"^\| `(submind_\w+)`", (ROOT / "docs" / "metrics.md").read_text("utf-8"), re.MULTILINE))
    families = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in text_string_to_metric_families(text)
        if family.name.startswith("submind_") and not family.name.endswith("_created")
    }
    assert families <= listed, families - listed


@pytest.mark.timeout(300)
def test_the_way_of_a_perception_is_measured(mind):
    perceive(mind, ("operator", "How long does this take?"))
    for name in ("perception_to_read", "perception_to_trace", "perception_to_stream", "gateway_ack", "gateway_commit"):
        count = eventually(lambda name=name: [s for s in samples(mind, f"submind_{name}_seconds_count") if s.value], 60)
        total = [s for s in samples(mind, f"submind_{name}_seconds_sum") if s.value > 0]
        assert count
        assert total, name
