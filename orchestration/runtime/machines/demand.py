"""Asking the autoscaler of a cluster for room."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import structlog

_log = structlog.get_logger(__name__)
_AGAIN = 60.0
"""Seconds after which the same is asked for again: what was asked is lost with the cluster's head."""
_Bundles: TypeAlias = list[dict[str, float]]
_Labels: TypeAlias = list[dict[str, str]]


class Demand:
    """Asks for as much of a resource as all actors take, whenever that changes.

    Actors are bound to nodes by the mind itself, and those that have no place are not started: the cluster would never
    see that there are too few nodes. What was asked for last holds until it is asked anew, also when the mind ends:
    the next process finds the nodes there.
    """

    def __init__(
        self,
        resource: str,
        request: Callable[[_Bundles, _Labels], None] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """``clock``: seconds that do not go back; the event loop's by default."""
        self._resource = resource
        self._request = request or _request
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._asked: tuple[list[float], frozenset[str]] | None = None
        self._at = 0.0

    async def ask(self, units: Sequence[float], without: frozenset[str] = frozenset()) -> None:
        """``units``: what each actor takes. ``without``: nodes, by id, whose room does not count.

        An autoscaler that cannot be reached is asked again the next time.
        """
        asking = (list(units), without)
        again = asking == self._asked
        if again and self._clock() - self._at < _AGAIN:
            return
        # A node that is asked for would never count as idle, so each piece of room says where it must not be.
        label = {"ray.io/node-id": f"!in({','.join(sorted(without))})"} if without else {}
        try:
            await asyncio.to_thread(self._request, [{self._resource: each} for each in units], [label for _ in units])
        except Exception as error:  # noqa: BLE001 - whatever Ray raises: it is asked again
            _log.warning("autoscaler_not_asked", reason=str(error).splitlines()[0] if str(error) else "")
            return
        if not again:
            _log.info("nodes_asked_for", resource=self._resource, units=sum(units), without=sorted(without))
        self._asked, self._at = asking, self._clock()


def _request(bundles: _Bundles, labels: _Labels) -> None:
    from ray.autoscaler import sdk  # noqa: PLC0415 - Ray comes late

    ask: Any = sdk.request_resources
    ask(bundles=bundles, bundle_label_selectors=labels)
