"""How batches are handed to a leader: many in a message, or one by one to a leader of a version that knows no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from orchestration.front.parcels import Parcel
from orchestration.front.writing import forwarded, numbered
from orchestration.pb.submind.v1 import forwarding_pb2, perception_pb2


class Dialect(Protocol):
    """A method of the leader that takes batches and answers each, in order."""

    method: str
    together: bool
    """Whether several go in one message."""

    def written(self, parcel: Parcel) -> bytes:
        """A message, or a part of one that others follow."""
        ...

    def answers(self, raw: bytes) -> Sequence[forwarding_pb2.ForwardedAnswer]:
        """What a message says became of batches."""
        ...


class _Many:
    method = "/submind.v1.ForwardService/Forward"
    together = True

    def written(self, parcel: Parcel) -> bytes:
        return forwarded(parcel.batch.body, parcel.number, parcel.batch.said)

    def answers(self, raw: bytes) -> Sequence[forwarding_pb2.ForwardedAnswer]:
        return forwarding_pb2.ForwardResponse.FromString(raw).answers


class _OneByOne:
    """Who called does not travel: such a leader would not take it."""

    method = "/submind.v1.PerceptionService/PerceiveStream"
    together = False

    def written(self, parcel: Parcel) -> bytes:
        return numbered(parcel.batch.body, parcel.number)

    def answers(self, raw: bytes) -> Sequence[forwarding_pb2.ForwardedAnswer]:
        said = perception_pb2.PerceiveStreamResponse.FromString(raw)
        answer = forwarding_pb2.ForwardedAnswer(batch=said.batch, count=len(said.receipts))
        if said.HasField("refusal"):
            answer.refusal.CopyFrom(said.refusal)
        for place, receipt in enumerate(said.receipts):
            if not receipt.new:
                answer.known[place] = receipt.seq
            elif not answer.first:
                answer.first = receipt.seq
        return (answer,)


MANY: Dialect = _Many()
"""What a leader of this version takes."""
ONE_BY_ONE: Dialect = _OneByOne()
"""What one of any version takes."""
