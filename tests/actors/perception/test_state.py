"""What a perceptual submind saves is bounded, whatever it is told."""

import random
from string import ascii_lowercase

import numpy as np
import pytest

from actors.perception.settings import AppraisalSettings, FoldingSettings, PerceptionSettings
from actors.perception.telemetry import TelemetryInterpreter
from actors.perception.text import TextInterpreter
from actors.snapshots import pack
from environment.messages import Perception

DIM = 16
VECTOR = np.full(DIM, DIM**-0.5, np.float32)
SETTINGS = PerceptionSettings(
    series=100,
    readings=8,
    folding=FoldingSettings(templates=200),
    appraisal=AppraisalSettings(words=200, sources=100, rank_window=64, novelty_window=16),
)
KIB = 1024


def letters(chance, count):
    return "".join(chance.choices(ascii_lowercase, k=count))


def strange(chance, count):
    return "".join(chr(chance.randrange(0x20000, 0x2A000)) for _ in range(count))


TOLD = {
    "unlike lines": lambda chance, _: ("log", " ".join(letters(chance, 6) for _ in range(12))),
    "one long word": lambda chance, _: ("log", letters(chance, 599)),
    "letters of four bytes": lambda chance, _: ("log", strange(chance, 590)),
    "huge texts": lambda chance, _: ("log", " ".join(letters(chance, 40) for _ in range(130))),
    "sources without end": lambda chance, _: (letters(chance, 250), "it is fine"),
    "each line twice": lambda _, n: (f"{n // 2:0250}", strange(random.Random(n // 2), 590)),
}


def feed(interpreter, said, count):
    sizes = []
    for n in range(count):
        source, text, telemetry = said(n)
        one = Perception(source, 1e9 + n, 1e9 + n, text, telemetry, None, None, {}, 0.5, f"p{n:020}", n + 1)
        interpreter.interpret(one, dict.fromkeys(interpreter.texts([one]), VECTOR))
        if n % 100 == 99:
            sizes.append(len(pack(interpreter.dump())))
    return max(sizes, default=0)


@pytest.mark.parametrize("told", TOLD)
def test_of_text(told):
    chance = random.Random(1)
    largest = feed(TextInterpreter(DIM, SETTINGS), lambda n: (*TOLD[told](chance, n), None), 900)
    words = (200 + 200 + 400) * (64 + 3)
    lines = 200 * (256 + 32 + 200 + 300)
    vectors = 1024 * (2 * DIM + 256 + 32 + 8)
    assert largest < words + lines + vectors + 16 * KIB


@pytest.mark.parametrize("metrics", [1, 30])
def test_of_telemetry(metrics):
    chance = random.Random(1)
    names = [letters(chance, 250) for _ in range(metrics)]

    def said(_):
        return letters(chance, 250) if metrics == 1 else "rig", None, {name: chance.gauss(0, 1) for name in names}

    assert feed(TelemetryInterpreter(DIM, SETTINGS), said, 600) < 100 * (4 * 256 + 2 * DIM + 8 * 40 + 400)
