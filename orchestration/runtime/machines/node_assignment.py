"""The place of one actor, as its supervisor sees it."""

import asyncio
from typing import Any


class NodeAssignment:
    """Where an actor is to live, by the ids of nodes: here the one node of a Ray of the mind's own, without an id."""

    async def given(self) -> str:
        """The node; waits until there is one."""
        return ""

    async def withdrawn(self, node: str) -> None:  # noqa: ARG002 - there is one node
        """Return when its place is elsewhere than on ``node``."""
        await asyncio.get_running_loop().create_future()

    async def lost(self, node: str) -> bool:  # noqa: ARG002 - as above
        """Whether that node is gone, as of now."""
        return False

    def born(self, node: str) -> None:
        """It lives there."""

    def died(self, node: str) -> None:
        """Its process there has ended."""

    def options(self, node: str) -> dict[str, Any]:  # noqa: ARG002 - as above
        """How Ray is told to start it there."""
        return {"num_cpus": 0}
