"""Multi-head attention without training: heads are features, brought to a common scale by running z-scores.

Source: the agentic design (associative binding by multi-head attention over events, memories and goals). Random
projections score at chance, and a z-score within five candidates cannot exceed 2, hence features and running moments.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]

_WARM_UP = 8


class Moments:
    """Running mean and variance per head, forgetting exponentially (West, 1979, with a forgetting factor)."""

    def __init__(self, heads: int, memory: int) -> None:
        self._mean = np.zeros(heads)
        self._square = np.ones(heads)
        self._seen = 0
        self._memory = memory

    def learn(self, rows: Matrix) -> None:
        """Take in ``(n, heads) float64`` raw scores."""
        if not len(rows):
            return
        self._seen = min(self._seen + len(rows), self._memory)
        rate = min(1.0, len(rows) / self._seen)
        delta = rows.mean(axis=0) - self._mean
        self._mean += rate * delta
        spread = ((rows - self._mean) ** 2).mean(axis=0)
        self._square += rate * (spread - self._square)

    def z(self, rows: Matrix) -> Matrix:
        """``(n, heads)`` z-scores, clipped to -4..4; raw scores while too little has been seen."""
        if self._seen < _WARM_UP:
            return rows
        return np.clip((rows - self._mean) / np.sqrt(np.maximum(self._square, 1e-4)), -4, 4)

    def dump(self) -> list[object]:
        """For a snapshot."""
        return [self._seen, self._mean.tolist(), self._square.tolist()]

    def load(self, state: Sequence[object]) -> None:
        """From a snapshot."""
        seen, mean, square = state
        self._seen = int(seen)  # type: ignore[call-overload]  # checked by the owner's schema
        self._mean, self._square = np.asarray(mean, float), np.asarray(square, float)


def softmax(scores: Matrix, temperature: float) -> Matrix:
    """``(n,)`` probabilities; cosines of unit vectors need a temperature, not 1/sqrt(d)."""
    powers = np.exp((scores - scores.max()) / temperature)
    return np.asarray(powers / powers.sum())


def focus(probabilities: Matrix) -> float:
    """How sharp a choice is: ``1 - H / ln n`` in 0..1; 1 for a single candidate."""
    n = len(probabilities)
    if n < 2:  # noqa: PLR2004  # one candidate leaves no doubt
        return 1.0
    entropy = -float(np.sum(probabilities * np.log(np.maximum(probabilities, 1e-12))))
    return max(0.0, 1.0 - entropy / math.log(n))
