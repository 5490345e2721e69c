"""The production overlay for real, as far as one node carries it: TLS, tokens, three etcd, autoscaler, nightly backup.

Cut down in size alone (`production.py`): one Cassandra beside it in place of a cluster's, and less of everything.
"""

import itertools
import json
import subprocess
import time

import pytest

from tests.k8s.kube import NAMESPACE, eventually, is_ready, kubectl, leader, objects, pods, ready
from tests.k8s.production import ALONE_LOOPBACK, CALLER, LOOPBACK, PODS, ROOM, put

pytestmark = [pytest.mark.timeout(900)]
HELD = "/run/secrets/caller"
OPERATOR = f"--ca {HELD}/ca.crt --token-file /run/secrets/submind/token"
PERCEIVER = f"--ca {HELD}/ca.crt --token-file {HELD}/token"
KILL = "import json, os; os.kill(json.load(open('/data/runtime.json'))['host_pid'], 9)"
PERCEPTION = json.dumps({"source": "web-1", "text": "The crane in the harbour stands still."})


def asked(script):
    """Exit code and all that a script says in the pod of a caller."""
    command = ["kubectl", "-n", NAMESPACE, "exec", CALLER, "-c", "front", "--", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def nodes():
    """Who lives where."""
    code, said = asked(f"submind nodes --grpc gateway:50051 {OPERATOR} --json")
    return [json.loads(line) for line in said.splitlines()] if code == 0 else []


def test_it_runs_as_it_is_written(production):
    def runs():
        _, said = asked(f"submind status --grpc gateway:50051 {OPERATOR}")
        return "running" in said.partition("\n")[0]

    eventually("the mind runs", runs, 120.0, 2.0)
    scalers = {one["metadata"]["name"]: one for one in objects("hpa")}
    for name in ("gateway", "feed"):  # no number of them is written down: their autoscaler has made them two
        conditions = {one["type"]: one["status"] for one in scalers[name]["status"]["conditions"]}
        assert conditions["AbleToScale"] == "True", name
    assert {one["status"]["disruptionsAllowed"] for one in objects("pdb") if one["metadata"]["name"] == "etcd"} == {1}
    assert all(len(pods(component)) == many for component, many in PODS.items())


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ("", "speaks TLS"),
        (f"--ca {HELD}/another.crt --token-file {HELD}/token", "no encrypted connection came about"),
        (f"--ca {HELD}/ca.crt", "a token is required"),
        (f"--ca {HELD}/ca.crt --token-file {HELD}/wrong", "token"),
    ],
    ids=["plain", "another authority", "no token", "wrong token"],
)
def test_who_has_not_both_is_told_what_is_missing(production, shown, said):
    code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {shown}")
    assert code != 0
    assert said in told


def test_who_has_both_may_what_his_token_allows(production):
    code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {PERCEIVER}")
    assert code == 0, told
    code, told = asked(f"submind status --grpc gateway:50051 {PERCEIVER}")
    assert code != 0
    assert "needs a token with the scope `watch`" in told
    code, told = asked(f"wget -q -O- --ca-certificate={HELD}/ca.crt https://feed:8080/readyz")
    assert code == 0, told
    code, _ = asked(f"wget -q -O- --tries=1 --ca-certificate={HELD}/another.crt https://feed:8080/readyz")
    assert code != 0


@pytest.mark.parametrize(
    ("what", "plain", "through", "window"),
    [("a mind's fronts", LOOPBACK, "gateway:50051", 8), ("a gateway by itself", ALONE_LOOPBACK, "alone:50051", 32)],
    ids=["fronts", "alone"],
)
def test_what_a_service_tls_and_a_token_cost(production, figures, what, plain, through, window):
    ways = f"--plain {plain} --through {through} {PERCEIVER}"
    code, told = asked(f"python /etc/submind/service.py --json --rounds 3 --seconds 1 --window {window} {ways}")
    assert code == 0, told
    result = json.loads(told)
    rates = result["perceptions_per_s"]
    assert min(rates.values()) > 0
    assert len(result["ratios"]) == 3
    figures.tell(
        f"Service, TLS and token against plain loopback, {what}",
        f"ratio {result['ratio']:.2f} ({min(result['ratios']):.2f} to {max(result['ratios']):.2f});"
        f" {rates['through']:.0f} against {rates['plain']:.0f} durable perceptions/s",
        ratio=result["ratio"],
        through=rates["through"],
        plain=rates["plain"],
    )


