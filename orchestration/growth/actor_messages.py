"""From what a core proposes to what is decided, written and told: the part of growth that both drivers share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from actors.effects import Divide, Retire
from actors.growth import Divided, Inherited, Permitted
from actors.handover import HandoverState
from actors.settings import CognitiveSettings
from actors.snapshots import pack, unpack
from actors.submind.newborn import first_state
from environment.messages import Instant
from environment.population import GrowthEvent, Member
from environment.ports import Write, WriteState
from orchestration.growth.log import HANDOVERS, HandoverWrites
from orchestration.growth.policy import GrowthPolicy
from orchestration.growth.proposals import GrowthAct, GrowthProposal

NEWS_AGAIN = tuple(30.0 * 2**n for n in range(11))
"""Seconds after which all are told of a birth or an end again, for about nine hours: who is told twice knows it."""


def proposal_of(owner: str, effect: Divide | Retire) -> GrowthProposal:
    """What ``owner`` wants, in the policy's words."""
    handover = effect.handover
    match effect:
        case Divide():
            act, heir, hint = GrowthAct.DIVIDE, "", effect.hint
        case Retire():
            act, heir, hint = GrowthAct.RETIRE, effect.heir, ""
        case _:
            assert_never(effect)
    return GrowthProposal(
        act=act,
        submind=owner,
        growth=effect.growth,
        goals=tuple(goal.text for goal in handover.goals),
        topics=handover.labels,
        keys=tuple(topic.key for topic in handover.topics),
        about=handover.about,
        heir=heir,
        hint=hint,
        reason=effect.reason,
        size=len(pack(handover)),
    )


def handover_writes(effect: Divide | Retire, settings: CognitiveSettings, now: Instant) -> HandoverWrites:
    """What a grant writes beside the member: a child's first state, or what is left.

    Connections of one that ends its shell deletes (``ActorShell.bequeath``); the heir writes its own.
    """

    def writes(member: Member) -> Sequence[Write]:
        handover = effect.handover
        if isinstance(effect, Divide):
            share = replace(handover, share=member.share)
            return [WriteState(member.name, first_state(member.name, share, settings, now))]
        return [HANDOVERS.write(member.name, pack(handover))]

    return writes


def divided(parent: str, child: Member, policy: GrowthPolicy) -> Divided:
    """What a parent is told of its child until that is settled."""
    return Divided(child.growth, child.name, child.keys, policy.share(parent), policy.seq, child.goals)


def inherited(gone: Member, will: bytes, policy: GrowthPolicy) -> Inherited:
    """What an heir is told until that is settled. ``will`` is what the retirement wrote. Raises ``ValueError``."""
    return Inherited(gone.name, unpack(will, HandoverState), policy.share(gone.heir), policy.seq)


def permitted(event: GrowthEvent) -> Permitted:
    """What a submind is told whose proposal an operator has approved."""
    return Permitted(GrowthAct(event.act) is GrowthAct.RETIRE)


def unsettled(members: Iterable[Member]) -> list[tuple[str, Member]]:
    """Who is to be told again of which member: parents of children that live, heirs of those that ended."""
    return [(m.parent if m.living else m.heir, m) for m in members if not m.settled]


def living_heir(name: str, members: Mapping[str, Member]) -> str:
    """Who has what ``name`` had: itself, or along the line of heirs whoever lives."""
    passed: set[str] = set()
    while (member := members.get(name)) is not None and not member.living and name not in passed:
        passed.add(name)
        name = member.heir
    return name
