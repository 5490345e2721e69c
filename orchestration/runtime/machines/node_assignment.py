"""The place of one actor, as its supervisor sees it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol


class NodeAssignment(Protocol):
    """Where an actor is to live. Nodes are named by their ids."""

    async def given(self) -> str:
        """The node; waits until there is one."""
        ...

    async def withdrawn(self, node: str) -> None:
        """Return when its place is elsewhere than on ``node``."""
        ...

    async def lost(self, node: str) -> bool:
        """Whether that node is gone, as of now."""
        ...

    def born(self, node: str) -> None:
        """It lives there."""
        ...

    def died(self, node: str) -> None:
        """Its process there has ended."""
        ...

    def options(self, node: str) -> dict[str, Any]:
        """How Ray is told to start it there."""
        ...


class SingleNodeAssignment:
    """The place of every actor of a mind that has a Ray of its own: the one node there is."""

    async def given(self) -> str:
        return ""

    async def withdrawn(self, node: str) -> None:  # noqa: ARG002 - a NodeAssignment's signature
        await asyncio.get_running_loop().create_future()

    async def lost(self, node: str) -> bool:  # noqa: ARG002 - a NodeAssignment's signature
        return False

    def born(self, node: str) -> None:  # noqa: ARG002 - a NodeAssignment's signature
        return

    def died(self, node: str) -> None:  # noqa: ARG002 - a NodeAssignment's signature
        return

    def options(self, node: str) -> dict[str, Any]:  # noqa: ARG002 - a NodeAssignment's signature
        return {"num_cpus": 0}
