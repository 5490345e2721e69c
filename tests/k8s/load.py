"""Callers of a mind that know nothing of it but its proto files, through everything that happens to its pods."""

import itertools
import random
import threading
import time
from dataclasses import dataclass
from typing import Any

import grpc

from orchestration.pb.submind.v1 import (
    consciousness_pb2,
    consciousness_pb2_grpc,
    mind_pb2,
    mind_pb2_grpc,
    perception_pb2,
    perception_pb2_grpc,
)

RUNNING = mind_pb2.MIND_STATE_RUNNING
_WORDS = (
    "pump valve harbour ferry crane fog rope diver buoy anchor engine smoke alarm door night tide wind gull oil lamp "
    "pilot wreck chart radio signal storm lock gate bridge winch cargo grain steel timber customs ice salt net"
).split()


@dataclass(frozen=True)
class Receipt:
    """What came of one perception, and when that was known here."""

    seq: int
    id: str
    at: float


class Caller:
    """One stock channel to the gateway."""

    def __init__(self, port: int, token: str) -> None:
        self._target = f"127.0.0.1:{port}"
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._renew()

    def _renew(self) -> None:
        self._channel = grpc.insecure_channel(self._target, [("grpc.max_reconnect_backoff_ms", 500)])
        self._perception = perception_pb2_grpc.PerceptionServiceStub(self._channel)
        self._mind = mind_pb2_grpc.MindServiceStub(self._channel)
        self._stream = consciousness_pb2_grpc.ConsciousnessServiceStub(self._channel)

    def perceive(self, *perceptions: Any, timeout: float = 5.0) -> list[Receipt]:
        """Receipts. Raises ``RpcError``."""
        request = perception_pb2.PerceiveRequest(perceptions=perceptions)
        answer = self._perception.Perceive(request, timeout=timeout, metadata=self._metadata)
        return [Receipt(one.seq, one.id, time.monotonic()) for one in answer.receipts]

    def watch(self, first: int, timeout: float | None = None) -> Any:
        """Entries of the stream from a number on. Raises ``RpcError``."""
        request = consciousness_pb2.WatchRequest(from_seq=first)
        for answer in self._stream.Watch(request, timeout=timeout, metadata=self._metadata):
            if answer.HasField("entry"):  # or it says from where to go on
                yield answer.entry

    def status(self, within: float = 5.0) -> Any:
        """How the mind says it is. Raises ``RpcError``."""
        return self._mind.GetStatus(mind_pb2.GetStatusRequest(), timeout=within, metadata=self._metadata).status

    def cursors(self) -> dict[str, int]:
        """How far each perceptual submind has read. Raises ``RpcError``."""
        answer = self._mind.ListSubminds(mind_pb2.ListSubmindsRequest(), timeout=5.0, metadata=self._metadata)
        return {one.name: int(one.metrics["cursor"]) for one in answer.subminds if "cursor" in one.metrics}

    def names(self) -> list[str]:
        """Everybody who has ever reported. Raises ``RpcError``."""
        answer = self._mind.ListSubminds(mind_pb2.ListSubmindsRequest(), timeout=30.0, metadata=self._metadata)
        return sorted(one.name for one in answer.subminds)

    def read(self) -> int:
        """How far the perceptual submind for text has read, as far as can be said now."""
        try:
            return self.cursors().get("text", -1)
        except grpc.RpcError:
            return -1

    def thinks_beyond(self, seq: int) -> bool:
        """Whether the mind runs and has read up to ``seq``, which is a text."""
        try:
            cursors = self.cursors()
            return self.status().state == RUNNING and max(cursors.values(), default=-1) >= seq
        except grpc.RpcError:
            return False

    def close(self) -> None:
        """Hang up."""
        self._channel.close()


class Load(threading.Thread):
    """Perceives batch after batch until it is stopped; a batch that was not answered is sent again, under its keys."""

    def __init__(self, port: int, token: str, source: str, pause: float = 0.4, size: int = 4) -> None:
        super().__init__(daemon=True)
        self.source = source
        self.receipts: dict[str, Receipt] = {}
        self.waits: list[tuple[float, float]] = []
        """When each batch was first sent, and when it was acknowledged."""
        self.refused = 0
        self._caller, self._pause, self._size = Caller(port, token), pause, size
        self._over = threading.Event()
        self._chance = random.Random(source)

    def _batch(self, number: int) -> list[Any]:
        return [
            perception_pb2.Perception(
                source=self.source,
                key=f"{self.source}-{number * self._size + n}",
                text=" ".join(self._chance.choices(_WORDS, k=self._chance.randint(4, 12))),
            )
            for n in range(self._size)
        ]

    def run(self) -> None:
        number = 0
        while not self._over.is_set():
            batch, began = self._batch(number), time.monotonic()
            while True:  # what was begun is brought to its end: nobody could say otherwise what became of it
                try:
                    answered = self._caller.perceive(*batch)
                    break
                except grpc.RpcError:
                    self.refused += 1
                    time.sleep(0.1)
            self.waits.append((began, time.monotonic()))
            self.receipts |= {one.key: receipt for one, receipt in zip(batch, answered, strict=True)}
            number += 1
            time.sleep(self._pause)

    def first(self, since: float) -> Receipt | None:
        """What was acknowledged first after a moment."""
        later = [one for one in list(self.receipts.values()) if one.at > since]
        return min(later, key=lambda one: one.at, default=None)

    def longest_wait(self, since: float) -> float:
        """Seconds that a batch waited for its acknowledgement, however often it was sent, at most after a moment."""
        waits = [later - earlier for earlier, later in list(self.waits) if later > since]
        assert waits, "nothing was acknowledged since"
        return max(waits)

    def silence(self, since: float) -> tuple[float, float]:
        """The longest time after a moment in which nothing was acknowledged: its length, and when it was over."""
        moments = [since, *sorted({one.at for one in list(self.receipts.values()) if one.at > since})]
        assert len(moments) > 1, "nothing was acknowledged since"
        length, end = max((later - earlier, later) for earlier, later in itertools.pairwise(moments))
        return length, end - since

    def stop(self) -> None:
        """Send no more; returns when the last batch was answered."""
        self._over.set()
        self.join(120.0)
        assert not self.is_alive(), "the last batch was never answered"
        self._caller.close()


class Reader(threading.Thread):
    """Reads the stream from its beginning, and goes on where it was when a connection breaks."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(daemon=True)
        self.entries: list[Any] = []
        self.connections = 0
        self._caller = Caller(port, token)
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.is_set():
            self.connections += 1
            try:
                for entry in self._caller.watch(len(self.entries) + 1):
                    self.entries.append(entry)
            except (grpc.RpcError, ValueError):
                time.sleep(0.2)

    def stop(self) -> None:
        """Read no more."""
        self._over.set()
        self._caller.close()
        self.join(10.0)
