"""The nodes of a mind, for a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestration.pb.submind.v1 import nodes_pb2 as pb

if TYPE_CHECKING:
    from orchestration.client.mind import MindClient

_LONG = 300.0
"""Seconds that a node may take to be drained, and a submind to be born anew."""


class NodeClient:
    """What ``MindClient.nodes`` offers. Raises ``ClientError`` with why something is not done."""

    def __init__(self, mind: MindClient) -> None:
        self._mind = mind

    async def listed(self) -> tuple[list[pb.Node], dict[str, str]]:
        """The nodes, and actors without a place with the reasons."""
        answer = await self._mind.ask("NodeService/ListNodes", pb.ListNodesRequest())
        return list(answer.nodes), dict(answer.unschedulable)

    async def drain(self, node: str, *, undo: bool = False) -> None:
        """Have a node give up its actors and take no others, or take them again."""
        await self._mind.ask("NodeService/DrainNode", pb.DrainNodeRequest(node=node, undo=undo), within=_LONG)

    async def restart(self, name: str) -> list[str]:
        """Have a submind save, end and live on in a new process; returns when it does, with all who share it."""
        request = pb.RestartSubmindRequest(name=name)
        return list((await self._mind.ask("NodeService/RestartSubmind", request, within=_LONG)).renewed)
