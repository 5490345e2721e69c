"""Growth as JSON: events of the audit log, members, the population and its bounds."""

from __future__ import annotations

from typing import Literal

from environment.population import GrowthEvent, Member
from orchestration.growth.desk import Outcome, Population
from orchestration.view.json import JsonObject, rfc3339
from orchestration.view.shapes import Number, Shape


class GrowthEventShape(Shape):
    """One decision about the population."""

    seq: int
    """From 1, no gap, no repeat."""
    id: str
    """``g-`` and the number: how an approval names a proposal."""
    at: str
    """RFC 3339 in UTC."""
    kind: Literal["proposed", "approved", "rejected", "divided", "retired", "refused", "frozen", "thawed"]
    by: str
    """Who decided: ``guard`` by the limits, otherwise the operator as they name themselves."""
    submind: str
    """Who proposed it, divided, or retired; empty where it is about all."""
    act: Literal["divide", "retire", ""]
    other: str
    """The child of a division, the heir of a retirement."""
    topics: list[str]
    """Labels of what was handed over, or would be: data, never markup."""
    proposal: int
    """Number of the waiting proposal that it answers; 0 where none waited."""
    limit: str
    """The limit that refused it."""
    reason: str
    growth: str
    """The proposal, as who made it names it."""


class MemberShape(Shape):
    """A submind that was born in the mind."""

    name: str
    role: str
    goals: list[str]
    parent: str
    generation: int
    number: int
    """The event by which it was born."""
    born: str
    share: Number
    """What it was born with of a configured submind's budgets."""
    topics: list[str]
    retired: str | None
    """When it retired; null while it lives."""
    heir: str
    """Who has its topics since."""


class BoundsShape(Shape):
    """How far the mind may grow, and has."""

    living: int
    """Subminds, configured ones included."""
    ceiling: int
    births: int
    """In the last hour."""
    births_per_hour: int
    approval: str
    """What an operator must approve: ``none``, ``divisions`` or ``all``."""


class PopulationShape(Shape):
    """The population as it is."""

    frozen: GrowthEventShape | None
    """By what growth is frozen; null while it is not."""
    waiting: list[GrowthEventShape]
    """Proposals that wait for an approval, the oldest first."""
    members: list[MemberShape]
    """Who was born, in the order of their births: one page of them."""
    born: int
    """How many were ever born."""
    next_page_token: str
    """What to ask for next, as ``page_token``; empty when this is the last page of members."""
    bounds: BoundsShape
    head: int
    """The last number of the audit log."""
    mind_runs: bool
    """Whether the mind process runs: while it does not, nobody is born."""


class OutcomeShape(Shape):
    """What came of an order."""

    event: GrowthEventShape | None
    """The entry of the audit log; null where it was so already."""
    mind_runs: bool


def event_shape(event: GrowthEvent) -> GrowthEventShape:
    """An entry of the audit log."""
    return GrowthEventShape(
        seq=event.seq,
        id=event.id,
        at=rfc3339(event.at),
        kind=event.kind.value,
        by=event.by,
        submind=event.submind,
        act=event.act,
        other=event.other,
        topics=list(event.topics),
        proposal=event.proposal,
        limit=event.limit,
        reason=event.reason,
        growth=event.growth,
    )


def member_shape(member: Member) -> MemberShape:
    """Who was born."""
    return MemberShape(
        name=member.name,
        role=member.role,
        goals=list(member.goals),
        parent=member.parent,
        generation=member.generation,
        number=member.number,
        born=rfc3339(member.born),
        share=member.share,
        topics=list(member.topics),
        retired=None if member.retired is None else rfc3339(member.retired),
        heir=member.heir,
    )


def event_json(event: GrowthEvent) -> JsonObject:
    """An entry of the audit log as a JSON object."""
    return event_shape(event).model_dump()


def population_json(population: Population) -> JsonObject:
    """The population as a JSON object."""
    made = PopulationShape(
        frozen=None if population.frozen is None else event_shape(population.frozen),
        waiting=[event_shape(event) for event in population.waiting],
        members=[member_shape(member) for member in population.members],
        born=population.born,
        next_page_token=population.next,
        bounds=BoundsShape(
            living=population.living,
            ceiling=population.ceiling,
            births=population.births,
            births_per_hour=population.births_per_hour,
            approval=population.approval,
        ),
        head=population.head,
        mind_runs=population.mind_runs,
    )
    return made.model_dump()


def outcome_json(outcome: Outcome) -> JsonObject:
    """What came of an order, as a JSON object."""
    event = None if outcome.event is None else event_shape(outcome.event)
    return OutcomeShape(event=event, mind_runs=outcome.mind_runs).model_dump()
