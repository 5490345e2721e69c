"""How a thought that builds on a trace becomes the trace's next version."""

from dataclasses import replace

from environment.messages import PerceptionRef, Thought, Trace, Via
from environment.settings import EnvironmentSettings


def built_on(trace: Trace, by: str, thought: Thought, settings: EnvironmentSettings) -> Thought:
    """The content of the next version: what the new thought says, with the lineage of both.

    It keeps the trace's id; it cites the new thought's perceptions first, then the trace's, and likewise parents
    and messages to credit, each bounded by ``settings``. Trust is the lower of the two, whatever the text claims;
    a thought without a vector keeps the trace's.
    """
    before = trace.thought
    perceptions = _perceptions(thought, before, settings.perceptions)
    return replace(
        thought,
        id=before.id,
        author=by,
        time=thought.time if thought.perceptions or not before.perceptions else before.time,
        vector=thought.vector if thought.vector.any() else before.vector,
        trust=min(thought.trust, before.trust),
        perceptions=perceptions,
        parents=_parents(thought, before, settings.parents),
        topic=thought.topic or before.topic,
        depth=max(thought.depth, before.depth),
        via=_via(thought, before, settings.via),
        associations=tuple(dict.fromkeys(thought.associations + before.associations))[: settings.terms],
        count=max(thought.count, before.count),
    )


def _perceptions(thought: Thought, before: Thought, limit: int) -> tuple[PerceptionRef, ...]:
    merged: dict[str, PerceptionRef] = {}
    for ref in thought.perceptions + before.perceptions:
        merged.setdefault(ref.id, ref)
    return tuple(merged.values())[:limit]


def _parents(thought: Thought, before: Thought, limit: int) -> tuple[str, ...]:
    # Never the trace itself, which the new thought naturally names: a lineage has no circles.
    return tuple(name for name in dict.fromkeys(thought.parents + before.parents) if name != before.id)[:limit]


def _via(thought: Thought, before: Thought, limit: int) -> tuple[Via, ...]:
    return tuple(dict.fromkeys(thought.via + before.via))[:limit]
