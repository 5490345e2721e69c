"""Knowledge declares itself."""

from actors.core import Core
from actors.events import Broadcast, Marked
from actors.faculty import BuildContext, Faculty
from actors.knowledge.settings import KnowledgeSettings
from actors.names import KNOWLEDGE
from environment.goals import GOALS
from environment.packs import PACKS, PackChange
from environment.recalls import Recalls


async def _build(context: BuildContext) -> Core:
    from actors.knowledge import clusters, fact
    from actors.knowledge.core import KnowledgeCore

    kept = context.stores.collections
    return KnowledgeCore(
        context.name,
        await fact.FACTS.all_of(kept),
        await fact.ENTITIES.all_of(kept),
        await fact.NAMES.all_of(kept),
        await fact.CONTRADICTIONS.all_of(kept),
        await fact.PROGRESS.get(kept, "progress") or fact.Progress(),
        context.section(KnowledgeSettings),
        await PACKS.all_of(kept),
        await clusters.CLUSTERS.all_of(kept),
        await GOALS.all_of(kept),
    )


FACULTY = Faculty(
    role=KNOWLEDGE,
    about="what is so, since when, and who says so",
    build=_build,
    sections={"knowledge": KnowledgeSettings},
    accepts=frozenset({Broadcast, Marked, PackChange, Recalls}),
    names=(KNOWLEDGE,),
    always=True,
    perceives=True,
    collections=frozenset({"facts", "entities", "names", "contradictions", "knowledge", "clusters", "sleeps", "goals"}),
    metrics={
        "claims_total": "Claims read in what was perceived; many say again what is known.",
        "facts": "Facts kept, those included that are over.",
        "entities": "People and things known by name.",
        "contradictions_open": "Contradictions that nothing has settled.",
        "clusters": "Clusters of lines that tell of the same thing.",
        "gists_total": "Gists of many episodes: routines and what recurs, where that was new, changed or over.",
        "sleeps_total": "Times it slept.",
        "goals": "Goals and values that are held.",
        "facts_faded_total": "Facts that were over and had faded.",
    },
    from_zero=("claims_total",),
    tunable={
        (
            "knowledge.same_time",
            "knowledge.deference",
            "knowledge.gain",
            "knowledge.forget",
            "knowledge.floor",
        ): "compared with one claim or one fact at a time; what was learnt stays so",
    },
    place="apart",
    rank=5,
)
