"""The checks of ``submind doctor``: each looks at one thing and changes nothing that stays."""

import fcntl
import os
import resource
import shutil
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from orchestration.access.errors import BadCredentials
from orchestration.access.opening import access_of
from orchestration.cli.failure import Failure
from orchestration.cli.remote import NobodyAnswers, ServerRefused, connected, server_in
from orchestration.clock import wall
from orchestration.gateway.auth import require_guard, split_listen
from orchestration.gateway.errors import UnsafeListen
from orchestration.settings import Settings

GIB, MIB = 1024**3, 1024**2
PACKAGES = ("ray", "grpcio", "faiss-cpu", "numpy", "wordllama", "fastapi", "pydantic")
OLDEST, NEWEST = (3, 11), (3, 13)
LEAST_ROOM, SOME_ROOM = 200 * MIB, 2 * GIB
LEAST_MEMORY, SOME_MEMORY = GIB, 3 * GIB
SLOW_SYNC = 0.05
"""Seconds: an acknowledgement waits for one of these."""
LEAST_FILES = 1024
REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs"})
"""File systems on which SQLite's write-ahead log is not safe."""
SANE = (1_735_689_600.0, 4_102_444_800.0)
"""2025 to 2100: outside of it the clock was never set."""


class State(StrEnum):
    """What a check came to."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, and what to do about it."""

    check: str
    state: State
    found: str
    fix: str = ""


NOBODY = Finding("mind", State.DOUBTFUL, "no mind answers", "submind run starts one")


def machine() -> Iterator[Finding]:
    """Python, packages, memory, open files."""
    here = f"{sys.version_info[0]}.{sys.version_info[1]}.{sys.version_info[2]}"
    fits = OLDEST <= sys.version_info[:2] < NEWEST
    yield judge("python", here, bad="" if fits else "use Python 3.11 or 3.12, for example PYTHON=python3.11 make setup")
    yield from (_package(name) for name in PACKAGES)
    yield _faiss()
    memory = psutil.virtual_memory().available
    yield judge(
        "memory",
        f"{memory / GIB:.1f} GiB available",
        bad="free some memory: a mind of ten subminds takes about 1.5 GiB" if memory < LEAST_MEMORY else "",
        doubtful="a mind of ten subminds takes about 1.5 GiB" if memory < SOME_MEMORY else "",
    )
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield judge("files", f"{files} may be open", bad="raise the limit: ulimit -n 4096" if files < LEAST_FILES else "")


def embedder(settings: Settings) -> Iterator[Finding]:
    """Whether a sentence model of one's own can be used."""
    chosen = settings.substrate.embedder
    if chosen.kind != "onnx":
        return
    from actors.substrate.build import build_embedder  # noqa: PLC0415 - takes its time
    from actors.substrate.errors import UnusableModel  # noqa: PLC0415

    try:
        made = build_embedder(settings.substrate)
    except UnusableModel as error:
        yield Finding("embedder", State.BAD, str(error), "correct substrate.embedder, or install what is missing")
    else:
        yield Finding("embedder", State.GOOD, f"{chosen.model_file} makes vectors of {made.dim} numbers")


def place(data_dir: Path) -> Iterator[Finding]:
    """The data directory: permissions, lock, room, speed, file system, clock."""
    standing = next((path for path in (data_dir, *data_dir.absolute().parents) if path.exists()), Path("/"))
    if not standing.is_dir():
        yield Finding("data", State.BAD, f"{standing} is not a directory", "give another --data-dir")
        return
    if not os.access(standing, os.W_OK | os.X_OK):
        yield Finding(
            "data", State.BAD, f"{standing} cannot be written", f"chown or chmod {standing}, or give another --data-dir"
        )
        return
    mode = standing.stat().st_mode
    exposed = standing == data_dir and bool(mode & 0o007)
    told = f"{data_dir}" if data_dir.exists() else f"{data_dir} will be made"
    yield judge("data", told, doubtful=f"others can look into it: chmod o-rwx {data_dir}" if exposed else "")
    yield _lock(data_dir / "lock")
    free = shutil.disk_usage(standing).free
    yield judge(
        "disk",
        f"{free / GIB:.1f} GiB free",
        bad=f"free some room on the device of {standing}" if free < LEAST_ROOM else "",
        doubtful="a busy mind fills some GiB a month" if free < SOME_ROOM else "",
    )
    kind = _file_system(standing)
    yield judge(
        "storage",
        kind or "unknown file system",
        bad="SQLite's log is not safe over a network: keep the mind on a local disk" if kind in REMOTE else "",
    )
    yield from _write(standing)


