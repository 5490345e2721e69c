"""From what a core proposes to what is decided, written and told: the part of growth that both drivers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from actors.effects import Divide, Retire
from actors.events import Event
from actors.growth import Divided, GrowthRefused, Inherited, Permitted
from actors.settings import CognitiveSettings
from actors.snapshots import pack, unpack
from actors.submind.legacy import Legacy
from actors.submind.newborn import first_state
from environment.messages import Instant
from environment.population import GrowthEvent, Member
from environment.ports import Write, WriteState
from orchestration.growth.guard import Guard
from orchestration.growth.log import Bequest, will_of
from orchestration.growth.proposals import Act, Decision, Proposal, Verdict


def proposal_of(owner: str, effect: Divide | Retire) -> Proposal:
    """What ``owner`` wants, in the guard's words."""
    legacy = effect.legacy
    match effect:
        case Divide():
            act, heir, hint = Act.DIVIDE, "", effect.hint
        case Retire():
            act, heir, hint = Act.RETIRE, effect.heir, ""
        case _:
            assert_never(effect)
    return Proposal(
        act=act,
        submind=owner,
        growth=effect.growth,
        goals=tuple(goal.text for goal in legacy.goals),
        topics=legacy.labels,
        keys=tuple(topic.key for topic in legacy.topics),
        about=legacy.about,
        heir=heir,
        hint=hint,
        reason=effect.reason,
        size=len(pack(legacy)),
    )


def bequest_of(effect: Divide | Retire, settings: CognitiveSettings, now: Instant) -> Bequest:
    """What a grant writes beside the member: a child's first state, or what is left.

    Connections of one that ends its shell deletes (``ActorShell.bequeath``); the heir writes its own.
    """

    def writes(member: Member) -> Sequence[Write]:
        legacy = effect.legacy
        if isinstance(effect, Divide):
            share = replace(legacy, share=member.share)
            return [WriteState(member.name, first_state(member.name, share, settings, now))]
        return [WriteState(will_of(member.name), pack(legacy))]

    return writes


def answer(owner: str, effect: Divide | Retire, decision: Decision, guard: Guard) -> Event | None:
    """What the proposer is told. None for one that ends: its driver ends it, and the heir is told what it left."""
    member = decision.member
    if decision.verdict is not Verdict.GRANTED or member is None:
        return GrowthRefused(effect.growth, decision.reason, decision.retry_at)
    return divided(owner, member, guard) if isinstance(effect, Divide) else None


def divided(parent: str, child: Member, guard: Guard) -> Divided:
    """What a parent is told of its child until that is settled."""
    return Divided(child.growth, child.name, child.keys, guard.share(parent), guard.seq, child.goals)


def inherited(gone: Member, will: bytes, guard: Guard) -> Inherited:
    """What an heir is told until that is settled. ``will`` is what the retirement wrote. Raises ``ValueError``."""
    return Inherited(gone.name, unpack(will, Legacy), guard.share(gone.heir), guard.seq)


def permitted(event: GrowthEvent) -> Permitted:
    """What a submind is told whose proposal an operator has approved."""
    return Permitted(Act(event.act) is Act.RETIRE)


def unsettled(members: Iterable[Member]) -> list[tuple[str, Member]]:
    """Who is to be told again of which member: parents of children that live, heirs of those that ended."""
    return [(m.parent if m.living else m.heir, m) for m in members if not m.settled]


def present(name: str, members: Mapping[str, Member]) -> str:
    """Who has what ``name`` had: itself, or along the line of heirs whoever lives."""
    passed: set[str] = set()
    while (member := members.get(name)) is not None and not member.living and name not in passed:
        passed.add(name)
        name = member.heir
    return name
