"""The stream of consciousness declares itself."""

from dataclasses import replace

from actors.core import Core
from actors.events import Broadcast, Conscious, Said, Utterance
from actors.faculty import BuildContext, Faculty
from actors.names import STREAM
from actors.stream.settings import StreamSettings
from environment.messages import Vector


async def _build(context: BuildContext) -> Core:
    from actors.stream.core import StreamCore

    settings, stream = context.section(StreamSettings), context.stores.stream
    head = await stream.head()
    tail = await stream.read(max(1, head - settings.remembered + 1), settings.remembered)
    tail = [replace(each, vector=None) if _strange(each.vector, context.dim) else each for each in tail]
    return StreamCore(context.name, context.dim, tail, settings, context.takers(Broadcast))


def _strange(vector: Vector | None, dim: int) -> bool:
    """Whether it is another embedder's."""
    return vector is not None and vector.size != dim


FACULTY = Faculty(
    role=STREAM,
    about="the order of conscious thoughts",
    build=_build,
    sections={"stream": StreamSettings},
    accepts=frozenset({Conscious, Said, Utterance}),
    names=(STREAM,),
    always=True,
    essential=True,
    numbers=True,
    metrics={
        "perception_to_stream_seconds": (
            "From the gateway's receipt of a perception until a thought that focuses on it is in the stream."
        ),
        "stream_entries_total": "Entries appended to the stream.",
        "segues_total": "Segues appended to the stream.",
        "answers_total": "Answers appended to the stream, to who asked the mind something.",
        "stream_head": "Number of the last entry of the stream.",
        "reordering": "Conscious thoughts that wait to be put in order.",
    },
    from_zero=("stream_entries_total", "segues_total"),
    highest=frozenset({"stream_head"}),
    tunable={
        ("stream.segue_below", "stream.segue_within"): (
            "decide about the next pair of neighbours; the stream that is written is never rewritten"
        ),
    },
    place="apart",
    rank=2,
)
