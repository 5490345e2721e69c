"""How punctual the threads of this process are woken: what has no haste need not keep a processor awake."""

import ctypes
from contextlib import suppress

_PR_SET_TIMERSLACK = 29

PUNCTUAL, AT_LEISURE = 50e-6, 0.1
"""Seconds that the kernel may be late with a wake-up: the usual, and what a thread without haste can bear.

Ray waits in many small steps while it starts, and each may be as late: with a whole second it took actors half as long
again to be alive.
"""


def set_timer_slack(seconds: float) -> None:
    """How late the kernel may wake this thread from a timed wait, so that idle threads wake less often and together.

    Threads and processes that this thread starts begin with the same. A wait for something is not affected, only one
    that runs into its timeout. Does nothing where the system does not know this.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(int(seconds * 1e9)), 0, 0, 0)
