"""Telling the autoscaler of a cluster how much room a mind wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import structlog

_log = structlog.get_logger(__name__)


class Demand:
    """Asks for as much of a resource as all actors take, whenever that changes.

    Actors are bound to nodes by the mind itself, and those that have no place are not started: the cluster would never
    see that there are too few nodes. What was asked for last holds until it is asked anew, also when the mind ends:
    the next process finds the nodes there.
    """

    def __init__(self, resource: str, request: Callable[[list[dict[str, float]]], None] | None = None) -> None:
        self._resource = resource
        self._request = request or _request
        self._asked: Sequence[float] | None = None

    async def ask(self, units: Sequence[float]) -> None:
        """``units``: what each actor takes. An autoscaler that cannot be reached is asked again the next time."""
        if units == self._asked:
            return
        try:
            await asyncio.to_thread(self._request, [{self._resource: each} for each in units])
        except Exception as error:  # noqa: BLE001 - whatever Ray raises: it is asked again
            _log.warning("autoscaler_not_asked", reason=str(error).splitlines()[0] if str(error) else "")
            return
        _log.info("nodes_asked_for", resource=self._resource, units=sum(units))
        self._asked = list(units)


def _request(bundles: list[dict[str, float]]) -> None:
    from ray.autoscaler import sdk  # noqa: PLC0415 - Ray comes late

    ask: Any = sdk.request_resources
    ask(bundles=bundles)
