"""Which of the Makefile's targets runs a test: exactly one, by a marker or by what the test asks for.

| target | what | marker |
|---|---|---|
| `make test` | all that needs no more than one machine, and a smoke of the servers | none |
| `make test-servers` | what asks for a real Cassandra or etcd | `servers`, given here |
| `make test-cluster` | what is deployed to Kubernetes; CI runs its smoke | `cluster`, given here |
| `make test-soak` | what takes minutes, so that rare things happen | `soak` |
| `make test-model` | what asks a real language or sentence model | `model`, given here |
"""

from collections.abc import Collection

import pytest

MARKERS = ("soak", "cluster", "servers", "model")


def target(markers: Collection[str], fixtures: Collection[str]) -> str | None:
    """The marker of the one target that runs it; ``make test`` has none."""
    if "soak" in markers:
        return "soak"
    if "cluster" in markers or "kubernetes" in fixtures:
        return "cluster"
    if {"language_model", "sentence_model"} & {*fixtures}:
        return "model"
    if "servers" in fixtures and "smoke" not in markers:
        return "servers"
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each, before anything is selected."""
    for item in items:
        markers = {marker.name for marker in item.iter_markers()}
        found = target(markers, getattr(item, "fixturenames", ()))
        if found is not None and found not in markers:
            item.add_marker(found)
