"""The processes of a mind: they know whose they are, end with their parent, and are found and ended by their mark."""

import asyncio
import ctypes
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path

import psutil

MARK = "SUBMIND_MARK"
"""Environment variable that every process of a mind carries: which data directory it belongs to."""

TITLE = "ray::submind:"
"""What the title of an actor's process begins with; its name follows."""

FORK_SERVER_TITLE = "submind fork server"
"""The title of what actors are forked from."""

_PR_SET_PDEATHSIG = 1
_REAPER = Path(__file__).with_name("orphan_reaper.py")


class ProcessRole(StrEnum):
    """What a process of a running mind is for."""

    HOST = "host"
    MIND = "mind"
    RAYLET = "raylet"
    GCS = "gcs"
    REAPER = "reaper"
    FORK_SERVER = "fork_server"
    """What actors are forked from."""
    ACTOR = "actor"
    """A Ray worker; ``actor:NAME`` once it has one."""
    OTHER = "other"
    """Stand-ins of Ray's agents, workers that wait to be used."""


def mark_of(data_dir: Path) -> str:
    """What the processes of the mind in ``data_dir`` are marked with."""
    return hashlib.sha256(str(data_dir.resolve()).encode()).hexdigest()[:12]


def machine() -> str:
    """This machine as its processes see it: two that say the same can see and signal each other."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return f"{boot}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - the link leads nowhere


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` dies; ends at once when it is dead already. Linux only."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this system cannot tie a process to its parent")
    if os.getppid() != parent:
        os._exit(1)


def start_reaper() -> None:
    """Have everything in this process's session ended when this process, its leader, ends; for as long as it lives.

    Raises ``RuntimeError`` where it leads no session: others' processes would be ended.
    """
    if os.getsid(0) != os.getpid():
        raise RuntimeError("a mind process is started by its host, in a session of its own")
    command = [sys.executable, "-I", "-S", str(_REAPER)]
    reaper = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S603 - our own

    def again() -> None:
        reaper.wait()
        start_reaper()

    watch(reaper.pid, again)


def watch(pid: int, gone: Callable[[], None]) -> Callable[[], None]:
    """Call ``gone`` once when process ``pid`` ends, within milliseconds and without polling; returns how to stop.

    For a process that is gone already ``gone`` is called soon.
    """
    loop = asyncio.get_running_loop()
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        handle = loop.call_soon(gone)
        return handle.cancel
    watching = True

    def stop() -> None:
        nonlocal watching
        if watching:
            watching = False
            loop.remove_reader(fd)
            os.close(fd)

    def ended() -> None:
        stop()
        gone()

    loop.add_reader(fd, ended)
    return stop


def marked(mark: str, files: Path, but: Iterable[int] = ()) -> list[psutil.Process]:
    """Every process of this user that belongs to the mind marked ``mark``, except those in ``but``.

    Some of Ray's processes overwrite their environment with their title: they are known by the files they have open
    under ``files``, the directory that all runs of this mind share.
    """
    spared = {*but, os.getpid()}
    found = []
    for process in psutil.process_iter():
        if process.pid in spared:
            continue
        try:
            if process.uids().real == os.getuid() and _is_marked(process, mark, files):
                found.append(process)
        except (psutil.Error, OSError):  # gone by now
            continue
    return found


def _is_marked(process: psutil.Process, mark: str, files: Path) -> bool:
    if process.status() == psutil.STATUS_ZOMBIE:
        return False
    environ = process.environ()
    if environ:
        return environ.get(MARK) == mark
    return any(Path(file.path).is_relative_to(files) for file in process.open_files())


def end(processes: Iterable[psutil.Process], patience: float = 3.0) -> list[psutil.Process]:
    """Kill processes and wait until they are gone; those that are still there after ``patience`` seconds."""
    listed = list(processes)
    for process in listed:
        try:
            process.kill()
        except psutil.Error:
            continue
    return psutil.wait_procs(listed, timeout=patience)[1]


def sweep(mark: str, files: Path, but: Iterable[int] = (), rounds: int = 5) -> int:
    """Kill every process that belongs to the mind marked ``mark``, and those they still start; how many there were.

    Raises ``RuntimeError`` when some cannot be killed.
    """
    count = 0
    for _ in range(rounds):
        found = marked(mark, files, but)
        if not found:
            return count
        count += len(found)
        end(found)
    left = marked(mark, files, but)
    if left:
        raise RuntimeError(f"processes of an earlier run cannot be ended: {[process.pid for process in left]}")
    return count


def role_of(process: psutil.Process) -> str:
    """What a process of a mind is for: a ``ProcessRole``, with its name for an actor (``actor:stream``)."""
    try:
        command = process.cmdline()
    except psutil.Error:
        return ProcessRole.OTHER
    line = " ".join(command)
    if line.startswith(TITLE):
        return f"{ProcessRole.ACTOR}:{line.removeprefix(TITLE).strip()}"
    if line.strip() == FORK_SERVER_TITLE:
        return ProcessRole.FORK_SERVER
    if command and command[0].endswith("raylet/raylet"):
        return ProcessRole.RAYLET
    if command and command[0].endswith("gcs_server"):
        return ProcessRole.GCS
    if command and command[-1] == str(_REAPER):
        return ProcessRole.REAPER
    if "orchestration.runtime" in command:
        return ProcessRole.MIND
    if any(part.endswith("submind") for part in command[:2]) and "run" in command:
        return ProcessRole.HOST
    return ProcessRole.OTHER
