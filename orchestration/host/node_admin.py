"""What operators see of a mind's nodes, and order there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orchestration.host.supervisor import MindSupervisor


class NodeAdmin:
    """Reads what the mind process told last, and has it do things. Raises ``PlacementError`` with why it does not."""

    def __init__(self, supervisor: MindSupervisor) -> None:
        self._supervisor = supervisor

    async def listed(self) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]:
        """The nodes, as ``Placement.described`` has them; actors without a place, and why."""
        report = self._supervisor.report
        return tuple(report.nodes), dict(report.unschedulable)

    async def drain(self, node: str, *, undo: bool) -> None:
        """Have a node give up its actors, or take them again."""
        await self._supervisor.ask({"do": "drain", "node": node, "undo": undo})

    async def restart(self, name: str) -> Sequence[str]:
        """Have a submind live on in a new process; returns when it does, with all who share the process."""
        answer = await self._supervisor.ask({"do": "restart", "name": name})
        return [str(renewed) for renewed in answer["renewed"]]
