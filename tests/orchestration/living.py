"""A running mind as its operator sees it: a command, its processes by role, and a hand that kills them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from orchestration.host.directories import run_base
from orchestration.runtime import processes

ROOT = Path(__file__).parents[2]


def submind_run(data_dir, *more):
    """The command that starts the mind people use, on free ports."""
    ports = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
    return [sys.executable, "-m", "orchestration.cli", "run", "--data-dir", str(data_dir), *ports, *more]


def tiny_run(data_dir):
    """The command that starts the smallest mind."""
    return [sys.executable, "-m", "tests.orchestration.runtime.tiny", str(data_dir)]


def crowd_run(address):
    """The command that starts a small mind on a Ray cluster: by its data directory."""
    return lambda data_dir: [sys.executable, "-m", "tests.orchestration.nodes.crowd", str(data_dir), address]


def eventually(what, seconds=60.0):
    """The first true answer of ``what``. Fails, with the last answer, when there is none in time."""
    until, answer = time.monotonic() + seconds, None
    while time.monotonic() < until:
        try:
            answer = what()
        except (OSError, ValueError, KeyError) as error:
            answer = error
        else:
            if answer:
                return answer
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {answer!r}")


class LivingMind:
    """A mind run by ``command`` in ``data_dir``; ``start`` and ``stop`` or ``kill`` as often as one likes.

    With it, nothing of it is left behind, whatever happened.
    """

    def __init__(self, data_dir, command=submind_run, env=None):
        self.data_dir = Path(data_dir).resolve()
        self._command = command
        self._env = {**os.environ, **(env or {})}
        self.host = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def start(self, *, running=True):
        """Start it; returns when it acknowledges or, with ``running``, when every actor is alive."""
        (self.data_dir / "runtime.json").unlink(missing_ok=True)
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with (self.data_dir / "host.err").open("ab") as errors:
            self.host = subprocess.Popen(
                self._command(self.data_dir), cwd=ROOT, env=self._env, stdout=errors, stderr=errors
            )
        eventually(lambda: self._here() and self.report()["addresses"].get("http"), 180.0)
        if running:
            self.running()
        return self

    def _here(self):
        if self.host.poll() is not None:
            raise AssertionError(f"it ended with {self.host.returncode}: {self.said()[-2000:]}")
        return True

    def said(self):
        """What it wrote to its terminal."""
        return (self.data_dir / "host.err").read_text("utf-8", "replace")

    def report(self):
        """``runtime.json``."""
        return json.loads((self.data_dir / "runtime.json").read_text("utf-8"))

    @property
    def grpc(self):
        return self.report()["addresses"]["grpc"]

    @property
    def http(self):
        return self.report()["addresses"]["http"]

    def running(self, restarts=0, seconds=180.0):
        """Wait until every actor is alive, in a mind process started again at least ``restarts`` times."""
        eventually(lambda: self._here() and self._is_running(restarts), seconds)

    def _is_running(self, restarts):
        report = self.report()
        return report["state"] == "running" and report["restarts"] >= restarts

    def processes(self):
        """Role (``host``, ``mind``, ``raylet``, ``gcs``, ``actor:NAME``, ``other``) to its processes."""
        mark = processes.mark_of(self.data_dir)
        found = {}
        for process in processes.marked(mark, run_base(mark)):
            found.setdefault(str(processes.role_of(process)), []).append(process)
        if self.host is not None and self.host.poll() is None:
            found["host"] = [psutil.Process(self.host.pid)]
        return found

    def kill(self, role):
        """``kill -9`` the process of that role, once the one before it is gone; its pid."""
        (process,) = eventually(lambda: len(found := self.processes().get(role, [])) == 1 and found)
        process.kill()
        if role == "host":
            self.host.wait()
        return process.pid

    def gone(self, seconds=120.0):
        """Wait until not one of its processes is left."""
        eventually(lambda: not self.processes(), seconds)

    def stop(self, number=signal.SIGTERM, seconds=120.0):
        """Ask it to stop; the exit code."""
        self.host.send_signal(number)
        return self.host.wait(seconds)

    def end(self):
        """Leave nothing behind, whatever happened."""
        if self.host is not None and self.host.poll() is None:
            self.host.kill()
            self.host.wait()
        mark = processes.mark_of(self.data_dir)
        processes.sweep(mark, run_base(mark))
