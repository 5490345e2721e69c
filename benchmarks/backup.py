"""Backing up a mind that takes perceptions in: how much slower it acknowledges, and how fast backup and restore are.

How it is measured, and why so:

- The mind's files are filled first: perceptions of log lines with keys, and traces with vectors. A gateway then serves
  on them in a process of its own, as in ``gateway.py``, and is driven as fast as it goes.
- A round is a run without a backup, and one during which ``submind backup`` writes one after the other, as people
  start it. The ratio is the median of the rounds' ratios: acknowledgements with a backup over those without. The first
  round warms up and is not counted. On a machine with cores to spare both would meet less; nothing is left idle here.
- Then, with nobody sending, one backup as fast as it goes and one restore of all that is there by then, compared at the
  end as always. MiB are those of the source's files.

    python benchmarks/backup.py [--json] [--perceptions 300000] [--traces 10000] [--seconds 4] [--rounds 5] [--rate MIB]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gateway import PERCEIVE, TEXT, Figures, drive, messages, serving

from environment.identity import perception_id
from environment.messages import Level, NewPerception, PerceptionRef, Thought, ThoughtKind, Trace
from environment.ports import WriteTrace
from environment.stores.sqlite import open_stores

if TYPE_CHECKING:
    from collections.abc import Sequence

MIND = "benchmark"
ROOT = Path(__file__).resolve().parent.parent
_MIB = 1 << 20
_AT_ONCE = 4096


async def fill(directory: Path, perceptions: int, traces: int) -> None:
    """Perceptions with keys, and traces that cite them."""
    rng = np.random.default_rng(1)
    stores = await open_stores(directory, MIND, synchronous="OFF")
    for start in range(0, perceptions, _AT_ONCE):
        numbers = range(start, min(start + _AT_ONCE, perceptions))
        await stores.perceptions.append(
            [
                NewPerception(f"web-{n % 40:02d}", n, n, text=TEXT.format(n % 60, n % 60, n % 40, n), key=f"filled-{n}")
                for n in numbers
            ]
        )
    for start in range(0, traces, 256):
        made = [trace(n, rng.standard_normal(256).astype(np.float32)) for n in range(start, min(start + 256, traces))]
        await stores.commit([WriteTrace(each) for each in made])
    await stores.close()


def trace(number: int, vector: Any) -> Trace:
    """A percept of a perception that is there."""
    ref = PerceptionRef(perception_id(number + 1), number, "web-01")
    thought = Thought(
        id=f"t-{number:020x}",
        author="text",
        kind=ThoughtKind.PERCEPT,
        text=TEXT.format(1, 2, 3, number),
        time=number,
        at=number,
        vector=vector / np.linalg.norm(vector),
        salience=0.5,
        confidence=0.9,
        trust=0.5,
        perceptions=(ref,),
        parents=(ref.id,),
    )
    return Trace(thought, 1, Level(0.5, number, 3600.0), authors=("text",))


def submind(*arguments: object) -> subprocess.Popen[str]:
    """A command, started."""
    command = [sys.executable, "-m", "orchestration.cli", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def backup(directory: Path, file: Path, rate: float | None = None) -> subprocess.Popen[str]:
    """``submind backup``, started."""
    slowly = () if rate is None else ("--rate", rate)
    return submind("backup", "--name", MIND, "--data-dir", directory, "--to", file, "--json", *slowly)


def done(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """What it printed."""
    out, err = process.communicate()
    if process.returncode:
        raise RuntimeError(err)
    return [json.loads(line) for line in out.splitlines()]


class Backups:
    """One backup after the other, until the block ends."""

    def __init__(self, directory: Path, place: Path, rate: float | None) -> None:
        self._directory = directory
        self._rate = rate
        self._place = place
        self._over = threading.Event()
        self.taken = 0
        self._thread = threading.Thread(target=self._take)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _take(self) -> None:
        while not self._over.is_set():
            file = self._place / f"{time.monotonic_ns()}.submind"
            process = backup(self._directory, file, self._rate)
            while process.poll() is None and not self._over.is_set():
                time.sleep(0.02)
            if process.poll() is None:
                process.terminate()
            process.communicate()
            self.taken += file.exists()
            file.unlink(missing_ok=True)


def size_of(directory: Path) -> float:
    """MiB of the databases."""
    return sum(path.stat().st_size for path in directory.glob("*.db*")) / _MIB


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    """Rounds without and with backups, then one backup and one restore."""
    rounds: list[tuple[Figures, Figures]] = []
    taken, most = 0, 3000
    with tempfile.TemporaryDirectory(dir=arguments.directory) as given:
        directory, place = Path(given) / "mind", Path(given) / "backups"
        place.mkdir()
        asyncio.run(fill(directory, arguments.perceptions, arguments.traces))
        with serving("--serve", "gateway", "--directory", str(directory)) as gateway:
            for number in range(arguments.rounds + 1):
                sent = [messages(int(arguments.seconds * most), 64, 2 * number + half) for half in (0, 1)]
                alone = asyncio.run(drive(gateway, PERCEIVE, iter(sent[0]), 1, 64, arguments.seconds))
                with Backups(directory, place, arguments.rate) as backups:
                    time.sleep(1.0)  # until it reads
                    beside = asyncio.run(drive(gateway, PERCEIVE, iter(sent[1]), 1, 64, arguments.seconds))
                taken += backups.taken
                rounds.append((alone, beside))
                most = int(2 * max(alone.batches_per_s, beside.batches_per_s)) + 100
        del rounds[0]
        size, file = size_of(directory), place / "last.submind"
        (told,) = [each for each in done(backup(directory, file, 0)) if "backup" in each]
        began = time.perf_counter()
        compared = done(submind("restore", file, "--data-dir", Path(given) / "restored", "--json"))
        seconds = time.perf_counter() - began
    ratios = [beside.batches_per_s / alone.batches_per_s for alone, beside in rounds]
    return {
        "benchmark": "backup",
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "acknowledged_per_s": middle([alone.batches_per_s * 64 for alone, _ in rounds]),
        "acknowledged_per_s_beside": middle([beside.batches_per_s * 64 for _, beside in rounds]),
        "p99_ms": middle([alone.p99_ms for alone, _ in rounds]),
        "p99_ms_beside": middle([beside.p99_ms for _, beside in rounds]),
        "backups_meanwhile": taken,
        "mib": size,
        "file_mib": told["size"] / _MIB,
        "backup_mib_per_s": size / told["seconds"],
        "restore_mib_per_s": size / seconds,
        "same": all(each["same"] for each in compared if "same" in each),
    }


def middle(values: Sequence[float]) -> float:
    """The median."""
    return float(statistics.median(values))


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    ratios = result["ratios"]
    return (
        f"ratio {result['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds):"
        f" {result['acknowledged_per_s']:,.0f} acknowledgements/s, {result['acknowledged_per_s_beside']:,.0f} beside"
        f" backups; p99 {result['p99_ms']:.0f} and {result['p99_ms_beside']:.0f} ms\n"
        f"{result['mib']:.0f} MiB backed up at {result['backup_mib_per_s']:.1f} MiB/s into"
        f" {result['file_mib']:.0f} MiB,"
        f" restored and compared at {result['restore_mib_per_s']:.1f} MiB/s, the same: {result['same']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--perceptions", type=int, default=300_000, help="there before the first round")
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rate", type=float, help="MiB a second of the backups beside; else the command's own default")
    parser.add_argument("--directory", type=Path, help="where all of it is written")
    arguments = parser.parse_args()
    result = measure(arguments)
    print(json.dumps(result) if arguments.json else table(result))


if __name__ == "__main__":
    main()
