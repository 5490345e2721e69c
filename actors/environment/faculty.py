"""The subliminal environment declares itself."""

from actors.core import Core
from actors.effects import Note
from actors.events import Broadcast, Crawl, Diminish, Post, Reinforce, Revise, Salient, Survey
from actors.faculty import BuildContext, Faculty
from actors.names import ATTENTION, ENVIRONMENT
from environment.ports import Progress
from environment.settings import EnvironmentSettings


async def _build(context: BuildContext) -> Core:
    from actors.chance import Chance
    from actors.environment.core import EnvironmentCore
    from environment.index.shard import Shard
    from environment.reembedding import reembedded
    from environment.subliminal import SubliminalEnvironment

    settings = context.section(EnvironmentSettings)
    environment = SubliminalEnvironment(settings, Shard(context.dim, settings.flat_limit), context.dim)
    async for traces in context.stores.traces.live(progress=_telling(context)):
        environment.load(await reembedded(traces, context.stores.collections, context.dim))
    if strange := int(environment.figures()["traces_strange"]):
        context.note(Note("embedding_anew", "info", {"traces": strange}))
    followers = [name for name in context.takers(Salient) if name != ATTENTION]
    return EnvironmentCore(context.name, environment, settings, Chance(context.seed, context.name), followers)


def _telling(context: BuildContext) -> Progress:
    """Tells how far the live traces have been read, after every tenth of them."""
    told = 0

    def progress(read: int, total: int) -> None:
        nonlocal told
        tenths = 10 * read // max(total, 1)
        if tenths > told:
            told = tenths
            context.note(Note("live_traces_read", "info", {"read": read, "of": total}))

    return progress


FACULTY = Faculty(
    role=ENVIRONMENT,
    about="the traces that all share",
    build=_build,
    sections={"environment": EnvironmentSettings},
    accepts=frozenset({Broadcast, Crawl, Diminish, Post, Reinforce, Revise, Survey}),
    names=(ENVIRONMENT,),
    always=True,
    essential=True,
    collections=frozenset({"vectors"}),
    numbers=True,
    metrics={
        "traces_posted_total": "Traces made durable.",
        "traces_revised_total": "Revisions of traces made durable.",
        "traces_reinforced_total": "Reinforcements that raised a trace.",
        "traces_retired_total": "Traces that sank below the floor.",
        "traces_live": "Traces above the floor.",
        "traces_strange": "Live traces of another embedder, which wait to be embedded anew.",
        "traces_known_total": "Posts of traces that were there already.",
        "diminishings_total": "Times a trace was lowered.",
        "echoes_total": "Reinforcements that counted nothing, because they came of the trace itself.",
        "revisions_refused_total": "Revisions refused because they built on an old version.",
        "crawls_total": "Crawls answered.",
    },
    from_zero=("crawls_total",),
    tunable={
        ("environment.half_life.*",): (
            "a trace keeps the half-life it was left with; those left, raised or revised from now on have the new one"
        ),
        ("environment.floor", "environment.announce", "environment.capacity"): (
            "compared anew at each sweep, post and rise; a lower capacity retires the least salient at the next of them"
        ),
    },
    place="apart",
    rank=0,
)
