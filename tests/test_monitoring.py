"""Alerts, their tests, their runbook, and the dashboard: each by the tool that reads it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
MONITORING = ROOT / "k8s" / "components" / "monitoring"
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text("utf-8")


def alerts():
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text("utf-8"))
    return {rule["alert"]: rule for group in rules["groups"] for rule in group["rules"]}


def promtool(*arguments, folder=MONITORING):
    return subprocess.run(["promtool", *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.timeout(120)
def test_each_alert_fires_where_it_should_and_none_in_a_mind_that_is_well():
    done = promtool("test", "rules", "rules_test.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    tests = yaml.safe_load((MONITORING / "rules_test.yaml").read_text("utf-8"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == set(alerts())
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == set(alerts())


def test_each_alert_has_an_entry_in_the_runbook_and_each_entry_an_alert():
    headings = re.findall(r"^## (\w+)$", RUNBOOK, re.MULTILINE)
    assert headings == list(alerts())
    for name, rule in alerts().items():
        assert rule["annotations"]["runbook_url"] == f"docs/runbook.md#{name.lower()}"
        entry = RUNBOOK.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert entry.strip().startswith(f"*{rule['labels']['severity'].capitalize()}.*"), name
        assert rule["annotations"]["summary"]
    anchors = set(re.findall(r"\(#(\w+)\)", RUNBOOK))
    assert anchors <= {name.lower() for name in alerts()}


def test_settings_that_the_runbook_names_exist():
    configuration = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    sections = set(re.findall(r"^#+ `([a-z_.]+)`$", configuration, re.MULTILINE))
    named = set(
        re.findall(
            r"`((?:host|gateway|feed|runtime|telemetry|substrate|view|coordination|growth|environment)\.[a-z_.]+)`",
            RUNBOOK,
        )
    )
    named.discard("runtime.json")
    assert len(named) > 8
    for setting in named:
        section, _, field = setting.rpartition(".")
        part = configuration.partition(f"`{section}`\n")[2].partition("\n#")[0]
        assert setting in sections or f"| `{field}` |" in part, setting


def test_the_operator_s_rules_are_the_same():
    operator = yaml.safe_load((MONITORING / "operator" / "rules.yaml").read_text("utf-8"))
    assert operator["kind"] == "PrometheusRule"
    assert operator["spec"]["groups"] == yaml.safe_load((MONITORING / "rules.yaml").read_text("utf-8"))["groups"]


def test_the_dashboard_is_current_and_asks_what_can_be_asked(tmp_path):
    done = subprocess.run(
        [sys.executable, MONITORING / "dashboard.py", "--check"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    board = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))
    rows = [panel["title"] for panel in board["panels"] if panel["type"] == "row"]
    questions = "Is it alive? Is it keeping up? Who comes in? What does it say? What does it cost? Is it growing?"
    assert " ".join(rows) == questions
    places = [tuple(panel["gridPos"][side] for side in "xy") for panel in board["panels"]]
    assert len(set(places)) == len(places)
    asked = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    listed = set(re.findall(r"^\| `(submind_\w+)`", (ROOT / "docs" / "metrics.md").read_text("utf-8"), re.MULTILINE))
    assert {name.removesuffix("_bucket") for one in asked for name in re.findall(r"submind_\w+", one)} <= listed
    plain = [one.replace("$__rate_interval", "5m").replace("$mind", ".*") for one in asked]
    rules = {
        "groups": [{"name": "panels", "rules": [{"record": f"panel:{n}", "expr": e} for n, e in enumerate(plain)]}]
    }
    (tmp_path / "panels.yaml").write_text(yaml.safe_dump(rules))
    done = promtool("check", "rules", "panels.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.cluster  # needs `kubectl`
@pytest.mark.smoke
def test_the_components_add_what_watches_a_mind(tmp_path):
    overlay = tmp_path / "k8s" / "overlays" / "watched"
    shutil.copytree(ROOT / "k8s", tmp_path / "k8s", dirs_exist_ok=True)
    overlay.mkdir()
    components = ["../../components/monitoring", "../../components/monitoring/operator"]
    kinds = {"kind": "Kustomization", "apiVersion": "kustomize.config.k8s.io/v1beta1", "namespace": "submind"}
    (overlay / "kustomization.yaml").write_text(
        yaml.safe_dump({**kinds, "resources": ["../dev"], "components": components})
    )
    done = subprocess.run(["kubectl", "kustomize", overlay], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(done.stdout)}
    alarms = yaml.safe_load(made["ConfigMap", "submind-alerts"]["data"]["rules.yaml"])
    assert alarms["groups"] == made["PrometheusRule", "submind"]["spec"]["groups"]
    board = made["ConfigMap", "submind-dashboard"]
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(board["data"]["submind.json"])["title"] == "submind"
    templates = [template for one in made.values() for template in _templates(one)]
    asked = {}
    for (kind, _), monitor in made.items():
        for endpoint in monitor["spec"]["podMetricsEndpoints"] if kind == "PodMonitor" else ():
            for template in (one for one in templates if _selects(monitor["spec"]["selector"], one)):
                ports = {port.get("name") for one in template["spec"]["containers"] for port in one.get("ports", ())}
                asked[template["metadata"]["labels"]["app.kubernetes.io/component"]] = endpoint["port"]
                assert endpoint["port"] in ports
    assert asked == {"mind": "http", "gateway": "probes", "feed": "probes"}


def _selects(selector, template):
    """Whether a selector of labels means the pods of a template."""
    labels = template["metadata"].get("labels", {})
    assert selector.keys() <= {"matchLabels", "matchExpressions"}
    wanted = selector.get("matchLabels", {})
    listed = selector.get("matchExpressions", ())
    assert all(one["operator"] == "In" for one in listed)
    exact = all(labels.get(name) == value for name, value in wanted.items())
    return exact and all(labels.get(one["key"]) in one["values"] for one in listed)


def _templates(resource):
    """All pod templates of a resource, those of a RayCluster too."""
    spec = resource.get("spec", {})
    groups = [spec.get("headGroupSpec", {}), *(spec.get("workerGroupSpecs", ()))]
    return [one["template"] for one in (spec, *groups) if "template" in one and "metadata" in one["template"]]
