"""Perceptions from the wire. Nothing is checked here."""

from collections.abc import Callable, Iterable

from environment.messages import NO_LABELS, Image, Instant, NewPerception, PerceptionBatch, Receipt
from orchestration.pb.submind.v1 import perception_pb2


def perceptions(
    batch: Iterable[perception_pb2.Perception], received: Instant, trust_of: Callable[[str], float]
) -> list[NewPerception]:
    """A batch as it goes to the log. One without a time happened when it was received."""
    made: list[NewPerception] = []
    for perception in batch:
        source, text, labels, time = perception.source, perception.text, perception.labels, perception.time
        seconds = time.seconds
        payload = "text" if text else perception.WhichOneof("payload")
        made.append(
            NewPerception(
                source,
                seconds + time.nanos * 1e-9 if seconds or perception.HasField("time") else received,
                received,
                text if payload == "text" else None,
                dict(perception.telemetry.values) if payload == "telemetry" else None,
                Image(perception.image.data, perception.image.media_type) if payload == "image" else None,
                perception.key or None,
                dict(labels) if labels else NO_LABELS,
                trust_of(source),
            )
        )
    return made


def texts(
    batch: Iterable[perception_pb2.Perception], received: Instant, trust_of: Callable[[str], float | None]
) -> PerceptionBatch | None:
    """A batch by column, where all of it is text; None otherwise. ``trust`` is what ``trust_of`` says, None included.

    Each access to a message costs: what most batches are goes this way, in a third of the time of ``perceptions``.
    """
    rows = list(batch)
    text = [row.text for row in rows]
    if not all(text):
        return None
    source = [row.source for row in rows]
    times = [row.time for row in rows]
    time, nanos = [float(sent.seconds) for sent in times], [sent.nanos for sent in times]
    if any(nanos):
        time = [seconds + rest * 1e-9 for seconds, rest in zip(time, nanos, strict=True)]
    if 0.0 in time:
        time = [at or (at if row.HasField("time") else received) for at, row in zip(time, rows, strict=True)]
    key: list[str | None] = [row.key for row in rows]
    if "" in key:
        key = [each or None for each in key]
    labels = [row.labels for row in rows]
    return PerceptionBatch(
        source,
        time,
        [received] * len(rows),
        text,
        key=key,
        labels=[dict(each) for each in labels] if any(labels) else (),
        trust=list(map(trust_of, source)),  # type: ignore[arg-type]  # whoever asks looks for None
    )


def receipts(answers: Iterable[perception_pb2.Receipt]) -> list[Receipt]:
    """The answer to a batch."""
    return [Receipt(answer.id, answer.seq, answer.new) for answer in answers]
