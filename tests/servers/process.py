"""A server process that a test may kill and pause: it knows its own process only."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx

ROOT = str(Path(__file__).parents[2])
_PORTS = (20_000, 32_000)
"""Above those of Ray's workers (10002 to 19999), below those of outgoing connections."""


class ServerProcess:
    """One process with its output in ``log``. Not started by construction; ``stop`` may be called in any state."""

    def __init__(self, name: str, command: Sequence[str], log: Path, ready: Callable[[], bool]) -> None:
        self.name = name
        self.command = list(command)
        self.log = log
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None
        self._paused = False

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} has not been started"
        return self._process.pid

    def start(self, within: float = 180.0) -> None:
        """Start it and wait until it serves; also after a ``kill``."""
        self.launch()
        self.wait(within)

    def launch(self) -> None:
        """Start it and do not wait."""
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

    def wait(self, within: float = 180.0) -> None:
        """Wait until it serves."""
        assert self._process is not None, f"{self.name} has not been started"
        deadline = time.monotonic() + within
        while not self._ready():
            if self._process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self._process.returncode}:\n{self.tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"{self.name} did not serve within {within:g} s:\n{self.tail()}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End it as a power cut would (SIGKILL); what it wrote stays."""
        self._end(signal.SIGKILL, 120.0)

    def stop(self) -> None:
        """End it properly, and if it will not, at once."""
        if self._process is None:
            return
        if self._paused:
            self.resume()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._end(signal.SIGTERM, 20.0)
            return
        self.kill()

    def pause(self) -> None:
        """Stop it where it stands (SIGSTOP): connections stay open, nothing answers."""
        os.kill(self.pid, signal.SIGSTOP)
        self._paused = True

    def resume(self) -> None:
        """Let a paused one go on."""
        os.kill(self.pid, signal.SIGCONT)
        self._paused = False

    def tail(self, lines: int = 25) -> str:
        """The end of its output."""
        return "\n".join(self.log.read_text("utf-8", errors="replace").splitlines()[-lines:])

    def _end(self, how: signal.Signals, within: float) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(within)
        self._paused = False


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody has now, all different.

    Below those that outgoing connections are given: a client that tries again and again to reach a server that was
    killed would in the end be given that very port, and be connected to itself.
    """
    found: set[int] = set()
    while len(found) < count:
        port = random.randrange(*_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.add(port)
    return list(found)


def answers(url: str) -> bool:
    """Whether a plain HTTP request is answered with success."""
    try:
        return httpx.get(url, timeout=1.0).is_success
    except httpx.TransportError:
        return False


def listens(port: int, host: str = "127.0.0.1") -> bool:
    """Whether somebody accepts connections on a port of the loopback."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((host, port)) == 0


def run_python(script: str, *arguments: object) -> subprocess.Popen[str]:
    """An interpreter that runs ``script``, and what it prints."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": ROOT},
    )
