"""The FAISS shard: exact while small, divided into cells (IVF) once grown. The only module that imports FAISS."""

import math
from collections.abc import Sequence

import faiss
import numpy as np
from numpy.typing import NDArray

from environment.messages import Vector

faiss.omp_set_num_threads(1)  # many actors share a machine, and sums in one order give the same answer every time

_HASHTABLE = 2
"""``faiss::DirectMap::Hashtable``, which the library's type stubs leave out."""
_PER_CELL = 64
"""Vectors a cell holds on average after training."""
_TRAINING = 32
"""Vectors per cell that training looks at."""
_PROBED, _PROBED_LEAST = 0.06, 64
"""Share of the cells that a search opens, and the least number: recall@10 is above .95 near what is held."""
_PENDING = 512
"""New vectors that wait outside the cells, where they are searched exactly."""


class Shard:
    """``VectorIndex`` in this process.

    Guarantees: the same calls give the same answers; a vector is found from the moment it is added and never after
    it was removed. Up to ``flat_limit`` vectors search is exact. Beyond, cells are trained from what is held, and
    again whenever as much has come as was there at the last training.
    """

    def __init__(self, dim: int, flat_limit: int = 25_000) -> None:
        self._dim = dim
        self._flat_limit = flat_limit
        self._flat = _Flat(dim)
        self._cells: faiss.IndexIVFFlat | None = None
        self._celled: dict[str, int] = {}  # id to its number in the cells
        self._names: dict[int, str] = {}
        self._gone: list[int] = []  # numbers that are still in the cells
        self._next = 0
        self._trained_at = 0
        self._since = 0

    @property
    def cells(self) -> int:
        """How many cells the shard is divided into; 0 while it is exact."""
        return self._cells.nlist if self._cells is not None else 0

    def __len__(self) -> int:
        return len(self._flat) + len(self._celled)

    def __contains__(self, name: object) -> bool:
        return name in self._flat or name in self._celled

    def add(self, name: str, vector: Vector) -> None:
        if name in self._celled:
            self.remove(name)
        if not vector.any():
            self._flat.remove(name)
            return
        self._flat.put(name, vector)
        if self._cells is None:
            if len(self._flat) > self._flat_limit:
                self._train()
        elif len(self._flat) >= _PENDING:
            self._since += len(self._flat)
            if self._since > self._trained_at:
                self._train()
            else:
                self._move()

    def remove(self, name: str) -> None:
        number = self._celled.pop(name, None)
        if number is None:
            self._flat.remove(name)
            return
        del self._names[number]
        self._gone.append(number)
        if len(self) < self._flat_limit // 2:
            self.rebuild(*self.contents())

    def search(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        query = np.ascontiguousarray(vector, np.float32).reshape(1, self._dim)
        if k <= 0 or not query.any():
            return []
        found = self._flat.search(query, k)
        if self._cells is not None:
            self._sweep()
            cosines, numbers = self._cells.search(query, min(k, len(self._celled)) or 1)
            found += [(self._names[int(n)], float(c)) for n, c in zip(numbers[0], cosines[0], strict=True) if n >= 0]
            found.sort(key=lambda hit: (-hit[1], hit[0]))
        return found[:k]

    def rebuild(self, names: Sequence[str], vectors: NDArray[np.float32]) -> None:
        if vectors.shape != (len(names), self._dim):
            raise ValueError(f"{len(names)} ids need vectors of shape ({len(names)}, {self._dim}), not {vectors.shape}")
        self._forget_cells()
        self._flat = _Flat(self._dim)
        for name, vector in zip(names, vectors, strict=True):
            if vector.any():
                self._flat.put(name, vector)
        if len(self._flat) > self._flat_limit:
            self._train()

    def contents(self) -> tuple[list[str], NDArray[np.float32]]:
        """Everything held: ids, and their vectors ``(n, dim) float32``."""
        names, vectors = self._flat.contents()
        if self._cells is None or not self._celled:
            return names, vectors
        numbers = np.fromiter(self._celled.values(), np.int64, len(self._celled))
        return [*self._celled, *names], np.vstack([self._cells.reconstruct_batch(numbers), vectors])

    def _train(self) -> None:
        names, vectors = self.contents()
        self._forget_cells()
        cells = max(1, len(names) // _PER_CELL)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(self._dim), self._dim, cells, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed = 1
        index.cp.niter = 8
        index.cp.spherical = True
        index.cp.max_points_per_centroid = _TRAINING
        index.cp.min_points_per_centroid = 1
        index.nprobe = max(_PROBED_LEAST, math.ceil(cells * _PROBED))
        index.train(vectors)
        index.set_direct_map_type(_HASHTABLE)  # removal without looking through every cell
        self._cells = index
        self._flat = _Flat(self._dim)
        self._insert(names, vectors)
        self._trained_at = len(names)
        self._since = 0

    def _move(self) -> None:
        names, vectors = self._flat.contents()
        self._flat = _Flat(self._dim)
        self._insert(names, vectors)

    def _insert(self, names: list[str], vectors: NDArray[np.float32]) -> None:
        assert self._cells is not None  # noqa: S101 - both callers have just made sure of it
        numbers = np.arange(self._next, self._next + len(names), dtype=np.int64)
        self._next += len(names)
        self._cells.add_with_ids(vectors, numbers)
        self._celled.update(zip(names, numbers.tolist(), strict=True))
        self._names.update(zip(numbers.tolist(), names, strict=True))

    def _sweep(self) -> None:
        if self._gone and self._cells is not None:
            self._cells.remove_ids(faiss.IDSelectorArray(np.array(self._gone, np.int64)))
            self._gone.clear()

    def _forget_cells(self) -> None:
        self._cells = None
        self._celled = {}
        self._names = {}
        self._gone = []


class _Flat:
    """Vectors side by side: adding and removing move one row, searching looks at all of them."""

    def __init__(self, dim: int) -> None:
        self._rows = np.empty((64, dim), np.float32)
        self._names: list[str] = []
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def put(self, name: str, vector: Vector) -> None:
        place = self._places.get(name)
        if place is None:
            place = len(self._names)
            if place == len(self._rows):
                grown = np.empty((2 * place, self._rows.shape[1]), np.float32)
                grown[:place] = self._rows
                self._rows = grown
            self._names.append(name)
            self._places[name] = place
        self._rows[place] = vector

    def remove(self, name: str) -> None:
        place = self._places.pop(name, None)
        if place is None:
            return
        last = self._names.pop()
        if last != name:  # the last one takes the empty place
            self._rows[place] = self._rows[len(self._names)]
            self._names[place] = last
            self._places[last] = place

    def search(self, query: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        held = len(self._names)
        if not held:
            return []
        cosines, places = faiss.knn(query, self._rows[:held], min(k, held), metric=faiss.METRIC_INNER_PRODUCT)
        return [(self._names[p], float(c)) for p, c in zip(places[0], cosines[0], strict=True)]

    def contents(self) -> tuple[list[str], NDArray[np.float32]]:
        return list(self._names), self._rows[: len(self._names)].copy()
