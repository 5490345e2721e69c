"""What answers the calls about knowledge."""

from typing import TypeVar

from environment.goals import GoalOrder, configured, ranked
from orchestration.access.caller import CALLER
from orchestration.gateway.errors import Unknown
from orchestration.gateway.marking import MarkDesk
from orchestration.gateway.recalled import RecallDesk
from orchestration.pb.submind.v1 import knowledge_pb2 as pb
from orchestration.schema.convert import decode, encode
from orchestration.schema.times import seconds_of
from orchestration.view.knowledge import KnowledgeView
from orchestration.view.mind import MindView

T = TypeVar("T")
_LIMIT, _LISTED, _NEAR = 100, 20, 40


class KnowledgeService:
    """``submind.v1.KnowledgeService``. Raises ``Unknown`` for a name by which nothing is known."""

    def __init__(self, view: MindView, desk: MarkDesk, recalls: RecallDesk) -> None:
        self._view, self._known, self._desk, self._recalls = view, KnowledgeView(view), desk, recalls

    async def know(self, request: pb.KnowRequest) -> pb.KnowResponse:
        """Everything of an entity."""
        at = seconds_of(request.at) if request.HasField("at") else self._view.now()
        known = seconds_of(request.known) if request.HasField("known") else None
        return encode(pb.KnowResponse, page=_there(await self._known.know(request.entity, at, known), request))

    async def list_entities(self, request: pb.ListEntitiesRequest) -> pb.ListEntitiesResponse:
        """Whom and what some words name."""
        found = await self._known.entities(request.text, request.limit or _LISTED)
        return encode(pb.ListEntitiesResponse, entities=found)

    async def get_neighbourhood(self, request: pb.GetNeighbourhoodRequest) -> pb.GetNeighbourhoodResponse:
        """What is nearest to it."""
        found = await self._known.neighbourhood(request.entity, request.limit or _NEAR)
        return encode(pb.GetNeighbourhoodResponse, neighbourhood=_there(found, request))

    async def believe(self, request: pb.BelieveRequest) -> pb.BelieveResponse:
        """Why something is believed of it."""
        found = _there(await self._known.believe(request.entity, request.relation), request)
        if request.relation:
            self._recalls.note(one.fact.evidence[-1].id for one in found if one.fact.open)
        return encode(pb.BelieveResponse, beliefs=found)

    async def correct(self, request: pb.CorrectRequest) -> pb.CorrectResponse:
        """Say what is right."""
        signed = CALLER.get().signs(request.by)
        said = seconds_of(request.said) if request.HasField("said") else None
        made, known = await self._desk.correct(request.entity, request.relation, request.value, signed, said)
        return encode(pb.CorrectResponse, mark=made, known=known)

    async def list_contradictions(self, request: pb.ListContradictionsRequest) -> pb.ListContradictionsResponse:
        """What is denied."""
        found = await self._known.contradictions(settled=request.all)
        return encode(pb.ListContradictionsResponse, contradictions=found[: request.limit or _LIMIT])

    async def list_goals(self, request: pb.ListGoalsRequest) -> pb.ListGoalsResponse:
        """What the mind pursues, and what it proposes."""
        found = [*configured(self._view.around.goals), *ranked((await self._known.goals()).values())]
        return encode(pb.ListGoalsResponse, goals=found[: request.limit or _LIMIT])

    async def set_goal(self, request: pb.SetGoalRequest) -> pb.SetGoalResponse:
        """Grant, refuse, hold or drop."""
        order = decode(GoalOrder, request, by=CALLER.get().signs(request.by))
        return encode(pb.SetGoalResponse, goal=await self._desk.pursue(await self._known.goals(), order))

    async def list_sleeps(self, request: pb.ListSleepsRequest) -> pb.ListSleepsResponse:
        """What sleep did."""
        found = await self._known.sleeps(request.limit or 1)
        return encode(pb.ListSleepsResponse, sleeps=found)


def _there(found: T | None, request: pb.KnowRequest | pb.GetNeighbourhoodRequest | pb.BelieveRequest) -> T:
    if found is None:
        raise Unknown("entity", request.entity)
    return found
