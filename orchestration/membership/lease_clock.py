"""The clock by which leases are relied upon."""

from __future__ import annotations

import time

_BOOT = getattr(time, "CLOCK_BOOTTIME", None)


def lease_clock() -> float:
    """Seconds of a clock that only goes forward, also while the machine sleeps, where the system has such a one."""
    return time.monotonic() if _BOOT is None else time.clock_gettime(_BOOT)
