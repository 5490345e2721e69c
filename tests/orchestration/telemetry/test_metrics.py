"""Counting in an actor, and what Prometheus reads of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from environment.messages import SubmindState
from orchestration.telemetry import names
from orchestration.telemetry.metrics import BUCKETS, Metrics, report_collector
from tests.environment.stores.contract import NOON, report


def scrape(reports, figures=None):
    registry = CollectorRegistry()
    report_collector(registry).update(reports, figures or {}, NOON + 7)
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def told(name, metrics, **changes):
    return replace(report(name), at=NOON, metrics=metrics, **changes)


def test_counters_gauges_and_limits():
    metrics = Metrics()
    metrics.count(names.MESSAGES_SENT)
    metrics.count(names.MESSAGES_SENT, 4)
    metrics.gauge(names.MAILBOX_DEPTH, 9)
    metrics.gauge(names.MAILBOX_DEPTH, 2)
    metrics.limit_hit("shell.mailbox")
    assert metrics.flat() == {"messages_sent_total": 5.0, "mailbox_depth": 2, "limit_hits:shell.mailbox": 1.0}
    assert names.limit_of("limit_hits:shell.mailbox") == "shell.mailbox"
    assert names.limit_of("messages_sent_total") is None
    assert names.limit_of("crawls_total:random") is None


@given(st.lists(st.floats(0, 100), max_size=50))
def test_a_histogram_counts_everything_once_and_cumulatively(values):
    metrics = Metrics()
    for value in values:
        metrics.observe(names.HANDLE_SECONDS, value)
    flat = metrics.flat()
    if not values:
        assert flat == {}
        return
    assert flat["handle_seconds_count"] == len(values)
    assert flat["handle_seconds_sum"] == pytest.approx(sum(values))
    for bound in BUCKETS:
        assert flat[f"handle_seconds_bucket:{bound:g}"] == sum(value <= bound for value in values)
    assert flat["handle_seconds_bucket:+Inf"] == len(values)


def test_names_are_bounded():
    metrics = Metrics(limit=10)
    for number in range(100):
        metrics.count("crawls_total", label=str(number))
    flat = metrics.flat()
    assert flat.pop("metrics_dropped_total") == 90
    assert len(flat) == 10


def test_prometheus_reads_what_actors_report():
    metrics = Metrics()
    metrics.observe(names.HANDLE_SECONDS, 0.003)
    metrics.count(names.MESSAGES_SENT, 5)
    metrics.limit_hit("shell.mailbox")
    metrics.gauge(names.BUDGET_LEFT, 0.5)
    read = scrape([told("causes", metrics.flat()), told("people", {names.MESSAGES_SENT: 2.0})], {"stream_head": 8.0})
    assert read["submind_messages_sent_total", "causes"] == 5
    assert read["submind_messages_sent_total", "people"] == 2
    assert read["submind_limit_hits_total", "causes", "shell.mailbox"] == 1
    assert read["submind_budget_left", "causes"] == 0.5
    assert read["submind_handle_seconds_count", "causes"] == 1
    assert read["submind_handle_seconds_sum", "causes"] == pytest.approx(0.003)
    assert read["submind_handle_seconds_bucket", "0.001", "causes"] == 0
    assert read["submind_handle_seconds_bucket", "0.005", "causes"] == 1
    assert read["submind_mind_stream_head",] == 8
    assert read["submind_report_age_seconds", "causes"] == 7


def test_the_state_of_each_actor():
    read = scrape([told("causes", {}, role="cognitive", state=SubmindState.QUARANTINED)])
    states = {
        key[-1] if key[-1] != "cognitive" else key[-2]: value
        for key, value in read.items()
        if key[0] == "submind_actor_state"
    }
    assert sum(states.values()) == 1
    assert read["submind_actor_state", "causes", "cognitive", "quarantined"] == 1


@given(st.dictionaries(st.text(max_size=12), st.floats(), max_size=6), st.text(max_size=12))
def test_no_report_can_break_the_page(metrics, actor):
    registry = CollectorRegistry()
    report_collector(registry).update([told(actor, metrics), told("causes", {"mailbox_depth": 1.0})], metrics, NOON)
    page = generate_latest(registry).decode()
    assert 'submind_mailbox_depth{actor="causes"} 1.0' in page


def test_every_name_is_explained():
    told_names = {value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)}
    parts = {names.GENERATE_SECONDS_SUM, names.GENERATE_SECONDS_COUNT}
    assert told_names - parts == set(names.HELP)
