"""How long to wait before what failed is tried again."""

import random


def backoff(attempt: int, first: float, most: float, chance: random.Random) -> float:
    """Seconds to wait before the next attempt, the first being number 0: doubling, half of it chance."""
    return min(most, first * 2.0 ** min(attempt, 30)) * (0.5 + 0.5 * chance.random())
