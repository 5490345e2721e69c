"""What only the leader's process knows, asked of it: how the mind process is, nodes, orders."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from typing import Any

import structlog

from environment.errors import StoreUnavailable
from orchestration.access.caller import CALLER
from orchestration.access.errors import BadCredentials, Forbidden
from orchestration.access.scopes import Scope
from orchestration.client.errors import ClientError, Denied, Unavailable
from orchestration.front.errors import NoLeader
from orchestration.front.settings import FrontSettings
from orchestration.front.upstream import Upstream
from orchestration.gateway import decode
from orchestration.gateway.growth import decode_outcome
from orchestration.growth.desk import GrowthDesk, Outcome
from orchestration.pb.submind.v1 import growth_pb2, mind_pb2, nodes_pb2
from orchestration.placement.errors import PlacementError
from orchestration.view.mind import MindView
from orchestration.view.status import LimitHits, MindState, MindStatus

_log = structlog.get_logger(__name__)
_SOON = 0.2
"""Seconds that a leader has that did not answer the last time."""
_ORDER = 10.0
"""Seconds that an order may take."""
_LONG = 300.0
"""Seconds that a node may take to be drained, and a submind to be born anew."""


class AskedStatus:
    """The leader's word on how the mind is, asked for at most as often as configured, however many want to know.

    Nobody waits for a leader that did not answer the last time: it is asked again behind their backs.
    """

    def __init__(self, upstream: Upstream, settings: FrontSettings) -> None:
        self._upstream = upstream
        self._settings = settings
        self._asking: asyncio.Task[None] | None = None
        self._asked = float("-inf")
        self._failed = False
        self._told: MindStatus | None = None
        self.why_not = "it has not answered yet"
        """Why it is not known now."""

    @property
    def runs(self) -> bool:
        """Whether the mind process ran when the leader was asked last."""
        return self._told is not None and self._told.state in {MindState.RUNNING, MindState.DEGRADED}

    async def status(self) -> MindStatus | None:
        """As the leader told it; None where it does not tell."""
        fresh = asyncio.get_running_loop().time() - self._asked < self._settings.ask_every
        if self._asking is None and not fresh:
            asking = self._ask()  # in nobody's name: the answer is for all
            self._asking = asyncio.create_task(asking, name="ask-status", context=Context())
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=_SOON if self._failed else None)
        return self._told

    async def _ask(self) -> None:
        try:
            answer = await self._upstream.ask(
                "MindService/GetStatus", mind_pb2.GetStatusRequest(), mind_pb2.GetStatusResponse
            )
            self._told, self._failed = decode.status(answer.status), False
        except (ClientError, StoreUnavailable, BadCredentials) as error:
            self._told, self._failed, self.why_not = None, True, str(error)
        except Exception as error:  # noqa: BLE001 - said, and asked again
            self._told, self._failed, self.why_not = None, True, f"{type(error).__name__}: {error}"
            _log.exception("leader_not_asked")
        finally:
            self._asked, self._asking = asyncio.get_running_loop().time(), None


class FrontView(MindView):
    """A mind read from its stores; how it is, the leader says, and while it does not the stores alone are judged by."""

    def watch_over(self, asked: AskedStatus, own_hits: Callable[[], Mapping[str, float]]) -> None:
        """``asked``: the leader's word. ``own_hits``: how often this process met its limits, by name."""
        self._asked, self._own_hits = asked, own_hits

    async def status(self) -> MindStatus:
        """How the mind is, and why."""
        told = await self._asked.status()
        if told is not None:
            return replace(told, limits=_together(told.limits, self._own_hits()))
        own = await super().status()
        state = MindState.DEGRADED if own.state is MindState.RUNNING else own.state
        unknown = f"the leader does not say how the mind is ({self._asked.why_not}): this is what the stores tell"
        return replace(own, state=state, reasons=(unknown, *own.reasons))


def _together(told: Sequence[LimitHits], own: Mapping[str, float]) -> tuple[LimitHits, ...]:
    """The leader's limits, with the hits of this process added."""
    known = {one.name: one for one in told}
    for name, hits in own.items():
        one = known.get(name) or LimitHits(name, None, 0)
        known[name] = replace(one, hits=one.hits + int(hits))
    return tuple(known[name] for name in sorted(known))


