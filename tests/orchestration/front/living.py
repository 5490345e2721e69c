"""A front as its operator sees it: a command, what it says, and where it listens."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]


class LivingFront:
    """``submind serve`` on free ports; ``start`` once, ``stop`` or ``end`` once."""

    def __init__(self, directory, env, *flags):
        self._errors = Path(directory) / f"front-{time.monotonic_ns()}.err"
        ports = {"--grpc": "127.0.0.1:0", "--http": "127.0.0.1:0", "--probes": "127.0.0.1:0"}
        given = dict(zip(flags[::2], flags[1::2], strict=True))
        flat = [part for pair in (ports | given).items() for part in pair]
        self._command = [sys.executable, "-m", "orchestration.cli", "serve", "--json", *flat]
        self._env = {**os.environ, **env}
        self.process = None
        self.where = {}

    def start(self):
        """Start it; returns when it listens."""
        with self._errors.open("ab") as errors:
            self.process = subprocess.Popen(
                self._command, cwd=ROOT, env=self._env, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"it ended with {self.process.wait()}: {self.said()[-2000:]}")
        self.where = json.loads(line)
        return self

    @property
    def grpc(self):
        return self.where["grpc"]

    @property
    def http(self):
        return self.where["http"]

    @property
    def probes(self):
        return self.where["probes"]

    def said(self):
        """What it wrote to its terminal."""
        return self._errors.read_text("utf-8", "replace")

    def stop(self, seconds=60.0):
        """Ask it to stop; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def end(self):
        """Leave nothing behind, whatever happened."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
