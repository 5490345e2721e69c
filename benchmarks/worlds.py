"""A stream about two worlds that have nothing to do with each other, in which stories are hidden."""

from __future__ import annotations

import random
from dataclasses import dataclass

from environment.messages import NewPerception

WORLDS = {
    "workshop": {
        "compressor": "pressure valve oil leak motor noise bearing tank seal gauge",
        "printer": "paper jam toner tray queue label cartridge driver spool fuser",
        "forklift": "battery charger fork mast tyre pallet ramp aisle brake horn",
        "server": "disk backup router network latency firmware reboot cable switch rack",
    },
    "garden": {
        "tomatoes": "greenhouse seedlings blight watering leaves ripe harvest stake vine basil",
        "roses": "pruning aphids thorns bloom fragrance petals compost mulch hedge bud",
        "bees": "hive honey queen swarm comb pollen smoker brood frames nectar",
        "soup": "onion garlic broth simmer pumpkin spoon cream parsley kettle recipe",
    },
}
SHAPES = (
    "the {a} {t} near the {b} needs a look",
    "{name} says the {t} has {a} trouble with its {b} again",
    "somebody asked about {a} and {b} for the {t}",
    "new {t}: {a}, {b} and {c} as agreed",
    "{t} {a} is fine, the {b} less so",
)
SYLLABLES = ("ka", "mo", "ri", "tel", "su", "van", "ber", "dor", "lin", "pes")


@dataclass(frozen=True)
class Story:
    """Two sources, at different times, on one thing with a name of its own."""

    world: str
    keys: tuple[str, str]


def history(
    n: int, apart: float, seed: int, stories: int, begins: float = 1e9
) -> tuple[list[NewPerception], list[Story]]:
    """``n`` lines, one every ``apart`` seconds on average, and the stories among them."""
    chance = random.Random(seed)
    places = sorted(chance.sample(range(n // 20, n - n // 10), stories))
    lines: list[tuple[float, str, str, str]] = []
    at = begins
    told: list[Story] = []
    for i in range(n):
        at += chance.expovariate(1 / apart)
        world = chance.choice(list(WORLDS))
        topic = chance.choice(list(WORLDS[world]))
        words = WORLDS[world][topic].split()
        a, b, c = chance.sample(words, 3)
        if i in places:
            name = "".join(chance.choice(SYLLABLES) for _ in range(3)).capitalize() + str(chance.randrange(10, 99))
            first, second = f"s{i}a", f"s{i}b"
            told.append(Story(world, (first, second)))
            lines.append((at, f"{world}-1", f"urgent: {name} reports the {topic} {a} failed at the {b}", first))
            later = at + chance.uniform(600, 1500)
            lines.append((later, f"{world}-2", f"warning: {name} found why the {topic} {a} failed: the {c}", second))
            continue
        text = chance.choice(SHAPES).format(t=topic, a=a, b=b, c=c, name=f"team {chance.randrange(40)}")
        lines.append((at, f"{world}-{chance.randrange(3, 9)}", text, f"l{i}"))
    lines.sort(key=lambda line: (line[0], line[3]))
    found = [NewPerception(source=s, time=t, received=t, text=text, key=key, trust=0.5) for t, s, text, key in lines]
    return found, told
