"""Seeing the nodes of a cluster: what they offer, what is free, and whether a mind's files are there."""

import asyncio
import importlib
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ray
import structlog
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from orchestration.placement.placement import ObservedNode
from orchestration.placement.settings import ClusterSettings
from orchestration.runtime.processes import machine

_log = structlog.get_logger(__name__)
_PROBE_WITHIN = 60.0


def _books() -> tuple[list[dict[str, Any]], Mapping[str, Mapping[str, float]]]:
    """What the cluster says of its nodes: all there were, and what is free on those that are alive."""
    state: Any = importlib.import_module("ray._private.state")  # a developer's API that Ray does not export elsewhere
    return state.nodes(), state.available_resources_per_node()


class _Teller:
    """Reads the books within the cluster, for a mind that reached it through a client server."""

    def books(self) -> tuple[list[dict[str, Any]], Mapping[str, Mapping[str, float]]]:
        """As ``_books``."""
        return _books()


class DirectoryProof:
    """A file by which a node proves that it has the mind's data directory, on the machine the mind runs on.

    SQLite's files may be shared by the processes of one machine, not by those of several: not even where a file system
    shows them to all.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / ".proof"
        self._word = f"{machine()} {secrets.token_hex(16)}"
        self._path.write_text(self._word, "utf-8")
        self.directory = directory

    async def missed_by(self, node: str) -> str:
        """Why that node cannot take actors; empty when it can."""
        probe = ray.remote(num_cpus=0, max_retries=0)(_has)
        strategy = NodeAffinitySchedulingStrategy(node, soft=False)
        there = probe.options(scheduling_strategy=strategy).remote(str(self._path), self._word)
        async with asyncio.timeout(_PROBE_WITHIN):
            return "" if await there else f"it cannot see {self.directory}"


def _has(path: str, word: str) -> bool:
    """Whether the file is here, and this the machine it was written on. Runs on the node."""
    try:
        return word.startswith(f"{machine()} ") and Path(path).read_text("utf-8") == word
    except OSError:
        return False


class NodeMonitor:
    """Looks at the nodes of the cluster that this process has joined, as one mind may use them."""

    def __init__(self, settings: ClusterSettings, proof: DirectoryProof | None) -> None:
        """``proof``: what every node must be able to see."""
        self._settings = settings
        self._proof = proof
        self._proven: dict[str, str] = {}
        client = settings.address.startswith("ray://")
        self._teller: Any = (
            ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Teller).remote() if client else None
        )

    async def look(self) -> Sequence[ObservedNode]:
        """The nodes that are alive. Raises ``OSError`` or ``RuntimeError`` where the cluster cannot be asked."""
        if self._teller is not None:
            nodes, free = await self._teller.books.remote()
        else:
            nodes, free = await asyncio.to_thread(_books)
        alive = [node for node in nodes if node["Alive"]]
        offering = [node for node in alive if self._total(node) > 0]
        await asyncio.gather(*(self._prove(node["NodeID"]) for node in offering if not self._unnamed(node)))
        return [self._seen(node, free.get(node["NodeID"], {})) for node in offering]

    def _total(self, node: Mapping[str, Any]) -> float:
        return float(node["Resources"].get(self._settings.resource, 0.0))

    def _unnamed(self, node: Mapping[str, Any]) -> bool:
        named = self._settings.nodes
        return bool(named) and not {node["NodeID"], node["NodeName"], node["NodeManagerAddress"]} & set(named)

    async def _prove(self, node: str) -> None:
        if self._proof is None or node in self._proven:
            return
        try:
            self._proven[node] = await self._proof.missed_by(node)
        except (ray.exceptions.RayError, TimeoutError) as error:  # asked again at the next look
            _log.warning("node_not_asked", node=node[:8], reason=type(error).__name__)

    def _seen(self, node: Mapping[str, Any], free: Mapping[str, float]) -> ObservedNode:
        barred = "not named in runtime.cluster.nodes" if self._unnamed(node) else ""
        if not barred and self._proof is not None:
            barred = self._proven.get(node["NodeID"], "it has not yet been asked for the data directory")
        return ObservedNode(
            node["NodeID"],
            node["NodeName"],
            node["NodeManagerAddress"],
            self._total(node),
            float(free.get(self._settings.resource, 0.0)),
            barred,
        )
