"""What `policies.py` makes of a NetworkPolicy; that it is enforced is tried in `test_production.py`."""

import pytest

from tests.k8s.policies import rules, selects


def pod(name, address, labels=None, namespace="submind", phase="Running"):
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"metadata": metadata, "spec": {}, "status": {"podIP": address, "phase": phase}}


def policy(spec, namespace="submind"):
    return {"metadata": {"name": "one", "namespace": namespace}, "spec": spec}


def made(*policies):
    pods = [
        pod("cassandra", "10.0.0.1", {"is": "store"}),
        pod("gateway", "10.0.0.2", {"may": "store"}),
        pod("stranger", "10.0.0.3", {"may": "store"}, namespace="elsewhere"),
        pod("migrate", "10.0.0.4", {"may": "store"}, phase="Succeeded"),
    ]
    spaces = [{"metadata": {"name": name, "labels": {"called": name}}} for name in ("submind", "elsewhere")]
    found = {"pods": pods, "namespaces": spaces, "policies": policies}
    return rules({kind: {str(number): one for number, one in enumerate(them)} for kind, them in found.items()})


def test_a_namespace_nobody_is_let_into_or_out_of():
    closed = policy({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
    assert made(closed) == [
        "egress ip saddr { 10.0.0.1, 10.0.0.2 } goto refuse",
        "ingress ip daddr { 10.0.0.1, 10.0.0.2 } goto refuse",
    ]


def test_labels_count_in_the_policys_own_namespace_alone():
    store = {"podSelector": {"matchLabels": {"is": "store"}}}
    let_in = [{"from": [{"podSelector": {"matchLabels": {"may": "store"}}}], "ports": [{"port": 9042}]}]
    allowed, refused = made(policy(store | {"ingress": let_in}))
    assert allowed == "ingress ip daddr { 10.0.0.1 } ip saddr { 10.0.0.2 } tcp dport 9042 return"
    assert refused == "ingress ip daddr { 10.0.0.1 } goto refuse"


def test_peers_of_other_namespaces_blocks_and_anybody():
    there = {"namespaceSelector": {"matchLabels": {"called": "elsewhere"}}}
    block = {"ipBlock": {"cidr": "169.254.20.10/32"}}
    out = [{"to": [there, block], "ports": [{"port": 53, "protocol": "UDP"}]}, {"ports": [{"port": 9042}]}]
    spec = {"podSelector": {"matchLabels": {"is": "store"}}, "policyTypes": ["Egress"], "egress": out}
    assert made(policy(spec))[:-1] == [
        "egress ip saddr { 10.0.0.1 } ip daddr { 169.254.20.10/32 } udp dport 53 return",
        "egress ip saddr { 10.0.0.1 } ip daddr { 10.0.0.3 } udp dport 53 return",
        "egress ip saddr { 10.0.0.1 } tcp dport 9042 return",
    ]


def test_who_is_meant_but_not_there_opens_nothing():
    rule = {"from": [{"podSelector": {"matchLabels": {"may": "nothing"}}}]}
    assert made(policy({"podSelector": {}, "ingress": [rule]})) == [
        "ingress ip daddr { 10.0.0.1, 10.0.0.2 } goto refuse"
    ]


def test_selectors():
    labels = {"a": "1"}
    for operator, values, held in [
        ("In", ["1", "2"], True),
        ("In", ["2"], False),
        ("NotIn", ["2"], True),
        ("NotIn", ["1"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ]:
        assert selects({"matchExpressions": [{"key": "a", "operator": operator, "values": values}]}, labels) is held
    assert not selects({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}, labels)


@pytest.mark.parametrize(
    "rule",
    [
        {"ports": [{"port": 1, "endPort": 9}]},
        {"ports": [{"port": "http"}]},
        {"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]},
    ],
)
def test_what_it_does_not_know_is_no_rule_of_any_kind(rule):
    with pytest.raises(ValueError, match="not known here"):
        made(policy({"podSelector": {}, "ingress": [rule]}))
