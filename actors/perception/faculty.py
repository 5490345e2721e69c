"""Perceptual subminds declare themselves: one for each modality."""

from actors.core import Core
from actors.events import Credit, Posted, Register
from actors.faculty import BuildContext, Faculty
from actors.growth import Born, Gone, Moved
from actors.perception.percept import Interpreter
from actors.perception.settings import PerceptionSettings
from actors.settings import CognitiveSettings
from environment.messages import Modality


async def _build(context: BuildContext) -> Core:
    from actors.perception.core import PerceptualCore
    from actors.submind.message_router import message_router_of

    settings = context.section(PerceptionSettings)
    modality = Modality(context.name)
    interpreter = await _interpreter(modality, context, settings)
    return PerceptualCore(context.name, context.goal, modality, interpreter, message_router_of(context), settings)


async def _interpreter(modality: Modality, context: BuildContext, settings: PerceptionSettings) -> Interpreter:
    if modality is Modality.TELEMETRY:
        from actors.perception.telemetry import TelemetryInterpreter

        return TelemetryInterpreter(context.dim, settings)
    from actors.perception.appraisal import Threats

    kept = settings.appraisal
    threats = Threats(await context.embedder.embed(kept.threats), await context.embedder.embed(kept.harmless))
    if modality is Modality.IMAGE:
        from actors.perception.image import ImageInterpreter

        return ImageInterpreter(context.dim, settings, threats)
    from actors.perception.text import TextInterpreter

    return TextInterpreter(context.dim, settings, threats)


FACULTY = Faculty(
    role="perceptual",
    about="raw input of one modality, which it is named after",
    build=_build,
    sections={"perception": PerceptionSettings, "submind": CognitiveSettings},
    accepts=frozenset({Born, Credit, Gone, Moved, Posted, Register}),
    names=tuple(modality.value for modality in Modality),
    knows_peers=True,
    perceives=True,
    metrics={
        "perceptions_processed_total": "Perceptions a perceptual submind has taken from the log.",
        "perceptions_folded_total": "Perceptions that only repeated what was perceived before.",
        "cursor": "Number of the last perception that a perceptual submind has read.",
        "unacknowledged": "Percepts that the environment has not confirmed yet.",
        "telemetry_readings_total": "Single readings looked at.",
        "telemetry_series": "Series of readings remembered.",
        "images_unreadable_total": "Images that could not be read.",
        "perception_to_read_seconds": (
            "From the gateway's receipt of a perception until a perceptual submind has read it."
        ),
        "perception_to_trace_seconds": (
            "From the gateway's receipt of a perception until what is made of it at once is a durable trace."
        ),
    },
    from_zero=("perceptions_processed_total", "thoughts_total"),
    highest=frozenset({"cursor"}),
    tunable={
        ("perception.speak_at", "perception.trust_weight"): (
            "decide about the next percept; those already left as traces stay as they are"
        ),
    },
    rank=10,
)
