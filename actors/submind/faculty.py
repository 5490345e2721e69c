"""Cognitive subminds declare themselves."""

from actors.core import Core
from actors.events import Broadcast, Credit, Found, Message, Posted, Refused, Register
from actors.faculty import BuildContext, Faculty
from actors.growth import Born, Divided, Gone, GrowthRefused, Inherited, Moved, Permitted, Pressure
from actors.settings import CognitiveSettings


async def _build(context: BuildContext) -> Core:
    from actors.chance import Chance
    from actors.handover import Goal
    from actors.submind.core import SubmindCore
    from actors.submind.message_router import message_router_of

    vectors = await context.embedder.embed(context.goals)
    goals = [Goal(text, vector) for text, vector in zip(context.goals, vectors, strict=True)]
    settings, chance = context.section(CognitiveSettings), Chance(context.seed, context.name)
    return SubmindCore(context.name, goals, message_router_of(context), settings, chance)


FACULTY = Faculty(
    role="cognitive",
    about="thoughts about the world; add your own",
    build=_build,
    sections={"submind": CognitiveSettings},
    accepts=frozenset(
        {
            *(Broadcast, Credit, Found, Message, Posted, Refused, Register),
            *(Born, Divided, Gone, GrowthRefused, Inherited, Moved, Permitted, Pressure),
        }
    ),
    many=True,
    knows_peers=True,
    metrics={
        "window": "Events held that may be bound yet.",
        "messages_passed_on_total": "Messages passed on to the submind whose topic they now are.",
        "share": (
            "Part of a configured submind's budget that a submind has, 0..1; summed over those that share it, 1 each."
        ),
        "overloaded": "Subminds that are overloaded.",
        "topics_given": "Topics handed over to others.",
        "divisions_proposed_total": "Divisions that subminds proposed.",
        "divisions_total": "Divisions that took place.",
        "divisions_inseparable_total": "Divisions not proposed because topics could not be told apart.",
        "retirements_proposed_total": "Ends that subminds proposed for themselves.",
        "growth_refused_total": "Proposals of growth that were refused, as their submind was told.",
        "inheritances_total": "Handover states taken over from subminds that ended.",
    },
    from_zero=("thoughts_total",),
    tunable={
        ("submind.connections.half_life",): (
            "decay is computed when it is read, from the last use and the half-life as it is then"
        ),
        (
            "submind.binding.interest",
            "submind.binding.kin",
            "submind.binding.same",
            "submind.binding.temperature",
        ): "compared with one event or combination at a time; the running means beside them do not depend on them",
        ("submind.topics.threshold", "submind.topics.crowded", "submind.topics.merge"): (
            "decide where the next vector goes; topics that are there stay, and drift as before"
        ),
        (
            "submind.connections.promote_at",
            "submind.connections.demote_at",
            "submind.connections.forget_at",
            "submind.connections.eta",
            "submind.connections.eta_minus",
        ): "a connection is promoted, demoted or forgotten at its next use or review, by its weight as it is then",
        ("submind.binding.per_hour",): (
            "a budget: what was spent stays spent, and from now on it refills at the new rate"
        ),
    },
    place="right",
    rank=30,
)
