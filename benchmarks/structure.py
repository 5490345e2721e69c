"""Streams with a hidden structure: which sources go with which subject, known to nobody, and different from halfway on.

A source speaks mostly of its own trade, and a little of a subject, in which somebody takes an interest. Two sources
share a subject, and what the one says of a case the other takes up later. Halfway the subjects change hands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from environment.messages import NewPerception
from orchestration.settings import Settings

TRADES = (
    "kitchen oven bread flour baker pastry",
    "garden roses soil pruning hedge compost",
    "harbour crane cargo vessel dock mooring",
    "school pupils lesson teacher classroom homework",
    "theatre actors rehearsal stage costume curtain",
    "railway platform locomotive signal track station",
    "hospital ward nurse surgeon patient clinic",
    "football striker goalkeeper stadium referee league",
    "orchestra violin conductor concert symphony cello",
    "museum gallery sculpture curator painting exhibit",
    "farm tractor wheat barn cattle harvest",
    "court judge jury verdict lawyer trial",
)
SUBJECTS = (
    "battery voltage circuit wiring electricity",
    "invoice payment accounting refund bank",
    "virus infection fever vaccine quarantine",
    "storm rainfall flooding thunder hurricane",
    "password hacker encryption malware phishing",
    "divorce wedding marriage bride husband",
)
START = 1_700_000_000.0
EVERY = 60.0
EPISODES = 8


def settings(subminds: int, seed: int, **more: object) -> Settings:
    """A mind whose subminds take an interest in one subject each; as the directory lists them they are alike."""
    chance = random.Random(seed)
    subjects = [SUBJECTS[i % len(SUBJECTS)] for i in range(subminds)]
    chance.shuffle(subjects)
    vague = "Pay attention to what people are saying today, find out what it means, and tell the others about it."
    goals = [{"name": f"desk-{i}", "goals": [vague, subject]} for i, subject in enumerate(subjects)]
    mind = {
        "name": "bench",
        "goals": ["Notice what matters."],
        "subminds": [
            {"name": "text", "role": "perceptual", "goals": ["Read what people say."]},
            *goals,
        ],
    }
    return Settings.model_validate({"mind": mind, **more})


def stream(messages: int, seed: int) -> Iterator[NewPerception]:
    """``messages`` reports, one every minute; the structure shifts in the middle."""
    chance = random.Random(seed)
    cases = [name_of(chance) for _ in SUBJECTS]
    told = [0] * len(SUBJECTS)
    hands = _hands(chance)
    for n in range(messages):
        if n == messages // 2:
            hands = _hands(chance, hands)
        source = chance.randrange(len(TRADES))
        subject = hands[source]
        told[subject] += 1
        if told[subject] % EPISODES == 0:
            cases[subject] = name_of(chance)
        own = chance.sample(TRADES[source].split(), 4)
        of = chance.sample(SUBJECTS[subject].split(), 3)
        text = f"{cases[subject]} at the {own[0]}: {of[0]} and {own[1]}, {of[1]} near the {own[2]} {own[3]}, {of[2]}."
        at = START + n * EVERY
        yield NewPerception(source=f"source-{source}", time=at, received=at, text=text, trust=0.8)


def _hands(chance: random.Random, before: list[int] | None = None) -> list[int]:
    """Subject of each source: each subject two of them, none the same as before."""
    while True:
        hands = [i % len(SUBJECTS) for i in range(len(TRADES))]
        chance.shuffle(hands)
        if before is None or all(a != b for a, b in zip(hands, before, strict=True)):
            return hands


def name_of(chance: random.Random) -> str:
    """A name that nobody has."""
    parts = ("Var", "Mil", "Tor", "Kes", "Lun", "Dar", "Pel", "Ost", "Rin", "Zad", "Qui", "Hob")
    return "".join(chance.choice(parts).lower() for _ in range(3)).capitalize()
