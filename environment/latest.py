"""What is remembered only lately: dictionaries that are bounded."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Latest(OrderedDict[K, V]):
    """The latest ``most`` that were put, in order: one that is put again is the latest, and of more the first goes."""

    def __init__(self, most: int, kept: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        """``kept``: what was put before, the first longest ago."""
        super().__init__()
        self.most = most
        self.update(kept)

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self.most:
            self.popitem(last=False)
