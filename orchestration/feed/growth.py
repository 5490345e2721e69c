"""Growth over HTTP: the population, the audit log, and what operators order."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from orchestration.access.caller import CALLER
from orchestration.feed.answers import Answered, many, one, refusals
from orchestration.feed.context import FeedContext
from orchestration.feed.problems import invalid
from orchestration.feed.reads import PageSize, PageToken
from orchestration.growth.desk import GrowthDesk
from orchestration.view.population import (
    GrowthEventShape,
    OutcomeShape,
    PopulationShape,
    event_json,
    outcome_json,
    population_json,
)

_MOST = 1000
Number = Annotated[str, Path(pattern=r"^(g-)?[1-9][0-9]{0,17}$", description="A waiting proposal: `g-12`, or `12`.")]


class OrderIn(BaseModel):
    """Who orders something, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    by: str = Field(default="somebody at the page", min_length=1, max_length=256)
    """Who, as they name themselves; it stands in the audit log."""
    reason: str = Field(default="", max_length=500)
    """Why."""


class GrowthEvents(Answered):
    """A stretch of the audit log, in order."""

    events: list[GrowthEventShape]
    head: int
    """The last number there is."""


def growth(feed: FeedContext, desk: GrowthDesk) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/v1/growth", tags=["growth"])
    _reads(router, feed, desk)
    _orders(router, desk)
    return router


def _reads(router: APIRouter, feed: FeedContext, desk: GrowthDesk) -> None:
    most = min(_MOST, feed.settings.page)

    @router.get("", response_model=PopulationShape, responses=refusals(422))
    async def population(
        page_size: PageSize = 0,
        page_token: PageToken = "",
        living: Annotated[bool, Query(description="Only members that live.")] = False,
    ) -> Response:
        """Who was born, page by page, what waits for an approval, whether growth is frozen, and its bounds."""
        try:
            return one(population_json(await desk.population(page_size, page_token, living=living)))
        except ValueError as error:
            raise invalid("page_token", str(error)) from None

    @router.get("/events", response_model=GrowthEvents, responses=refusals(422))
    async def events(
        after: Annotated[int | None, Query(ge=0, le=2**63 - 1, description="Events after this number.")] = None,
        limit: Annotated[int, Query(ge=1, le=most, description="Most events.")] = min(100, most),
    ) -> Response:
        """The audit log from a number on, in order; without ``after`` its newest events."""
        if after is None:
            _, head = await desk.events(0, 0)
            after = max(0, head - limit)
        found, head = await desk.events(after, limit)
        return await many("events", found, event_json, head=head)


def _orders(router: APIRouter, desk: GrowthDesk) -> None:
    @router.post("/freeze", response_model=OutcomeShape, responses=refusals(422))
    async def freeze(order: OrderIn) -> Response:
        """Stop all growth at once: holds until thawed, over every restart."""
        return one(outcome_json(await desk.freeze(CALLER.get().signs(order.by), order.reason)))

    @router.post("/thaw", response_model=OutcomeShape, responses=refusals(422))
    async def thaw(order: OrderIn) -> Response:
        """Let growth go on."""
        return one(outcome_json(await desk.thaw(CALLER.get().signs(order.by), order.reason)))

    @router.post("/{id}/approve", response_model=OutcomeShape, responses=refusals(409, 422))
    async def approve(id: Number, order: OrderIn) -> Response:  # noqa: A002 - the name in the path
        """Permit what a waiting proposal asks for, once."""
        return one(outcome_json(await desk.approve(_number(id), CALLER.get().signs(order.by), order.reason)))

    @router.post("/{id}/reject", response_model=OutcomeShape, responses=refusals(409, 422))
    async def reject(id: Number, order: OrderIn) -> Response:  # noqa: A002 - the name in the path
        """Refuse a waiting proposal."""
        return one(outcome_json(await desk.reject(_number(id), CALLER.get().signs(order.by), order.reason)))


def _number(name: str) -> int:
    return int(name.removeprefix("g-"))
