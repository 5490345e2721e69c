"""Perceptions and what became of them, to the wire."""

from collections.abc import Iterable

from environment.messages import NewPerception, Receipt
from orchestration.pb.submind.v1 import perception_pb2
from orchestration.schema.errors import InvalidRequest
from orchestration.schema.times import timestamp


def perception(new: NewPerception) -> perception_pb2.Perception:
    """A perception as a client sends it: when it was received and how far it is trusted the server says."""
    sent = perception_pb2.Perception(source=new.source, time=timestamp(new.time), key=new.key or "", labels=new.labels)
    if new.text is not None:
        sent.text = new.text
    elif new.telemetry is not None:
        sent.telemetry.values.update(new.telemetry)
    elif new.image is not None:
        sent.image.data, sent.image.media_type = new.image.data, new.image.media_type
    return sent


def receipts(answers: Iterable[Receipt]) -> list[perception_pb2.Receipt]:
    """The answer to a batch."""
    made = perception_pb2.Receipt
    return [made(id=answer.id, new=answer.new, seq=answer.seq) for answer in answers]


def refusal(error: InvalidRequest) -> perception_pb2.Refusal:
    """Why a batch of a stream was refused."""
    return perception_pb2.Refusal(
        reason=str(error),
        violations=[
            perception_pb2.FieldViolation(field=violation.field, description=violation.why)
            for violation in error.violations
        ],
    )
