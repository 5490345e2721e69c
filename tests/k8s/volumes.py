"""``python -m tests.k8s.volumes DIR``: volumes in folders of this machine, for a one-node cluster that has none."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

COUNT = 32
_OWNER = 10001


def main(directory: Path) -> None:
    """Make folders and the PersistentVolumes that stand for them; the node is the only one there is."""
    nodes = subprocess.run(["kubectl", "get", "nodes", "-o", "name"], capture_output=True, text=True, check=True)
    (node,) = nodes.stdout.split()
    names = [f"volume-{at}" for at in range(COUNT)]
    subprocess.run(["kubectl", "delete", "pv", "--ignore-not-found", *names], check=True)
    volumes = []
    for name in names:
        folder = directory / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        os.chown(folder, _OWNER, _OWNER)
        volumes.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": folder.name},
                "spec": {
                    "capacity": {"storage": "10Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "local": {"path": str(folder)},
                    "nodeAffinity": {
                        "required": {
                            "nodeSelectorTerms": [
                                {
                                    "matchExpressions": [
                                        {
                                            "key": "kubernetes.io/hostname",
                                            "operator": "In",
                                            "values": [node.removeprefix("node/")],
                                        }
                                    ]
                                }
                            ]
                        }
                    },
                },
            }
        )
    listed = {"apiVersion": "v1", "kind": "List", "items": volumes}
    subprocess.run(["kubectl", "apply", "-f", "-"], input=json.dumps(listed), text=True, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