def test_the_autoscaler_has_brought_the_node_that_was_missing(production):
    """One node was written down; the mind asked for room for all."""
    assert len(pods("subminds")) == 2

    def spread():
        living = [len(one["actors"]) for one in nodes()]
        return sum(living) > ROOM and sorted(living)[-2] > 0 and max(living) <= ROOM

    eventually("subminds live on both nodes", spread, 120.0, 2.0)


def test_one_of_three_etcd_is_not_missed(production, figures):
    leads = leader()
    assert leads is not None
    kubectl("-n", NAMESPACE, "delete", "pod", "etcd-0", "--grace-period=0", "--force")
    lost = time.monotonic()
    for number in itertools.count():
        code, told = asked(f"echo '{PERCEPTION}' | submind perceive - --grpc gateway:50051 {PERCEIVER}")
        assert code == 0, told
        if number > 2 and len(pods("etcd")) == 3 and all(map(is_ready, pods("etcd").values())):
            break
        assert time.monotonic() < lost + 120, "etcd-0 did not come back"
    took = time.monotonic() - lost
    assert leader() == leads
    figures.tell("production: loss of one of three etcd", f"back after {took:.0f} s; the same leads", seconds=took)


def test_a_host_that_ends_is_replaced(production, figures):
    """With the autoscaler no container of Ray's pods is started again: the pod has to go as a whole."""
    leads = eventually("a host leads", leader)
    kubectl("-n", NAMESPACE, "exec", leads, "-c", "host", "--", "python", "-c", KILL)
    lost = time.monotonic()

    def thinks():
        _, said = asked(f"submind status --grpc gateway:50051 {OPERATOR}")
        return leader() not in {None, leads} and "running" in said.partition("\n")[0]

    eventually("the other leads", thinks, 120.0)
    led = time.monotonic() - lost
    eventually("there is another pod", lambda: leads not in pods("mind") and ready(mind=2), 240.0)
    took = time.monotonic() - lost
    figures.tell(
        "production: the host that leads ends",
        f"the other leads, and the mind runs, after {led:.0f} s; another pod Ready after {took:.0f} s",
        leads_s=led,
        again_s=took,
    )


def finished(name):
    """What a Job has said, line by line, once it is done."""
    kubectl("-n", NAMESPACE, "wait", "--for=condition=complete", f"job/{name}", "--timeout=180s")
    return kubectl("-n", NAMESPACE, "logs", f"job/{name}").splitlines()


def backup(name):
    """Run the nightly Job now; what it says of the file it has made."""
    kubectl("-n", NAMESPACE, "create", "job", "--from=cronjob/backup", name)
    (made,) = [told for line in finished(name) if "backup" in (told := json.loads(line))]
    return made


def test_a_backup_is_made_kept_and_can_be_restored(production, figures):
    began = time.monotonic()
    first = backup("backup-first")
    took = time.monotonic() - began
    figures.tell("production: backup by its CronJob", f"{took:.0f} s, {first['seconds']:.1f} s of it reading")
    second = backup("backup-second")
    assert second["backup"] > first["backup"]
    assert second["counts"]["perceptions"] > 0
    (job,) = [one for one in objects("jobs") if one["metadata"]["name"] == "backup-second"]
    template = {"spec": job["spec"]["template"]["spec"]}
    (container,) = template["spec"]["containers"]
    restore = f"submind restore {second['backup']}"
    container["command"] = ["sh", "-c", f"ls /backups | wc -l && {restore} --check && {restore} --data-dir /tmp/drill"]
    put({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "drill"}, "spec": {"template": template}})
    said = finished("drill")
    assert said[0] == "1", "KEEP is 1 here"
    assert "is whole at /tmp/drill" in " ".join(said)
