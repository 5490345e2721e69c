"""Traces of the environment as the schema has them: a thought and what became of it, in one message, no vector."""

import numpy as np

from environment.messages import Thought, Trace
from environment.search import Hit
from environment.severity import level_of, salience_of
from orchestration.pb.submind.v1 import environment_pb2 as pb
from orchestration.schema.convert import decode, encode

_NO_VECTOR = np.zeros(0, np.float32)
"""Vectors are the mind's own and do not travel."""


def encode_trace(made: Trace, salience: float) -> pb.Trace:
    """A trace, with its ``salience`` now, 0..1."""
    thought = made.thought
    authors = made.authors or (thought.author,)
    return encode(
        pb.Trace, made, thought, salience=salience, first_salience=salience_of(thought.salience), authors=authors
    )


def decode_trace(sent: pb.Trace) -> Trace:
    """A trace, without its vector; its salience now follows from its level."""
    return decode(Trace, sent, thought=decode(Thought, sent, vector=_NO_VECTOR, salience=level_of(sent.first_salience)))


def encode_hit(made: Hit) -> pb.Hit:
    """A trace found by meaning."""
    return encode(pb.Hit, made, trace=encode_trace(made.trace, made.salience))


def decode_hit(sent: pb.Hit) -> Hit:
    """A trace found by meaning."""
    return decode(Hit, sent, trace=decode_trace(sent.trace))
