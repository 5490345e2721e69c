"""The contestant that ``messages.py`` has not made: autogen-core's gRPC runtime, in an environment of its own."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

AUTOGEN = Path(__file__).with_name("autogen_conversation.py")


def autogen_python(environment: Path) -> Path | None:
    """Python of an environment that has autogen, made where it is not there; None where that cannot be."""
    python = environment / "bin" / "python"
    probe = [python, "-c", "import autogen_ext.runtimes.grpc._worker_runtime"]
    if python.exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return python
    for command in (
        [sys.executable, "-m", "venv", environment],
        [python, "-m", "pip", "install", "--quiet", "autogen-core", "autogen-ext[grpc]"],
        probe,
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"autogen is not measured: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
    return python


class Autogen:
    """The same of autogen's gRPC runtime; the better of its two ways."""

    def __init__(self, python: Path, text: str, every: float) -> None:
        """``text``: what is said; ``every``: seconds between two messages when latency is measured."""
        address = f"127.0.0.1:{free_port()}"
        self._parts = {}
        for part in ("host", "hear", "say"):
            command = [python, AUTOGEN, part, address, text, str(every)]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self._parts[part] = subprocess.Popen(command, text=True, **pipes)
            self._hear(part)

    def measure(self, messages, slow):
        rates = [self._said(how, messages)["rate"] for how in ("send", "publish")]
        return max(rates), self._said("slow", slow)["late"]

    def close(self):
        for part in ("say", "hear", "host"):
            process = self._parts[part]
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _said(self, how, count):
        self._tell("say", [how, count])
        self._hear("say")
        self._tell("hear", count)
        return self._hear("hear")

    def _tell(self, part, what):
        self._parts[part].stdin.write(json.dumps(what) + "\n")
        self._parts[part].stdin.flush()

    def _hear(self, part):
        line = self._parts[part].stdout.readline()
        if not line:
            raise RuntimeError(f"autogen's {part} ended with {self._parts[part].wait()}")
        return json.loads(line)


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]
