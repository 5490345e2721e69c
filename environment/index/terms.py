"""An inverted index of associations: which live traces share a name, a host, a part number, a keyphrase."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping


class Terms:
    """Association terms to the traces that carry them.

    Guarantees: at most ``per_trace`` terms of a trace and ``postings`` traces of a term are held; a lookup follows
    at most ``fan_out`` traces of each term. Case does not matter. The same calls give the same answers.
    """

    def __init__(self, per_trace: int = 16, postings: int = 512, fan_out: int = 64) -> None:
        self._per_trace = per_trace
        self._limit = postings
        self._fan_out = fan_out
        self._postings: dict[str, dict[str, None]] = {}  # a dict keeps the order of arrival
        self._terms: dict[str, tuple[str, ...]] = {}

    def __len__(self) -> int:
        return len(self._terms)

    @property
    def distinct(self) -> int:
        """How many terms are held."""
        return len(self._postings)

    def add(self, name: str, terms: Iterable[str]) -> None:
        """Hold a trace under its terms, instead of those it had."""
        if name in self._terms:
            self.remove(name)
        kept = tuple(dict.fromkeys(filter(None, map(_normal, terms))))[: self._per_trace]
        if not kept:
            return
        self._terms[name] = kept
        for term in kept:
            held = self._postings.setdefault(term, {})
            held[name] = None
            if len(held) > self._limit:
                del held[next(iter(held))]

    def remove(self, name: str) -> None:
        """Let a trace go; fine if it is not held."""
        for term in self._terms.pop(name, ()):
            held = self._postings.get(term)  # a common term may have forgotten it
            if held is None:
                continue
            held.pop(name, None)
            if not held:
                del self._postings[term]

    def weight(self, term: str) -> float:
        """How telling a term is: ``ln(1 + n / df)``, after Sparck Jones (1972); 0 for an unknown one."""
        held = self._postings.get(_normal(term))
        return math.log1p(len(self._terms) / len(held)) if held else 0.0

    def of(self, name: str) -> tuple[str, ...]:
        """The terms a trace is held under."""
        return self._terms.get(name, ())

    def search(
        self, terms: Iterable[str], k: int, shares: Mapping[str, float] | None = None
    ) -> list[tuple[str, float]]:
        """The ``k`` traces that share most, with the summed weights of what they share, most first.

        ``shares`` may count some (normalised) terms less than fully. Among equals the latest comes first.
        """
        scores: dict[str, float] = defaultdict(float)
        arrival: dict[str, int] = {}
        for term in dict.fromkeys(map(_normal, terms)):
            held = self._postings.get(term)
            if not held:
                continue
            weight = math.log1p(len(self._terms) / len(held)) * (shares.get(term, 1.0) if shares else 1.0)
            for _, name in zip(range(self._fan_out), reversed(held), strict=False):
                scores[name] += weight
                arrival.setdefault(name, len(arrival))
        ranked = sorted(scores.items(), key=lambda hit: (-hit[1], arrival[hit[0]]))
        return ranked[: max(k, 0)]


def _normal(term: str) -> str:
    return term.strip().casefold()
