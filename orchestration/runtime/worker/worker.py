"""What a Ray worker of a mind runs: Ray's own worker, whose threads may be woken late.

Where there is a fork server (``fork_server.py``) it is one of its children that becomes the worker, and this process,
which has imported next to nothing, ends.

The threads of an idle worker look around some thirty times a second between them; they need not. The main thread
becomes punctual again as soon as it is an actor's (``actor.py``).
"""

import gc
import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

FORK_SERVER = "SUBMIND_FORK_SERVER"
"""Environment variable that names the socket of the fork server; without it workers are whole."""
_PATIENCE = 30.0
"""Seconds that a worker waits for its turn there; Ray gives one up after sixty."""


def main() -> None:
    """Become Ray's worker. The script's own directory is no place to import from."""
    sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).resolve().parent]
    place = os.environ.get(FORK_SERVER)
    if place and hand_over(place):
        os._exit(0)
    become_worker()


def hand_over(place: str) -> bool:
    """Have a child of the fork server at ``place`` become what this process is to be; False where it does not."""
    import json  # noqa: PLC0415 - after the path is right
    import socket  # noqa: PLC0415

    request = {"command": sys.argv, "environment": dict(os.environ), "directory": os.getcwd()}  # noqa: PTH109
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.settimeout(_PATIENCE)
            server.connect(place)
            socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
            return server.recv(1) != b""  # the child says so itself
    except OSError:
        return False


def become_worker() -> None:
    """Run what Ray runs for one, which ends with ``SystemExit``."""
    from orchestration.runtime.worker.timer_slack import AT_LEISURE, set_timer_slack  # noqa: PLC0415 - as above

    spec = find_spec("ray")
    if spec is None or spec.origin is None:
        raise RuntimeError("Ray cannot be found by its own worker")
    set_timer_slack(AT_LEISURE)
    gc.disable()  # what is imported stays: looking through it again and again is a tenth of a start (on: ``actor.py``)
    runpy.run_path(str(Path(spec.origin).parent / "_private" / "workers" / "default_worker.py"), run_name="__main__")


if __name__ == "__main__":
    main()