class LeaderNodes:
    """The nodes of the mind, as the leader knows them. Raises ``PlacementError`` with why something is not done."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    async def listed(self) -> tuple[Sequence[Mapping[str, Any]], Mapping[str, str]]:
        """The nodes; actors without a place, and why."""
        answer = await _placed(
            self._upstream.ask("NodeService/ListNodes", nodes_pb2.ListNodesRequest(), nodes_pb2.ListNodesResponse)
        )
        nodes = [{field.name: getattr(node, field.name) for field in node.DESCRIPTOR.fields} for node in answer.nodes]
        return nodes, dict(answer.homeless)

    async def drain(self, node: str, *, undo: bool) -> None:
        """Have a node give up its actors, or take them again."""
        request = nodes_pb2.DrainNodeRequest(node=node, undo=undo)
        await _placed(self._upstream.ask("NodeService/DrainNode", request, nodes_pb2.DrainNodeResponse, within=_LONG))

    async def restart(self, name: str) -> Sequence[str]:
        """Have a submind live on in a new process; returns when it does, with all who share the process."""
        request = nodes_pb2.RestartSubmindRequest(name=name)
        answer = await _placed(
            self._upstream.ask("NodeService/RestartSubmind", request, nodes_pb2.RestartSubmindResponse, within=_LONG)
        )
        return list(answer.renewed)


async def _placed(asked: Awaitable[Any]) -> Any:
    """What was answered, with errors as a host has them."""
    try:
        return await asked
    except Unavailable as error:
        raise NoLeader(error.message, error.retry_after or 1.0) from error
    except ClientError as error:
        raise PlacementError(error.message) from error
    except BadCredentials as error:
        raise NoLeader(str(error)) from error


class RelayedDesk(GrowthDesk):
    """Growth as operators see it, from a front: read from the store, ordered through the leader, which acts at once.

    Where the leader cannot be asked, or it cannot be now, the order is made at the store: there it is decided in any
    case, so an order that came through before the leader was lost holds once. Raises ``Forbidden`` too.
    """

    def through(self, upstream: Upstream) -> None:
        """``upstream``: the way to the leader."""
        self._upstream = upstream

    async def freeze(self, by: str, reason: str) -> Outcome:
        """Stop all growth, at once."""
        request = growth_pb2.FreezeRequest(order=_order(by, reason))
        told = await self._told_leader("Freeze", request, growth_pb2.FreezeResponse)
        return told or await super().freeze(by, reason)

    async def thaw(self, by: str, reason: str) -> Outcome:
        """Let growth go on."""
        request = growth_pb2.ThawRequest(order=_order(by, reason))
        told = await self._told_leader("Thaw", request, growth_pb2.ThawResponse)
        return told or await super().thaw(by, reason)

    async def approve(self, proposal: int, by: str, reason: str) -> Outcome:
        """Permit what a waiting proposal asks for, once."""
        request = growth_pb2.ApproveRequest(proposal=proposal, order=_order(by, reason))
        told = await self._told_leader("Approve", request, growth_pb2.ApproveResponse)
        return told or await super().approve(proposal, by, reason)

    async def reject(self, proposal: int, by: str, reason: str) -> Outcome:
        """Refuse a waiting proposal."""
        request = growth_pb2.RejectRequest(proposal=proposal, order=_order(by, reason))
        told = await self._told_leader("Reject", request, growth_pb2.RejectResponse)
        return told or await super().reject(proposal, by, reason)

    def _same(self, signed: str, by: str) -> bool:
        """The leader signs an order with the name of this front as well."""
        name = _name(by)
        return signed in {by, name} or signed.startswith(f"{name} (")

    async def _told_leader(self, method: str, request: Any, answer: Any) -> Outcome | None:
        try:
            said = await self._upstream.ask(f"GrowthService/{method}", request, answer, within=_ORDER)
        except Denied as error:
            raise Forbidden("the token of this front", Scope.OPERATE.value, "handing an order on") from error
        except (ClientError, StoreUnavailable, BadCredentials):  # the store says why not, where that is it
            return None
        return decode_outcome(said.outcome)


def _order(by: str, reason: str) -> growth_pb2.Order:
    """As the caller gave it: the leader signs it, with the token's name and this front's."""
    return growth_pb2.Order(by=_name(by), reason=reason)


def _name(by: str) -> str:
    return by.removesuffix(f" ({CALLER.get().told})")
