"""The command line as people run it: a process, against a gateway as it is served."""

import asyncio
import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from environment.stores.opening import open_stores
from orchestration.clock import wall
from tests.environment.stores.furnished import furnish
from tests.orchestration.gateway.conftest import gateway, serve

__all__ = ["gateway", "serve"]
ROOT = Path(__file__).parents[3]
STARTS = ("LANG", "LC_ALL", "PYTHONPATH", "PYTHONUTF8", "PYTHONIOENCODING")
"""What of the environment says how Python starts."""
PIPE = 60_000
"""Bytes that a pipe holds before anybody reads."""


@dataclass
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


def environ(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SUBMIND")}
    return kept | {"TZ": "UTC", "COLUMNS": "200"} | changes


def _hear() -> None:
    """As from a terminal: in the background of a script Ctrl-C is ignored, by its children too.

    Said here and not between fork and exec (``preexec_fn``): a process in which gRPC lives cannot be forked safely,
    and one child in three ended with a segmentation fault and without a word.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def start(*args: object, under: Sequence[str] = (), **options: Any) -> asyncio.subprocess.Process:
    """``under``: a command that runs this one."""
    _hear()
    pipe = asyncio.subprocess.PIPE
    command = [*under, sys.executable, "-m", "orchestration.cli", *map(str, args)]
    given: dict[str, Any] = {"env": environ(), "stdin": pipe, "stdout": pipe, "stderr": pipe}
    return await asyncio.create_subprocess_exec(*command, **(given | options))


async def finish(process: asyncio.subprocess.Process, stdin: bytes | None = None, within: float = 240) -> Done:
    out, err = await asyncio.wait_for(process.communicate(stdin), within)
    assert b"Traceback" not in err, err.decode()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


async def submind(*args: object, stdin: bytes = b"", within: float = 240, starts: bool = True, **options: Any) -> Done:
    """What a command comes to: run by a fork of a process that has imported all, where nothing speaks against that.

    What ``starts`` servers and Ray is not; of what is refused before it does it is said that it does not.
    """
    env = options.get("env") or environ()
    cold = options.keys() - {"env"} or (starts and {"run", "serve"} & {*args[:1]}) or len(stdin) > PIPE
    if cold or any(env.get(name) != os.environ.get(name) for name in STARTS):
        return await finish(await start(*args, **options), stdin, within)
    wish = {"args": [*map(str, args)], "env": env, "cwd": str(Path.cwd()), "stdin": stdin.decode("latin-1")}
    async with asyncio.timeout(within):
        reader, writer = await asyncio.open_unix_connection(await asyncio.to_thread(warm))
        writer.write(f"{json.dumps(wish)}\n".encode())
        told = json.loads(await reader.read())
        writer.close()
    assert "Traceback" not in told["err"], told["err"]
    return Done(told["code"], *(told[name].encode("latin-1").decode() for name in ("out", "err")))


@cache
def warm() -> str:
    """Where commands are forked (`warm.py`), as long as this process lives."""
    at = f"{tempfile.mkdtemp()}/commands"
    command = [sys.executable, "-m", "tests.orchestration.cli.warm", at]
    forker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ(), cwd=ROOT)
    atexit.register(forker.stdin.close)  # type: ignore[union-attr]
    assert forker.stdout is not None
    assert forker.stdout.readline() == b"ready\n"
    return at


def by_check(done: Done) -> dict[str, dict[str, Any]]:
    """What ``submind doctor --json`` found, by what it looked at."""
    assert done.objects, done
    return {finding["check"]: finding for finding in done.objects}


def here(tmp_path: Path) -> tuple[object, ...]:
    """``submind doctor`` of a mind that would live here, on any free ports."""
    return ("doctor", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data-dir", tmp_path, "--json")


@pytest.fixture
async def living(tmp_path: Path) -> Path:
    """The directory of a mind that has lived."""
    stores = await open_stores(tmp_path / "living", "mind")
    await furnish(stores, 200)
    await stores.close()
    return tmp_path / "living"


def flags(gateway: Any) -> list[str]:
    """What points to the gateway, whose clock is set to today: the command line lives today."""
    gateway.now[0] = wall()
    return ["--grpc", gateway.target]


@pytest.fixture
def at(gateway: Any) -> list[str]:
    """The flags that point to the gateway."""
    return flags(gateway)
