"""Attention declares itself."""

from actors.attention.settings import AttentionSettings
from actors.core import Core
from actors.events import Broadcast, Marked, Muted, Propose, Salient
from actors.faculty import BuildContext, Faculty
from actors.growth import Born, Gone
from actors.names import ATTENTION
from actors.substrate.settings import SubstrateSettings
from environment.goals import GOALS, Pursued
from environment.marks import MARKS


async def _build(context: BuildContext) -> Core:
    from actors.attention.core import AttentionCore
    from actors.attention.judge import Judge
    from actors.attention.marks import StandingMutes
    from actors.attention.pacing import BudgetPace, Pace, RatePace
    from actors.submind.budget import Allowance

    settings = context.section(AttentionSettings)
    budget = context.parts.get("budget")
    pace: Pace = RatePace(settings.per_hour, settings.horizon, settings.memory)
    ceiling: Allowance | None = Allowance(settings.ceiling_per_hour, settings.ceiling_burst)
    if budget is not None:
        pace, ceiling = BudgetPace(budget), None
    goals = list(await context.embedder.embed(context.mind_goals)) if context.mind_goals else []
    mutes = StandingMutes(tuple((await MARKS.all_of(context.stores.collections)).values()))
    pursued = {one.text: one.weight for one in (await GOALS.all_of(context.stores.collections)).values() if one.held}
    model = context.section(SubstrateSettings).has_model
    judge = Judge(context.name, context.mind_goals, settings, mutes, model=model)
    return AttentionCore(
        context.name, context.dim, pace, ceiling, context.peers, goals, settings, mutes, pursued, judge
    )


FACULTY = Faculty(
    role=ATTENTION,
    about="what becomes conscious",
    build=_build,
    sections={"attention": AttentionSettings, "substrate": SubstrateSettings},
    accepts=frozenset({Born, Broadcast, Gone, Marked, Muted, Propose, Pursued, Salient}),
    names=(ATTENTION,),
    always=True,
    knows_peers=True,
    essential=True,
    metrics={
        "offered_total": "Percepts that attention was offered, also those that were folded.",
        "winners_passed_over_total": "Winners of a moment that did not stand out among those before.",
        "muted_total": "Candidates kept back because their source, template or matter is muted.",
        "handed_over": "Conscious thoughts that the stream has not confirmed yet.",
        "thoughts_conscious_total": "Thoughts that attention handed to the stream.",
        "severity_total": "Thoughts that attention handed to the stream, by severity.",
        "attention_threshold": "Percentile among winners from which a candidate becomes conscious, 0..1.",
        "judgements_total": "Candidates that a model judged.",
        "judgements_missing_total": "Questions about candidates that no model answered in time and form, by cause.",
        "judge_weight": "Log odds that a step of a model's rating moves the chance that somebody wants a candidate.",
        "threshold_bend": "Factor by which metacognition moved the threshold; 1 is where it was configured.",
    },
    from_zero=("thoughts_conscious_total",),
    highest=frozenset({"attention_threshold", "judge_weight", "threshold_bend"}),
    tunable={
        (
            "attention.break_in",
            "attention.goal_weight",
            "attention.goal_lift",
            "attention.inhibition",
            "attention.inhibited_above",
            "attention.bind_above",
            "attention.bind",
            "attention.concerned",
            "attention.taste",
            "attention.judge",
        ): "each candidate is judged by what holds at that moment; what was remembered of earlier ones stays true",
        ("attention.hold", "attention.refractory", "attention.judge_patience"): (
            "the wait is measured when it is looked at, so it also lengthens or shortens what is waiting"
        ),
        ("attention.per_hour", "attention.judgements_per_hour"): (
            "a budget: what was spent stays spent, and from now on it refills at the new rate"
        ),
    },
    place="apart",
    rank=1,
)
