"""Active thinking declares itself."""

from actors.core import Core
from actors.events import Broadcast, Found, Posted
from actors.faculty import BuildContext, Faculty
from actors.names import THINKING
from actors.perception.settings import PerceptionSettings
from actors.thinking.settings import ThinkingSettings


async def _build(context: BuildContext) -> Core:
    from actors.thinking.core import ThinkingCore

    interlocutors = context.section(PerceptionSettings).interlocutors
    return ThinkingCore(context.name, interlocutors, context.section(ThinkingSettings))


FACULTY = Faculty(
    role=THINKING,
    about="what is done about a conscious thought",
    build=_build,
    sections={"thinking": ThinkingSettings, "perception": PerceptionSettings},
    accepts=frozenset({Broadcast, Found, Posted}),
    perceives=True,
    answers=True,
    names=(THINKING,),
    always=True,
    metrics={
        "results_total": "Results of active thinking.",
        "working_memory": "Slots of working memory in use.",
        "returned_total": "Thoughts that came back to working memory by a cue.",
        "acts_total": "Conscious thoughts that active thinking acted upon.",
        "acts_waiting": "Acts that wait for memories or words.",
        "answers_waiting": "Questions put to the mind whose answers are not in the stream yet.",
        "acts_given_up_total": "Acts whose memories or words never came.",
        "thoughts_ignored_total": "Conscious thoughts that active thinking let pass.",
        "nothing_recalled_total": "Acts of recalling that met nothing.",
    },
    from_zero=("thoughts_total", "acts_total"),
    tunable={
        ("thinking.half_life",): (
            "decay is computed when it is read, from the last use and the half-life as it is then"
        ),
        ("thinking.act_above", "thinking.recall_above", "thinking.result_share"): (
            "compared with one conscious thought or memory at a time; nothing is kept of the comparison"
        ),
        ("thinking.answer_within",): "decides about the next question; what was answered stays answered",
        (
            "thinking.per_hour",
            "thinking.answers_per_hour",
        ): "a budget: what was spent stays spent, and from now on it refills at the new rate",
    },
    place="apart",
    rank=3,
)
