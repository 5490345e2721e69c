"""Write the Grafana dashboard: ``python k8s/components/monitoring/dashboard.py [--check]``.

A row for each question that somebody who runs a mind asks; ``dashboard.json`` is made here, so change this.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("dashboard.json")
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH, HEIGHT = 24, 8

# (title, unit, [(expression, legend)]); Grafana fills in $mind and the window. What hosts tell alike is taken once.
HOST = '{mind=~"$mind"}'


def rate(metric: str, labels: str = "", by: str = "") -> str:
    """What a host counts, all hosts together, a second."""
    given = f",{labels}" if labels else ""
    return f'sum by (mind{f", {by}" if by else ""}) (rate(submind_{metric}{{mind=~"$mind"{given}}}[$__rate_interval]))'


def once(metric: str, labels: str = "", by: str = "role, actor") -> str:
    """What actors count, a second; every host tells the same."""
    given = f",{labels}" if labels else ""
    inner = f'rate(submind_{metric}{{mind=~"$mind"{given}}}[$__rate_interval])'
    return f"sum by (mind, {by}) (max without (instance, pod) ({inner}))"


def gauge(metric: str, labels: str = "", by: str = "") -> str:
    """What stands at some value."""
    given = f",{labels}" if labels else ""
    return f'max by (mind{f", {by}" if by else ""}) (submind_{metric}{{mind=~"$mind"{given}}})'


def quantile(share: float, metric: str) -> str:
    """How long most of it takes."""
    inner = f'max without (instance, pod) (rate(submind_{metric}_bucket{{mind=~"$mind"}}[$__rate_interval]))'
    return f"histogram_quantile({share}, sum by (mind, le) ({inner}))"


def quantiles(metric: str) -> list[tuple[str, str]]:
    """The median, and how long it takes at worst but for a few."""
    return [(quantile(share, metric), f"{{{{mind}}}} p{share * 100:.0f}") for share in (0.5, 0.95, 0.99)]


ROWS: list[tuple[str, list[tuple[str, str, list[tuple[str, str]]]]]] = [
    (
        "Is it alive?",
        [
            ("Thinks", "bool_yes_no", [(gauge("mind_up"), "{{mind}}")]),
            ("Hosts that lead", "short", [(f"sum by (mind) (submind_host_leads{HOST})", "{{mind}}")]),
            ("Store takes perceptions", "bool_yes_no", [(f"min by (mind) (submind_host_store_up{HOST})", "{{mind}}")]),
            ("etcd has a quorum", "bool_yes_no", [(gauge("host_coordination_quorum"), "{{mind}}")]),
            ("Actors by state", "short", [(gauge("mind_actors", by="state"), "{{mind}} {{state}}")]),
            (
                "Given up, or without a node",
                "short",
                [
                    (gauge("mind_actors_quarantined"), "{{mind}} quarantined"),
                    (gauge("mind_actors_unschedulable"), "{{mind}} unschedulable"),
                ],
            ),
            (
                "Begun anew",
                "short",
                [
                    (f"sum by (mind) (submind_mind_restarts_total{HOST})", "{{mind}} mind process"),
                    (f"sum by (mind) (submind_host_terms_total{HOST})", "{{mind}} terms of leading"),
                    (f"sum by (mind) (max by (mind, role, actor) (submind_restarts_total{HOST}))", "{{mind}} actors"),
                ],
            ),
            ("Age of the oldest report", "s", [(gauge("report_age_seconds", by="role"), "{{mind}} {{role}}")]),
        ],
    ),
    (
        "Is it keeping up?",
        [
            (
                "Perceptions",
                "cps",
                [
                    (f"max by (mind) (deriv(submind_mind_perceptions_head{HOST}[$__rate_interval]))", "{{mind}} new"),
                    (rate("gateway_perceptions_acknowledged_total", by="instance"), "{{mind}} {{instance}}"),
                    (once("perceptions_processed_total", by="actor"), "{{mind}} read by {{actor}}"),
                ],
            ),
            ("Gateway: to the answer", "s", quantiles("gateway_ack_seconds")),
            ("Gateway: commit", "s", quantiles("gateway_commit_seconds")),
            ("Perception to being read", "s", quantiles("perception_to_read_seconds")),
            ("Perception to trace", "s", quantiles("perception_to_trace_seconds")),
            ("Perception to stream", "s", quantiles("perception_to_stream_seconds")),
            (
                "Calls",
                "cps",
                [
                    (rate("gateway_calls_total", by="kind"), "{{mind}} {{kind}}"),
                    ("sum by (route) (rate(submind_http_requests_total[$__rate_interval]))", "http {{route}}"),
                ],
            ),
            (
                "Open",
                "short",
                [
                    (f"sum by (mind, kind) (submind_gateway_open{HOST})", "{{mind}} {{kind}}"),
                    ("sum (submind_http_streams)", "http streams"),
                ],
            ),
            ("Refused, by reason", "cps", [(rate("gateway_refusals_total", by="reason"), "{{mind}} {{reason}}")]),
            (
                "Waiting",
                "short",
                [
                    (f"sum by (mind) (submind_gateway_intake_waiting{HOST})", "{{mind}} for the commit"),
                    (gauge("mailbox_depth", by="role"), "{{mind}} mail, {{role}}"),
                    (gauge("unacknowledged", by="actor"), "{{mind}} percepts of {{actor}}"),
                    (gauge("reordering"), "{{mind}} to be put in order"),
                    (gauge("handed_over"), "{{mind}} for the stream"),
                ],
            ),
            (
                "Dropped and held back",
                "cps",
                [
                    (once("messages_dropped_total", by="role"), "{{mind}} dropped, {{role}}"),
                    (once("messages_lost_total", by="role"), "{{mind}} lost, {{role}}"),
                    (once("held_back_total", by="role"), "{{mind}} held back, {{role}}"),
                ],
            ),
            (
                "Limits met",
                "cps",
                [
                    (once("limit_hits_total", by="limit"), "{{mind}} {{limit}}"),
                    (rate("host_limit_hits_total", by="limit"), "{{mind}} {{limit}}"),
                    ("sum by (limit) (rate(submind_http_limit_hits_total[$__rate_interval]))", "http {{limit}}"),
                ],
            ),
            (
                "Store: commits of actors",
                "cps",
                [
                    (once("store_commits_total", by="role"), "{{mind}} {{role}}"),
                    (once("store_refusals_total", by="role"), "{{mind}} refused, {{role}}"),
                ],
            ),
            ("An actor's work on an event", "s", quantiles("handle_seconds")),
            ("Store: a commit of an actor", "s", quantiles("store_commit_seconds")),
        ],
    ),
    (
        "Who comes in?",
        [
            ("Callers refused, by reason", "cps", [(rate("access_refused_total", by="reason"), "{{mind}} {{reason}}")]),
            (
                "Beyond a quota",
                "cps",
                [
                    (rate("access_quota_refusals_total", by="quota"), "{{mind}} {{quota}}"),
                    (rate("gateway_refusals_total", 'reason=~"Over.*"', by="reason"), "{{mind}} over gRPC {{reason}}"),
                ],
            ),
            (
                "Tokens, and what is open by them",
                "short",
                [
                    (gauge("access_tokens"), "{{mind}} tokens"),
                    (f"sum by (mind) (submind_access_streams{HOST})", "{{mind}} open"),
                ],
            ),
        ],
    ),
    (
        "What does it say?",
        [
            ("Entries of the stream in an hour", "short", [(gauge("mind_thoughts_per_hour"), "{{mind}}")]),
            (
                "Thoughts a minute",
                "short",
                [
                    (f"60 * {once('thoughts_total', by='role')}", "{{mind}} {{role}}"),
                    (f"60 * {once('thoughts_conscious_total', by='role')}", "{{mind}} conscious"),
                ],
            ),
            (
                "Attention",
                "short",
                [
                    (gauge("attention_threshold"), "{{mind}} threshold"),
                    (gauge("threshold_bend"), "{{mind}} bent by"),
                ],
            ),
            ("Troubles that monitoring sees", "short", [(gauge("troubles"), "{{mind}}")]),
            ("Live traces", "short", [(gauge("mind_traces_live"), "{{mind}}")]),
            (
                "Traces",
                "cps",
                [
                    (once("traces_posted_total", by="role"), "{{mind}} posted"),
                    (once("traces_reinforced_total", by="role"), "{{mind}} reinforced"),
                    (once("traces_retired_total", by="role"), "{{mind}} retired"),
                    (once("crawls_total", by="role"), "{{mind}} crawls"),
                ],
            ),
        ],
    ),
    (
        "What does it cost?",
        [
            (
                "Tokens a minute",
                "short",
                [
                    (f"60 * {once('tokens_in_total', by='role')}", "{{mind}} in, {{role}}"),
                    (f"60 * {once('tokens_out_total', by='role')}", "{{mind}} out, {{role}}"),
                ],
            ),
            ("Cost an hour", "short", [(f"3600 * {once('cost_total', by='role')}", "{{mind}} {{role}}")]),
            ("Tokens left", "short", [(gauge("mind_budget_left"), "{{mind}}")]),
            (
                "Answers of the substrate",
                "cps",
                [
                    (once("generations_total", by="role"), "{{mind}} {{role}}"),
                    (once("fallbacks_total", by="role"), "{{mind}} by rule, {{role}}"),
                ],
            ),
            (
                "Processor of hosts",
                "percentunit",
                [('rate(process_cpu_seconds_total{job=~".*submind.*"}[$__rate_interval])', "{{instance}}")],
            ),
            ("Memory of hosts", "bytes", [('process_resident_memory_bytes{job=~".*submind.*"}', "{{instance}}")]),
        ],
    ),
    (
        "Is it growing?",
        [
            ("Actors", "short", [(gauge("mind_actors", 'state="running"'), "{{mind}}")]),
            (
                "Births and ends",
                "short",
                [
                    (gauge("mind_growth_granted_total"), "{{mind}} granted"),
                    (gauge("mind_growth_refused_total"), "{{mind}} refused"),
                    (gauge("mind_growth_waiting_total"), "{{mind}} waiting"),
                ],
            ),
            ("Overloaded subminds", "short", [(gauge("overloaded", by="role"), "{{mind}}")]),
            (
                "Connections",
                "short",
                [
                    (gauge("connections_ltp", by="role"), "{{mind}} strong, {{role}}"),
                    (gauge("connections_transient", by="role"), "{{mind}} transient, {{role}}"),
                ],
            ),
            (
                "What is kept",
                "short",
                [
                    (gauge("mind_perceptions_head"), "{{mind}} perceptions"),
                    (gauge("mind_traces"), "{{mind}} traces"),
                    (gauge("mind_stream_head"), "{{mind}} entries"),
                ],
            ),
            (
                "Spans",
                "cps",
                [
                    (rate("host_spans_sent_total"), "{{mind}} hosts"),
                    (once("spans_sent_total", by="role"), "{{mind}} {{role}}"),
                    (once("spans_dropped_total", by="role"), "{{mind}} dropped, {{role}}"),
                ],
            ),
        ],
    ),
]


def panel(number: int, title: str, unit: str, asked: list[tuple[str, str]], place: dict[str, int]) -> dict[str, Any]:
    """A panel of lines over time."""
    return {
        "id": number,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 8}}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(65 + n), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for n, (expression, legend) in enumerate(asked)
        ],
    }


def dashboard() -> dict[str, Any]:
    """The whole of it."""
    panels: list[dict[str, Any]] = []
    down = 0
    for question, asked in ROWS:
        place = {"x": 0, "y": down, "w": WIDTH, "h": 1}
        panels.append({"id": len(panels) + 1, "type": "row", "title": question, "gridPos": place, "panels": []})
        down += 1
        wide = WIDTH // 3
        for n, (title, unit, targets) in enumerate(asked):
            place = {"x": n % 3 * wide, "y": down + n // 3 * HEIGHT, "w": wide, "h": HEIGHT}
            panels.append(panel(len(panels) + 1, title, unit, targets, place))
        down += -(-len(asked) // 3) * HEIGHT
    variables = [
        {"name": "source", "type": "datasource", "query": "prometheus", "label": "Source"},
        {
            "name": "mind",
            "type": "query",
            "datasource": SOURCE,
            "query": "label_values(submind_mind_up, mind)",
            "refresh": 2,
            "multi": True,
            "includeAll": True,
            "label": "Mind",
        },
    ]
    return {
        "uid": "submind",
        "title": "submind",
        "tags": ["submind"],
        "schemaVersion": 39,
        "version": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": variables},
        "panels": panels,
    }


def main() -> None:
    """Write or check."""
    parser = argparse.ArgumentParser(description="Write dashboard.json.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail unless the file is current")
    wanted = json.dumps(dashboard(), indent=1) + "\n"
    if parser.parse_args().check:
        if not FILE.exists() or FILE.read_text("utf-8") != wanted:
            sys.exit(f"{FILE.name} is not current: run {Path(__file__).name}")
        return
    FILE.write_text(wanted, "utf-8")


if __name__ == "__main__":
    main()
