"""Forks actors' processes from one that has imported what they need: they share its memory, and begin at once.

It is forked from the mind process, before that has a thread, and ends with it. A worker that Ray starts (``worker.py``)
hands its command line, environment and output over to a child of this process, and ends: Ray knows a worker by the id
on its command line, and from then on the process that names it.
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from orchestration.faculties import BUILT_IN
from orchestration.runtime import processes
from orchestration.runtime.orders import RunOrders
from orchestration.runtime.worker.worker import FORK_SERVER, become_worker
from orchestration.store_factory import embedded_in

_BACKLOG = 512
_LARGEST = 1024 * 1024
"""Bytes of a command line and an environment; no socket takes as much at a time."""
_PATIENCE = 5.0
"""Seconds in which a worker that has come says what it is to be."""
_OF_RAY = (
    "ray._private.workers.default_worker",
    "ray._private.arrow_serialization",
    "ray._common.usage.usage_lib",
    "starlette.datastructures",
)
"""What its worker imports when it begins."""


def begin(run: RunOrders, *leave: Callable[[], None]) -> int:
    """Fork it from this process, whose environment names it from now on; its process id.

    There ``leave`` is called, to close what others hold. In the new process, and in those it forks, this raises
    ``SystemExit`` instead. To be called before there is a thread.
    """
    mind, listener = os.getpid(), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    place = str(run.run_dir / "workers")
    listener.bind(place)
    listener.listen(_BACKLOG)
    gc.disable()  # what is imported stays as it is, and shared
    with _worker_environment(mind):
        importlib.import_module("ray._raylet")
    gc.freeze()
    pid = os.fork()
    if not pid:
        processes.die_with_parent(mind)
        for close in leave:
            close()
        _serve(run, listener)
    gc.enable()
    listener.close()
    os.environ[FORK_SERVER] = place
    return pid


@contextmanager
def _worker_environment(mind: int) -> Iterator[None]:
    """What Ray's library reads once, when it is loaded: a worker of no job yet, that ends after the mind process."""
    told = {"RAY_JOB_ID": "ffffffff", "RAY_RAYLET_PID": str(mind)}
    os.environ.update(told)
    try:
        yield
    finally:
        for name in told:
            del os.environ[name]


def _serve(run: RunOrders, listener: socket.socket) -> None:
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - for its descriptor
        os.dup2(nothing.fileno(), 0)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    _set_title(processes.FORK_SERVER_TITLE)
    _preload(run)
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads > 1:
        sys.exit(f"no actor is forked from a process of {threads} threads: a child might wait for one that it has not")
    gc.collect()
    gc.freeze()
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(_PATIENCE)
            request, fds, child = b"", list[int](), False
            with suppress(OSError):  # that worker sees to itself
                request, fds, *_ = socket.recv_fds(connection, _LARGEST, 3)
                child = len(fds) == 3 and not os.fork()  # noqa: PLR2004 - input, output, errors
            if child:
                listener.close()
                try:
                    connection.sendall(b"\0")
                except OSError:
                    sys.exit()  # it waited too long, and sees to itself by now
                connection.close()
                _become(json.loads(request), fds)
            for fd in fds:
                os.close(fd)


def _set_title(title: str) -> None:
    environment = dict(os.environ)
    os.environ.clear()  # the title would take the place of the variables that a process is found by; copies stay
    os.environ.update(environment)
    raylet: Any = importlib.import_module("ray._raylet")
    raylet.setproctitle(title)


def _preload(run: RunOrders) -> None:
    """Import and open what most actors will need."""
    settings = run.settings
    modules = [run.wiring, "actors.substrate.build", *_OF_RAY]
    modules += [f"{faculty.build.__module__.rpartition('.')[0]}.core" for faculty in BUILT_IN]
    if embedded_in(settings, run.data_dir) is not None:
        modules.append("environment.stores.sqlite")
    for name in modules:
        with suppress(ImportError):  # whoever needs it says so
            importlib.import_module(name)
    from actors.perception.appraisal import valences  # noqa: PLC0415 - the mind process needs none of this
    from actors.substrate.build import build_embedder  # noqa: PLC0415
    from actors.substrate.embedding import WordLlamaEmbedder  # noqa: PLC0415
    from actors.substrate.errors import UnusableModel  # noqa: PLC0415

    valences()
    embedder = settings.substrate.embedder
    if embedder.kind == "wordllama":
        WordLlamaEmbedder().embed_now(["word"])
    elif embedder.kind == "onnx" and embedder.threads == 1:  # else it has threads
        with suppress(UnusableModel):
            build_embedder(settings.substrate)


def _become(request: dict[str, Any], fds: list[int]) -> None:
    """Be the worker that asked."""
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
        os.close(fd)
    _set_title("ray::IDLE")  # Ray itself calls an unused worker that only after its first task
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    sys.argv[:] = request["command"]
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # each its own chance, as Python's has by itself
    become_worker()
    sys.exit()
