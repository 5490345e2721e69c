"""Commands without the second that each takes to import what it needs: forked from a process that has it all.

``python -m tests.orchestration.cli.warm SOCKET`` answers requests until its standard input ends. A command runs in a
process of its own, with the arguments, environment, directory and standard streams it was given, and ends as it would.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from typing import Any

import orchestration.cli


def main() -> None:
    """Serve; in the process of a command: run it."""
    for module in pkgutil.walk_packages(orchestration.cli.__path__, "orchestration.cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen()
        print("ready", flush=True)  # noqa: T201
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        gc.freeze()
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            line = listener.accept()[0]
            if os.fork() == 0:
                listener.close()
                wanted = attend(line)
                break
            line.close()
        else:
            return
    code = 0
    try:
        orchestration.cli.main(wanted)
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(int(code or 0))  # what was imported is not taken apart, which takes longer than most commands


def attend(line: socket.socket) -> list[str]:
    """Have a command run and tell what came of it; in the process of the command: its arguments."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    wish = json.loads(line.makefile("rb").readline())
    given, into = os.pipe()
    os.write(into, wish["stdin"].encode("latin-1"))
    os.close(into)
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
    child = os.fork()
    if child == 0:
        line.close()
        become(wish, [given, out.fileno(), err.fileno()])
        return list(wish["args"])
    watched = os.pidfd_open(child)
    if watched not in select.select([watched, line], [], [])[0]:
        os.kill(child, signal.SIGKILL)  # whoever wished for it has gone
    told: dict[str, Any] = {"code": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}
    for name, file in (("out", out), ("err", err)):
        file.seek(0)
        told[name] = file.read().decode("latin-1")
    line.sendall(json.dumps(told).encode())
    os._exit(0)


def become(wish: dict[str, Any], files: list[int]) -> None:
    """Be as if begun by a shell."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.chdir(wish["cwd"])
    os.environ.clear()
    os.environ.update(wish["env"])
    time.tzset()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    main()
