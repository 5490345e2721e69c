"""Chance that survives a crash: the n-th draw of a name and seed is always the same."""

from hashlib import blake2b

_MASK = (1 << 64) - 1


class Chance:
    """A counter-based generator (splitmix64 by Steele, Lea and Flood, 2014), so that its whole state is one number."""

    def __init__(self, seed: int, name: str) -> None:
        self._key = int.from_bytes(blake2b(f"{seed}/{name}".encode(), digest_size=8).digest(), "big")
        self.drawn = 0
        """Draws so far; part of the owner's snapshot."""

    def uniform(self) -> float:
        """A number in [0, 1)."""
        self.drawn += 1
        z = (self._key + self.drawn * 0x9E3779B97F4A7C15) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((z ^ (z >> 31)) >> 11) / (1 << 53)

    def below(self, n: int) -> int:
        """A whole number in 0..n-1."""
        return int(self.uniform() * n)


def phase(name: str) -> float:
    """Where in a period an actor begins, 0..1: the same in every life, another for each of many that begin at once."""
    return Chance(0, f"{name}/phase").uniform()
