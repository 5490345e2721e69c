"""``submind.v1.NodeService``: the nodes a mind lives on, and what operators order there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import grpc

from orchestration.gateway.binding import Guard, service, unary
from orchestration.pb.submind.v1 import nodes_pb2 as pb

NAME = "submind.v1.NodeService"


class Nodes(Protocol):
    """What the service asks: ``orchestration.host.nodes.NodeDesk``, or the leader."""

    async def listed(self) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]: ...

    async def drain(self, node: str, *, undo: bool) -> None: ...

    async def restart(self, name: str) -> Sequence[str]: ...


class NodeService:
    """``submind.v1.NodeService``."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    async def list_nodes(self, _: pb.ListNodesRequest) -> pb.ListNodesResponse:
        """Who lives where."""
        nodes, homeless = await self._nodes.listed()
        return pb.ListNodesResponse(nodes=[pb.Node(**node) for node in nodes], homeless=homeless)

    async def drain_node(self, request: pb.DrainNodeRequest) -> pb.DrainNodeResponse:
        """Raises ``PlacementError``."""
        await self._nodes.drain(request.node, undo=request.undo)
        return pb.DrainNodeResponse()

    async def restart_submind(self, request: pb.RestartSubmindRequest) -> pb.RestartSubmindResponse:
        """Raises ``PlacementError``."""
        return pb.RestartSubmindResponse(renewed=await self._nodes.restart(request.name))


def node_service(guard: Guard, nodes: Nodes) -> grpc.GenericRpcHandler[Any, Any]:
    """Every method of the service, by its name in the schema."""
    serving = NodeService(nodes)
    return service(
        NAME,
        {
            "ListNodes": unary(guard, pb.ListNodesRequest, serving.list_nodes),
            "DrainNode": unary(guard, pb.DrainNodeRequest, serving.drain_node),
            "RestartSubmind": unary(guard, pb.RestartSubmindRequest, serving.restart_submind),
        },
    )
