"""What only the leader's process knows, asked of it: how the mind process is, nodes, orders."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from typing import Any

import structlog
from google.protobuf.message import Message

from environment.errors import StoreUnavailable
from orchestration.access.caller import CALLER
from orchestration.access.errors import BadCredentials, Forbidden
from orchestration.access.scopes import Scope
from orchestration.client.errors import ClientError, Denied, Unavailable
from orchestration.front.errors import NoLeader
from orchestration.front.settings import FrontSettings
from orchestration.front.upstream import Upstream
from orchestration.gateway.services import Handler, Handlers
from orchestration.growth.admin import GrowthAdmin
from orchestration.pb.submind.v1 import mind_pb2
from orchestration.placement.errors import PlacementError
from orchestration.schema.convert import decode
from orchestration.schema.methods import METHODS, Method, method
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
            answer = await self._upstream.ask(method("MindService/GetStatus"), mind_pb2.GetStatusRequest())
            self._told, self._failed = decode(MindStatus, answer.status), False
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
            return replace(told, limits=_together(told.limits, self._own_hits()), now=self.now())
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


def forwarded(upstream: Upstream, service: str) -> Handlers:
    """Every method of a service as the leader answers it. Raises ``PlacementError`` with why something is not done."""
    return {name: _forward(upstream, one) for name, one in METHODS.items() if one.service == service}


def _forward(upstream: Upstream, method: Method) -> Handler:
    within = _LONG if Scope(method.scope) is Scope.OPERATE else None

    async def ask(request: Message) -> Message:
        try:
            answer: Message = await upstream.ask(method, request, within=within)
        except Unavailable as error:
            raise NoLeader(error.message, error.retry_after or 1.0) from error
        except ClientError as error:
            raise PlacementError(error.message) from error
        except BadCredentials as error:
            raise NoLeader(str(error)) from error
        return answer

    return ask


def relayed(upstream: Upstream, own: Handlers) -> Handlers:
    """Handlers of which orders are given through the leader, which acts at once.

    Where the leader cannot be asked, or it cannot be now, the order is made by ``own``: at the store it is decided in
    any case, so an order that came through before the leader was lost holds once. Raises ``Forbidden`` too.
    """
    orders = [METHODS[name] for name in own if METHODS[name].scope == Scope.OPERATE.value]
    return {**own, **{one.rpc: _relay(upstream, one, own[one.rpc]) for one in orders}}


def _relay(upstream: Upstream, method: Method, own: Handler) -> Handler:
    async def order(request: Message) -> Any:
        try:
            return await upstream.ask(method, request, within=_ORDER)
        except Denied as error:
            raise Forbidden("the token of this front", Scope.OPERATE.value, "handing an order on") from error
        except (ClientError, StoreUnavailable, BadCredentials):  # the store says why not, where that is it
            return await own(request)

    return order


class FrontGrowth(GrowthAdmin):
    """Growth as operators see it, from a front: what the leader signed for it is its own order as well."""

    def _same(self, signed: str, by: str) -> bool:
        """The leader signs an order with the name of this front as well."""
        name = by.removesuffix(f" ({CALLER.get().told})")
        return signed in {by, name} or signed.startswith(f"{name} (")
