"""The nodes of a mind, for a client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestration.pb.submind.v1 import nodes_pb2 as pb

if TYPE_CHECKING:
    from orchestration.client.mind import MindClient

_LONG = 300.0
"""Seconds that a node may take to be drained, and a submind to be born anew."""


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node of the cluster that a mind lives on; fields as in the schema."""

    id: str
    name: str
    address: str
    drained: bool
    barred: str
    total: float
    taken: float
    others: float
    actors: tuple[str, ...]


class NodeClient:
    """What ``MindClient.nodes`` offers. Raises ``ClientError`` with why something is not done."""

    def __init__(self, mind: MindClient) -> None:
        self._mind = mind

    async def listed(self) -> tuple[list[NodeView], dict[str, str]]:
        """The nodes, and actors without a place with the reasons."""
        answer = await self._mind.ask("NodeService/ListNodes", pb.ListNodesRequest(), pb.ListNodesResponse)
        nodes = [
            NodeView(
                node.id,
                node.name,
                node.address,
                node.drained,
                node.barred,
                node.total,
                node.taken,
                node.others,
                tuple(node.actors),
            )
            for node in answer.nodes
        ]
        return nodes, dict(answer.homeless)

    async def drain(self, node: str, *, undo: bool = False) -> None:
        """Have a node give up its actors and take no others, or take them again."""
        request = pb.DrainNodeRequest(node=node, undo=undo)
        await self._mind.ask("NodeService/DrainNode", request, pb.DrainNodeResponse, within=_LONG)

    async def restart(self, name: str) -> list[str]:
        """Have a submind save, end and live on in a new process; returns when it does, with all who share it."""
        request = pb.RestartSubmindRequest(name=name)
        answer = await self._mind.ask("NodeService/RestartSubmind", request, pb.RestartSubmindResponse, within=_LONG)
        return list(answer.renewed)
