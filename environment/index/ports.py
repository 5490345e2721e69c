"""What the environment needs of an index by meaning. The store is the truth; an index is a cache of what is live."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from environment.messages import Vector


class VectorIndex(Protocol):
    """Vectors by id, found by cosine."""

    def __len__(self) -> int:
        """Vectors held."""

    def __contains__(self, name: object) -> bool:
        """Whether an id is held."""

    def add(self, name: str, vector: Vector) -> None:
        """Hold a vector, replacing what the id had. A zero vector is not held: nothing is near it."""

    def remove(self, name: str) -> None:
        """Let an id go; fine if it is not held."""

    def search(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """The ``k`` nearest ids with their cosines, nearest first; fewer where fewer are held."""

    def rebuild(self, names: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Hold exactly these, ``(n, dim) float32``, and nothing from before."""
