"""How soon a mind acknowledges, and what it costs while nothing happens; beside a bare Ray in the same run.

``python benchmarks/start_idle.py [--seconds 60] [--rounds 3]``

Start: from the start of the process until the first perception is acknowledged, and until every actor is alive,
against bare Ray (``ray.init`` as it comes) with as many empty actors, until each has answered. Idle: processor time of
the whole process tree over ``--seconds``, in per cent of one core, against the same bare Ray; memory before and after
(PSS: what processes share counts once), processes and threads.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import psutil

from orchestration.host.directories import run_base
from orchestration.runtime import processes
from orchestration.settings import Settings
from orchestration.wiring import plan

BARE = """
import os, sys, time
began = time.time()
import ray
ray.init(num_cpus=int(sys.argv[1]), include_dashboard=False, log_to_driver=False, _temp_dir=sys.argv[2])
@ray.remote(num_cpus=0)
class Empty:
    async def here(self): return True
actors = [Empty.remote() for _ in range(int(sys.argv[1]))]
ray.get([actor.here.remote() for actor in actors])
print("ready", flush=True)
sys.stdin.read()
ray.shutdown()
"""

MIND = """
import asyncio, sys, time
from pathlib import Path
from environment.messages import NewPerception
from orchestration.client import MindClient
from orchestration.host.run import run_host
from orchestration.settings import Settings
settings = Settings.model_validate({
    "gateway": {"listen": "127.0.0.1:0"}, "feed": {"listen": "127.0.0.1:0"}, "telemetry": {"stderr": "off"},
})
async def beside(host):
    async with MindClient(host.addresses.grpc) as client:
        await client.perceive([NewPerception("bench", time.time(), time.time(), text="hello")])
    print("acknowledged", flush=True)
    while host.supervisor.report.state != "running":
        await asyncio.sleep(0.01)
    print("running", flush=True)
sys.exit(run_host(settings, Path(sys.argv[1]), beside=beside))
"""


def lines_until(process: subprocess.Popen[str], wanted: Iterable[str]) -> dict[str, float]:
    """Seconds since now until the process printed each of ``wanted``."""
    began, seen = time.perf_counter(), {}
    for line in process.stdout or ():
        seen[line.strip()] = time.perf_counter() - began
        if set(wanted) <= set(seen):
            return seen
    raise RuntimeError(f"it ended with {process.wait()}")


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python process that runs ``code``."""
    environ = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
    )


def below(pid: int) -> list[psutil.Process]:
    """A process and everything it started."""
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def of_mind(pid: int, mark: str, base: Path) -> list[psutil.Process]:
    """A host and everything of its mind, also what is not below it any more."""
    return [psutil.Process(pid), *processes.marked(mark, base)]


def usage(tree: Callable[[], list[psutil.Process]]) -> tuple[dict[int, float], dict[int, float], dict[int, str], int]:
    """Processor seconds and MiB by process, what each process is, and how many threads there are."""
    spent, memory, roles, threads = {}, {}, {}, 0
    listed = tree()
    for process in listed:
        try:
            times = process.cpu_times()
            spent[process.pid] = times.user + times.system
            memory[process.pid] = pss(process.pid) / 2**20
            threads += process.num_threads()
            role = str(processes.role_of(process)).partition(":")[0]
            roles[process.pid] = "host" if process.pid == listed[0].pid else role
        except (psutil.Error, OSError):
            continue
    return spent, memory, roles, threads


def pss(pid: int) -> int:
    """Bytes of memory of a process; what it shares with others in equal parts."""
    told = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    return 1024 * int(next(line.split()[1] for line in told.splitlines() if line.startswith("Pss:")))


def idle(
    tree: Callable[[], list[psutil.Process]], seconds: float
) -> tuple[float, float, float, dict[str, tuple[float, float]], tuple[int, int]]:
    """Per cent of a core, MiB before and after, both by role, and how many processes and threads."""
    before, memory, *_ = usage(tree)
    began = time.perf_counter()
    time.sleep(seconds)
    after, later, roles, threads = usage(tree)
    elapsed = time.perf_counter() - began
    by_role: dict[str, tuple[float, float]] = {}
    for pid, spent in after.items():
        share, held = by_role.get(roles[pid], (0.0, 0.0))
        by_role[roles[pid]] = share + 100 * (spent - before.get(pid, 0.0)) / elapsed, held + later[pid]
    share = sum(share for share, _ in by_role.values())
    return share, sum(memory.values()), sum(later.values()), by_role, (len(after), threads)


def settle(seconds: float) -> None:
    """Let what belongs to the start pass."""
    time.sleep(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to be idle")
    parser.add_argument("--rounds", type=int, default=3, help="starts of each")
    parser.add_argument("--settle", type=float, default=20.0, help="seconds between the start and being idle")
    options = parser.parse_args()
    actors = len(plan(Settings()))
    bare: list[float] = []
    first: list[float] = []
    alive: list[float] = []
    print(f"{actors} actors, {options.rounds} starts of each, {options.seconds:.0f} s idle")
    for number in range(options.rounds):
        last = number == options.rounds - 1
        with tempfile.TemporaryDirectory(prefix="bare", ignore_cleanup_errors=True) as folder:
            process = start(BARE, str(actors), folder)
            bare.append(lines_until(process, ["ready"])["ready"])
            if last:
                settle(options.settle)
                bare_idle = idle(partial(below, process.pid), options.seconds)
            process.communicate()
        with tempfile.TemporaryDirectory(prefix="mind", ignore_cleanup_errors=True) as folder:
            mark = processes.mark_of(Path(folder))
            base = run_base(mark)
            process = start(MIND, folder)
            seen = lines_until(process, ["acknowledged", "running"])
            first.append(seen["acknowledged"])
            alive.append(seen["running"])
            if last:
                settle(options.settle)
                mind_idle = idle(partial(of_mind, process.pid, mark, base), options.seconds)
            process.terminate()
            process.communicate()
    ready = statistics.median(bare)
    print(f"start: bare Ray with empty actors {ready:.2f} s")
    print(f"  first acknowledgement {statistics.median(first):.2f} s, ratio {statistics.median(first) / ready:.2f}")
    print(f"  every actor alive     {statistics.median(alive):.2f} s, ratio {statistics.median(alive) / ready:.2f}")
    for name, (share, before, after, roles, (listed, threads)) in (("bare Ray", bare_idle), ("mind", mind_idle)):
        print(f"idle: {name} {share:.2f} % of a core, PSS {before:.0f} MiB, {after - before:+.2f} MiB while idle")
        print(f"  {listed} processes, {threads} threads")
        for role, (part, held) in sorted(roles.items(), key=lambda item: -item[1][1]):
            print(f"  {role:6} {part:6.2f} % {held:7.1f} MiB")
    print(f"idle: ratio of processor time {mind_idle[0] / bare_idle[0]:.2f}")


if __name__ == "__main__":
    main()
