"""What a Ray cluster says of itself, as one JSON object: ``python -m orchestration.cli.doctor.rayed HOST:PORT``.

In a process of its own, since Ray's client ends the process that asks where it is not content with an answer.
"""

import importlib
import json
import sys
from typing import Any

_ALIVE = 0


def ask(address: str) -> dict[str, Any]:
    """Versions of the cluster and of this machine, the nodes that are alive, and where the head keeps what it knows."""
    import ray  # noqa: PLC0415 - only where it is asked

    usage: Any = importlib.import_module("ray._common.usage.usage_lib")
    client: Any = importlib.import_module("ray._raylet").GcsClient(address=address)
    said = usage.get_cluster_metadata(client)
    nodes = [
        {
            "name": node.node_name or node.node_manager_address,
            "address": node.node_manager_address,
            "resources": {name: amount for name, amount in node.resources_total.items() if ":" not in name},
        }
        for node in client.get_all_node_info(timeout=10).values()
        if node.state == _ALIVE
    ]
    here = {"ray": ray.__version__, "python": ".".join(map(str, sys.version_info[:3]))}
    there = {"ray": said["ray_version"], "python": said["python_version"]}
    kept = usage.get_extra_usage_tags_to_report(client).get("gcs_storage", "")
    return {"cluster": there, "here": here, "nodes": nodes, "kept": kept}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(ask(sys.argv[1])) + "\n")
