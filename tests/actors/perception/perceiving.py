"""Perceptions for tests, and the way from them to percepts, with the embedder that ships."""

import io
from collections.abc import Iterable, Mapping, Sequence

from PIL import Image as Picture

from actors.perception.percept import Interpreter, Percept
from actors.snapshots import pack, unpack
from actors.substrate.embedding import WordLlamaEmbedder
from environment.messages import Image, Perception

EMBEDDER = WordLlamaEmbedder()
DIM = EMBEDDER.dim
START = 1_772_517_600.0


def said(n: int, text: str, time: float | None = None, source: str = "applog", trust: float = 0.5) -> Perception:
    time = START + n if time is None else time
    return Perception(source=source, time=time, received=time, text=text, trust=trust, id=f"p-{n:020x}", seq=n)


def read_off(
    n: int, telemetry: Mapping[str, float], time: float | None = None, source: str = "coldstore", trust: float = 0.5
) -> Perception:
    time = START + 60 * n if time is None else time
    return Perception(
        source=source, time=time, received=time, telemetry=telemetry, trust=trust, id=f"p-{n:020x}", seq=n
    )


def shown(n: int, data: bytes, time: float | None = None, source: str = "gate camera", **labels: str) -> Perception:
    time = START + 60 * n if time is None else time
    image = Image(data, "image/png")
    return Perception(source=source, time=time, received=time, image=image, id=f"p-{n:020x}", seq=n, labels=labels)


def encoded(picture: Picture.Image, kind: str = "PNG", **given: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **given)
    return buffer.getvalue()


def perceive(
    interpreter: Interpreter, perceptions: Sequence[Perception], batch: int = 64, *, listen: bool = True
) -> list[Percept]:
    """As a perceptual submind does: embed what is asked for, interpret, then ask what is silent."""
    found: list[Percept] = []
    latest = 0.0
    for start in range(0, len(perceptions), batch):
        part = perceptions[start : start + batch]
        texts = list(dict.fromkeys(interpreter.texts(part)))
        vectors = dict(zip(texts, EMBEDDER.embed_now(texts), strict=True))
        for perception in part:
            found += interpreter.interpret(perception, vectors)
            latest = max(latest, perception.time)
        if listen:
            found += interpreter.quiet(latest)
    return found


def restored(interpreter: Interpreter, fresh: Interpreter) -> Interpreter:
    """``fresh``, continued from a snapshot of ``interpreter`` that went through bytes."""
    fresh.load(unpack(pack(interpreter.dump()), interpreter.saved))
    return fresh


def told(percepts: Iterable[Percept]) -> list[tuple[Percept, bytes]]:
    """Percepts with their vectors, which they are not compared by."""
    return [(p, p.vector.tobytes()) for p in percepts]
