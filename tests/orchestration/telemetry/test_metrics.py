"""Counting in an actor, and what Prometheus reads of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from environment.messages import SubmindState
from orchestration.telemetry import names
from orchestration.telemetry.metrics import Histograms, report_collector
from tests.environment.stores.making import NOON, report


def scrape(reports, figures=None, **given):
    """Values by name and labels, but for the mind's."""
    registry = CollectorRegistry()
    report_collector(registry, "alpha", **given).update(reports, figures or {}, NOON + 7)
    found = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            assert sample.labels.pop("mind") == "alpha"
            found[sample.name, *sorted(value for value in sample.labels.values() if value)] = sample.value
    return found


def told(name, metrics, **changes):
    return replace(report(name), at=NOON, metrics=metrics, **changes)


@given(st.lists(st.floats(0, 100), max_size=50))
def test_a_histogram_counts_everything_once_and_cumulatively(values):
    times = Histograms()
    for value in values:
        times.observe(names.HANDLE_SECONDS, value)
    flat = times.flat()
    if not values:
        assert flat == {}
        return
    assert flat["handle_seconds_count"] == len(values)
    assert flat["handle_seconds_sum"] == pytest.approx(sum(values))
    for bound in names.SHORT:
        assert flat[f"handle_seconds_bucket:{bound:g}"] == sum(value <= bound for value in values)
    assert flat["handle_seconds_bucket:+Inf"] == len(values)


def test_prometheus_reads_what_actors_report():
    times = Histograms()
    times.observe(names.HANDLE_SECONDS, 0.003)
    counted = {names.MESSAGES_SENT: 5.0, names.limit_hit("shell.mailbox"): 1.0, names.BUDGET_LEFT: 0.5}
    text = told("text", times.flat() | counted, role="perceptual")
    read = scrape([text, told("image", {names.MESSAGES_SENT: 2.0}, role="perceptual")], {"stream_head": 8.0})
    assert read["submind_messages_sent_total", "perceptual", "text"] == 5
    assert read["submind_messages_sent_total", "image", "perceptual"] == 2
    assert read["submind_limit_hits_total", "perceptual", "shell.mailbox", "text"] == 1
    assert read["submind_budget_left", "perceptual", "text"] == 0.5
    assert read["submind_handle_seconds_count", "perceptual", "text"] == 1
    assert read["submind_handle_seconds_sum", "perceptual", "text"] == pytest.approx(0.003)
    assert read["submind_handle_seconds_bucket", "0.001", "perceptual", "text"] == 0
    assert read["submind_handle_seconds_bucket", "0.005", "perceptual", "text"] == 1
    assert read["submind_mind_stream_head",] == 8
    assert read["submind_report_age_seconds", "perceptual", "text"] == 7


def test_ten_thousand_subminds_make_as_many_series_as_two():
    def mind(count):
        times = Histograms()
        times.observe(names.HANDLE_SECONDS, 0.003)
        counted = {names.MESSAGES_SENT: 5.0, names.limit_hit("depth"): 1.0, names.MAILBOX_DEPTH: 3.0}
        flat = times.flat() | counted
        many = [told(f"s-{number}", flat, role="cognitive") for number in range(count)]
        return scrape([told("attention", {"threshold_bend": 1.0}, role="attention"), *many])

    two, many = mind(2), mind(10_000)
    assert set(two) == set(many)
    assert many["submind_messages_sent_total", "cognitive"] == 50_000
    assert many["submind_limit_hits_total", "cognitive", "depth"] == 10_000
    assert many["submind_mailbox_depth", "cognitive"] == 30_000
    assert many["submind_handle_seconds_count", "cognitive"] == 10_000
    assert many["submind_handle_seconds_bucket", "0.005", "cognitive"] == 10_000
    assert many["submind_actor_state", "cognitive", "running"] == 10_000
    assert len(many) == len(two) < 80


def test_each_submind_has_series_of_its_own_where_that_is_wanted():
    reports = [told("causes", {"mailbox_depth": 1.0}), told("people", {"mailbox_depth": 2.0})]
    read = scrape(reports, per_submind=True)
    assert read["submind_mailbox_depth", "causes", "cognitive"] == 1
    assert read["submind_mailbox_depth", "cognitive", "people"] == 2


def test_of_some_gauges_the_highest_of_all_is_shown():
    read = scrape([told("a", {"attention_threshold": 0.4}), told("b", {"attention_threshold": 0.3})])
    assert read["submind_attention_threshold", "cognitive"] == 0.4


def test_figures_of_the_host_are_shown_by_their_names():
    figures = {
        "mind_up": 1.0,
        "mind_restarts_total": 2.0,
        "gateway_open:calls": 3.0,
        "gateway_ack_seconds_bucket:0.1": 4.0,
        "gateway_ack_seconds_count": 5.0,
        "gateway_ack_seconds_sum": 0.5,
        "front_leader_known": 1.0,
        "something": 6.0,
    }
    read = scrape([], figures)
    assert read["submind_mind_process_up",] == 1
    assert read["submind_mind_restarts_total",] == 2
    assert read["submind_gateway_open", "calls"] == 3
    assert read["submind_gateway_ack_seconds_bucket", "0.1"] == 4
    assert read["submind_gateway_ack_seconds_bucket", "+Inf"] == 5
    assert read["submind_front_leader_known",] == 1
    assert read["submind_host_something",] == 6


def test_the_state_of_each_actor():
    read = scrape([told("text", {}, role="perceptual", state=SubmindState.QUARANTINED)])
    states = {key: value for key, value in read.items() if key[0] == "submind_actor_state"}
    assert len(states) == len(SubmindState)
    assert sum(states.values()) == 1
    assert states["submind_actor_state", "perceptual", "quarantined", "text"] == 1


@given(st.dictionaries(st.text(max_size=12), st.floats(), max_size=6), st.text(max_size=12))
def test_no_report_can_break_the_page(metrics, actor):
    registry = CollectorRegistry()
    report_collector(registry).update([told(actor, metrics), told("causes", {"mailbox_depth": 1.0})], metrics, NOON)
    page = generate_latest(registry).decode()
    assert 'submind_mailbox_depth{actor="' in page


def test_every_name_is_explained():
    told_names = {value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)}
    parts = {names.GENERATE_SECONDS_SUM, names.GENERATE_SECONDS_COUNT}
    assert told_names - parts <= set(names.HELP) | set(names.HOST)
    assert set(names.BUCKETS) | names.HIGHEST <= set(names.HELP)
    shown = [name for name, _ in names.HOST.values()]
    assert len(shown) == len(set(shown))
