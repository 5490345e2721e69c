"""What a Ray worker of a mind runs: Ray's own worker, whose threads may be woken late.

The threads of an idle worker look around some thirty times a second between them; they need not. The main thread
becomes punctual again as soon as it is an actor's (``actor.py``).
"""

from __future__ import annotations

import gc
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Become Ray's worker. The script's own directory is no place to import from."""
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
    from orchestration.runtime.worker.timer_slack import AT_LEISURE, set_timer_slack  # noqa: PLC0415 - once the path is right

    spec = find_spec("ray")
    if spec is None or spec.origin is None:
        raise RuntimeError("Ray cannot be found by its own worker")
    set_timer_slack(AT_LEISURE)
    gc.disable()  # what is imported stays: looking through it again and again is a tenth of a start (on: ``actor.py``)
    runpy.run_path(str(Path(spec.origin).parent / "_private" / "workers" / "default_worker.py"), run_name="__main__")


if __name__ == "__main__":
    main()
