"""Vectors that were made anew: those of traces whose own came from another embedder, which their length tells.

What a trace says is never written again, so its new vector stands beside it, until it has evaporated.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from environment.collections import Collection, Collections, WriteDocument
from environment.messages import Trace, Vector

VECTORS = Collection("vectors", int)
"""By the id of the trace; the version that the vector is of."""


def with_vector(trace: Trace, vector: Vector) -> Trace:
    """The same trace, elsewhere in the space of meanings."""
    return replace(trace, thought=replace(trace.thought, vector=vector))


def fitted(trace: Trace, dim: int) -> Trace:
    """The same trace, near to nothing where its vector is not ``dim`` long."""
    return trace if trace.thought.vector.size == dim else with_vector(trace, np.zeros(dim, np.float32))


async def reembedded(traces: Sequence[Trace], collections: Collections, dim: int) -> list[Trace]:
    """The same traces, with the vectors that were made anew where theirs are not ``dim`` long."""
    strange = [trace.id for trace in traces if trace.thought.vector.size != dim]
    if not strange:
        return list(traces)
    anew = {
        key: found.vector
        for key, found in (await collections.get(VECTORS.name, strange)).items()
        if found.vector is not None and found.vector.size == dim
    }
    return [with_vector(trace, anew[trace.id]) if trace.id in anew else trace for trace in traces]


def keeping(trace: Trace, vector: Vector, floor: float) -> WriteDocument:
    """What keeps a trace's new vector until it would sink below ``floor``."""
    level = trace.level
    sinks = level.at + level.half_life * max(0.0, math.log2(max(level.value, floor) / floor))
    return VECTORS.write(trace.id, trace.version, vector=vector, time=level.at, expires=sinks)