def ports(settings: Settings, *, running: bool) -> Iterator[Finding]:
    """Whether the addresses may be listened on, and are free or ours."""
    for check, listen, option in (
        ("grpc", settings.gateway.listen, "--grpc"),
        ("http", settings.feed.listen, "--http"),
    ):
        try:
            require_guard(listen, guarded=access_of(settings).required)
            host, port = split_listen(listen)
        except UnsafeListen as error:
            yield Finding(check, State.BAD, str(error), "give a --token-file, or listen on 127.0.0.1")
            continue
        except BadCredentials as error:
            yield Finding(check, State.BAD, str(error), "correct --token-file, access.tokens_file or access.tls")
            continue
        fault = _bind(host, port)
        if fault and running:
            yield Finding(check, State.GOOD, f"{listen} is in use, by the running mind")
        else:
            yield judge(
                check,
                f"{listen} {fault or 'is free'}",
                bad=f"stop who holds it, unless it is the mind itself (see below), or give another {option}"
                if fault
                else "",
            )


async def server(settings: Settings) -> tuple[Finding, bool]:
    """Whether a mind answers; and whether it is sure that one does."""
    try:
        async with connected(server_in(settings), retry_for=0.5, within=5.0) as mind:
            status = await mind.status()
    except (NobodyAnswers, OSError):
        return NOBODY, False
    except Failure as error:
        fix = "give what callers show: --token-file with the scope `watch`, --ca, --cert and --key"
        return Finding("mind", State.DOUBTFUL, str(error), fix), isinstance(error, ServerRefused)
    reasons = "; ".join(status.reasons)
    told = f"{status.mind} is {status.state.value}{': ' + reasons if reasons else ''}"
    return judge("mind", told, doubtful="submind status says more" if reasons else ""), True


def judge(check: str, found: str, *, bad: str = "", doubtful: str = "") -> Finding:
    """Bad or doubtful where there is a fix to name, else good."""
    state = State.BAD if bad else State.DOUBTFUL if doubtful else State.GOOD
    return Finding(check, state, found, bad or doubtful)


def _package(name: str) -> Finding:
    try:
        return Finding("package", State.GOOD, f"{name} {version(name)}")
    except PackageNotFoundError:
        return Finding("package", State.BAD, f"{name} is not installed", "make setup, or pip install submind")


def _faiss() -> Finding:
    try:
        index = import_module("faiss").IndexFlatIP(4)
    except (ImportError, AttributeError) as error:
        return Finding("index", State.BAD, f"faiss does not load: {error}", "pip install --force-reinstall faiss-cpu")
    return Finding("index", State.GOOD, f"faiss makes an index of {index.d} dimensions")


def _lock(path: Path) -> Finding:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return Finding("lock", State.GOOD, "nobody holds it")
    except OSError as error:
        return Finding("lock", State.BAD, f"{path}: {error.strerror}", f"chown {path} to yourself")
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(fd, 32).strip().decode("ascii", errors="replace")
        return Finding("lock", State.GOOD, f"held by process {holder or 'unknown'}: a mind is running here")
    else:
        return Finding("lock", State.GOOD, "nobody holds it")
    finally:
        os.close(fd)


def _file_system(path: Path) -> str:
    """The kind of file system that ``path`` is on; empty when that cannot be told."""
    wanted = str(path.resolve())
    found = [
        part
        for part in psutil.disk_partitions(all=True)
        if wanted == part.mountpoint or wanted.startswith(part.mountpoint.rstrip("/") + "/")
    ]
    return max(found, key=lambda part: len(part.mountpoint)).fstype if found else ""


def _write(directory: Path) -> Iterator[Finding]:
    """Write and sync a scratch file: how long an acknowledgement takes, and what time the disk says it is."""
    try:
        with tempfile.NamedTemporaryFile(dir=directory, prefix=".submind-doctor-") as file:
            took = []
            for _ in range(9):
                began = time.perf_counter()
                file.write(b"\0" * 4096)
                file.flush()
                os.fsync(file.fileno())
                took.append(time.perf_counter() - began)
            written = os.fstat(file.fileno()).st_mtime
    except OSError as error:
        yield Finding(
            "sync", State.BAD, f"writing to {directory}: {error.strerror}", "free some room, or give another --data-dir"
        )
        return
    sync = statistics.median(took)
    slow = "acknowledgements wait for this: a faster disk would help" if sync > SLOW_SYNC else ""
    yield judge("sync", f"{sync * 1000:.1f} ms to write and sync", doubtful=slow)
    now = wall()
    apart = abs(now - written)
    unset = not SANE[0] < now < SANE[1]
    yield judge(
        "clock",
        f"{time.strftime('%Y-%m-%d %H:%M:%S %Z', time.localtime(now))}",
        bad="set the clock: event times ahead of it are refused" if unset else "",
        doubtful=f"the disk's clock is {apart:.0f} s off: synchronise both" if apart > 5 else "",  # noqa: PLR2004 - seconds
    )


def _bind(host: str, port: int) -> str:
    """What keeps this address from being listened on; empty when nothing does."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return f"cannot be used: {error.strerror}"
    return ""
