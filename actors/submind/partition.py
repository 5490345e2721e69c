"""Whether the topics of a submind fall into two groups that could be two subminds' topics, and into which.

Sources: spherical k-means (Dhillon and Modha, 2001), here with two centres and every topic weighted by its traffic;
the silhouette (Rousseeuw, 1987), with distances and mean weighted alike.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from environment.messages import Vector

_STARTS = 12
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Partition:
    """Two groups, the heavier one first."""

    heavier: tuple[int, ...]
    lighter: tuple[int, ...]
    """Rows of the topics in it."""
    share: float
    """Of the traffic, the lighter group's, 0..0.5."""
    silhouette: float
    """-1..1: how much nearer topics are to their own group than to the other."""


def partition(centroids: Vector, traffic: NDArray[np.float64], least: float) -> Partition | None:
    """The best separated two groups of ``(n, dim)`` L2-normalised centroids.

    None where there are no two groups of at least ``least`` of the traffic each. Depends on nothing but its arguments.
    """
    total = float(traffic.sum())
    if len(centroids) < 2 or total <= 0:  # noqa: PLR2004  # two groups need two topics
        return None
    weights = traffic / total
    distances = np.maximum(0.0, 1.0 - np.asarray(centroids @ centroids.T, np.float64))
    pull = distances * weights[:, None] * weights[None, :]
    starts = np.argsort(-np.triu(pull, 1), axis=None, kind="stable")[:_STARTS]
    best: Partition | None = None
    tried: set[bytes] = set()
    for start in starts:
        a, b = divmod(int(start), len(centroids))
        second = _settled(centroids, weights, a, b)
        if second.tobytes() in tried:
            continue
        tried.add(second.tobytes())
        share = float(weights[second].sum())
        if not least <= share <= 1.0 - least:
            continue
        value = silhouette(distances, weights, second)
        if best is None or value > best.silhouette:
            groups = tuple(map(int, np.flatnonzero(~second))), tuple(map(int, np.flatnonzero(second)))
            light, heavy = (groups[1], groups[0]) if share <= 1.0 - share else groups
            best = Partition(heavy, light, min(share, 1.0 - share), value)
    return best


def silhouette(distances: NDArray[np.float64], weights: NDArray[np.float64], second: NDArray[np.bool_]) -> float:
    """Weighted mean silhouette of two groups; a topic alone in its group counts 0, as Rousseeuw has it."""
    value = 0.0
    for i in range(len(weights)):
        own = second == second[i]
        own[i] = False
        other = second != second[i]
        near, far = float(weights[own].sum()), float(weights[other].sum())
        if near <= 0 or far <= 0:
            continue
        a = float(distances[i, own] @ weights[own]) / near
        b = float(distances[i, other] @ weights[other]) / far
        value += float(weights[i]) * (b - a) / max(a, b, 1e-9)
    return value


def _settled(centroids: Vector, weights: NDArray[np.float64], a: int, b: int) -> NDArray[np.bool_]:
    """Which topics are in the second group, beginning with topics ``a`` and ``b`` as centres."""
    centres = np.stack([centroids[a], centroids[b]])
    second = np.zeros(len(centroids), bool)
    for _ in range(_ROUNDS):
        scores = centroids @ centres.T
        new: NDArray[np.bool_] = scores[:, 1] > scores[:, 0]
        if (new == second).all() or new.all() or not new.any():
            return new
        second = new
        for k, group in enumerate((~second, second)):
            centre = (centroids[group] * weights[group, None]).sum(axis=0)
            centres[k] = centre / max(float(np.sqrt(centre @ centre)), 1e-9)
    return second
