"""The two directions of metacognition declare themselves: what the object level tells, and what it is told.

Source: Nelson and Narens (1990), "Metamemory: a theoretical framework and new findings".
"""

from actors.core import Core
from actors.events import Broadcast, Observed, Posted, Vitals
from actors.faculty import BuildContext, Faculty
from actors.growth import Gone
from actors.metacognition.settings import MetacognitionSettings
from actors.names import CONTROL, MONITORING

_ROLE, _ABOUT = "metacognitive", "the mind itself"


async def _monitoring(context: BuildContext) -> Core:
    from actors.metacognition.monitoring import MonitoringCore

    return MonitoringCore(context.name, context.goal, context.dim, context.section(MetacognitionSettings))


async def _control(context: BuildContext) -> Core:
    from actors.metacognition.control import ControlCore

    return ControlCore(context.name, context.goal, context.section(MetacognitionSettings))


MONITORING_FACULTY = Faculty(
    role=_ROLE,
    about=_ABOUT,
    build=_monitoring,
    sections={"metacognition": MetacognitionSettings},
    accepts=frozenset({Broadcast, Gone, Posted, Vitals}),
    names=(MONITORING,),
    metrics={
        "reflections_total": "Thoughts about the mind itself.",
        "troubles": "What monitoring sees amiss at present.",
    },
    tunable={
        (
            "metacognition.repetition",
            "metacognition.dominance",
            "metacognition.drops_per_hour",
            "metacognition.budget_low",
            "metacognition.say_every",
            "metacognition.act_every",
        ): "what is watched is judged anew each time",
    },
    rank=20,
)
CONTROL_FACULTY = Faculty(
    role=_ROLE,
    about=_ABOUT,
    build=_control,
    sections={"metacognition": MetacognitionSettings},
    accepts=frozenset({Observed}),
    names=(CONTROL,),
    metrics={"proposals_waiting": "Proposals that metacognition holds back for now."},
    rank=20,
)
