"""How long a live actor takes for things, and what its substrate says of itself."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from actors.substrate.ports import Substrate
from orchestration.telemetry.metrics import Histograms

_TOLD = ("budget_left", "budget_left_of_all", "cache_hits", "cache_shared")


@dataclass(eq=False, repr=False)
class LiveMeter:
    """A shell's ``Meter``: histograms of durations, and the substrate's figures.

    Of several actors that share a substrate one tells its figures: sums stay true.

    ``more``: figures of the process; ``tells``: whether this actor tells those and the substrate's.
    """

    _substrate: Substrate | None
    _more: Callable[[], Mapping[str, float]] = dict
    _tells: Callable[[], bool] = lambda: True

    def __post_init__(self) -> None:
        self._times = Histograms()

    def now(self) -> float:
        return time.perf_counter()

    def observe(self, name: str, seconds: float) -> None:
        self._times.observe(name, seconds)

    def flat(self) -> dict[str, float]:
        if not self._tells():
            return self._times.flat()
        status = self._substrate.status() if self._substrate is not None else {}
        told = {name: float(value) for name in _TOLD if isinstance(value := status.get(name), int | float)}
        return {**self._times.flat(), **told, **self._more()}
