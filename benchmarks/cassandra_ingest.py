"""Durable ingestion through the gateway into Cassandra against the bare driver's inserts of the same rows, in one run.

How it is measured, and why so:

- The gateway is a process of its own, as a mind's host runs it: its stores are the clustered ones, it answers a batch
  once the lightweight transaction is decided that moves the log's head past it. The client is that of ``gateway.py``.
- After each run of the gateway the rows that it wrote are read back, and a second process has the bare driver insert
  the same rows into tables of the same shape: prepared statements, ``execute_concurrent``, nothing else. For each
  commit it writes one row more, in place of the lightweight transaction: so both make the same number of writes.
- The ratio of a round is the bare driver's time for those rows over the gateway's; that of the run is the median. The
  first round warms up and is not counted. The CPU time of either process for a write is printed beside it: on a
  machine that does other work as well it is the steadier figure.

Afterwards it prints what a million perceptions take, as they were sent here, and what a day takes of a mind that
perceives once a second, each perception by itself. Bytes are those on the disk, compressed.

    python benchmarks/cassandra_ingest.py [--json] [--store cassandra://...] [--seconds 6] [--rounds 5] [--batch 64]

Without ``--store`` a server of its own is started (Java 17 and Maven are needed). The keyspace that is named is made,
and dropped at the end; so is a second one beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gateway import PERCEIVE, TEXT, Figures, Server, drive, messages

from environment.messages import NewPerception, PerceptionBatch
from environment.stores.cassandra.driver.address import CassandraAddress, parse_address
from environment.stores.cassandra.driver.connecting import open_session
from environment.stores.cassandra.log import keys, layout
from environment.stores.cassandra.log.perceptions import CassandraPerceptions
from environment.stores.cassandra.schema.migrations import migrate
from environment.stores.opening import open_stores
from orchestration.gateway.intake import Intake
from orchestration.gateway.server import GatewayServer
from orchestration.gateway.settings import GatewaySettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from environment.stores.cassandra.driver.session import Session

MIND = "benchmark"
TARGET = 0.5
WRITERS = ("gateway", "driver")
DAY = 86_400
SAMPLE = 20_000
"""Perceptions of that day that are written."""
INSERTS = {
    "perception_stretches": "INSERT INTO perception_stretches"
    " (mind, chunk, position, count, received, modalities, parts, keys, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) USING TIMESTAMP ?",
    "perception_payloads": "INSERT INTO perception_payloads (mind, position, part, body)"
    " VALUES (?, ?, ?, ?) USING TIMESTAMP ?",
    "perception_keys": "INSERT INTO perception_keys (mind, key, position) VALUES (?, ?, ?) USING TIMESTAMP ?",
    "fenced_logs": "INSERT INTO fenced_logs (mind, family, log, n, epoch, record)"
    " VALUES (?, ?, ?, ?, ?, ?) USING TIMESTAMP ?",
}
STRETCHES = """SELECT mind, chunk, position, count, received, modalities, parts, keys, body, WRITETIME(count)
    FROM perception_stretches WHERE mind = ? AND chunk = ?"""
PAYLOADS = """SELECT mind, position, part, body, WRITETIME(body)
    FROM perception_payloads WHERE mind = ? AND position = ?"""
USAGE = "SELECT table_name, mebibytes FROM system_views.disk_usage WHERE keyspace_name = ?"
CONCURRENCY = 200
"""Requests that the bare driver has under way: more did not make it faster."""


async def serve_gateway(place: str) -> None:
    """The gateway on the clustered store; says its port, then how many commits there were whenever it is asked."""
    stores = await open_stores(place, MIND, writer="host")
    await stores.perceptions.lead()
    settings = GatewaySettings(listen="127.0.0.1:0")
    intake = Intake(stores.perceptions, settings.intake, time.time)
    server = GatewayServer(intake, {}, settings)
    print(await server.start(), flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(int(intake.figures()["intake_commits_total"]), flush=True)


def serve_driver(place: str) -> None:
    """The bare driver: inserts the rows of the files it is told, and says how many seconds that took."""
    from cassandra import ConsistencyLevel  # noqa: PLC0415 - this process alone needs the driver itself
    from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile  # noqa: PLC0415
    from cassandra.concurrent import execute_concurrent  # noqa: PLC0415
    from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy  # noqa: PLC0415

    address = parse_address(place)
    profile = ExecutionProfile(
        TokenAwarePolicy(DCAwareRoundRobinPolicy(address.dc)), consistency_level=ConsistencyLevel.LOCAL_QUORUM
    )
    cluster = Cluster(list(address.hosts), execution_profiles={EXEC_PROFILE_DEFAULT: profile}, protocol_version=5)
    session = cluster.connect(address.keyspace)
    inserts = {table: session.prepare(insert) for table, insert in INSERTS.items()}
    print(0, flush=True)
    for line in sys.stdin:
        rows = [
            (
                inserts[table],
                [
                    bytes.fromhex(value[1:]) if isinstance(value, str) and value[:1] == "\0" else value
                    for value in values
                ],
            )
            for table, values in json.loads(Path(line.strip()).read_text())
        ]
        began = time.perf_counter()
        execute_concurrent(session, rows, concurrency=CONCURRENCY, raise_on_first_error=True)
        print(time.perf_counter() - began, flush=True)
    cluster.shutdown()


@dataclass
class Process:
    """A process that answers a line with a line."""

    process: subprocess.Popen[str]
    port: int

    def ask(self, line: str = "") -> str:
        assert self.process.stdin is not None  # noqa: S101
        assert self.process.stdout is not None  # noqa: S101
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    @property
    def server(self) -> Server:
        return Server(self.port, psutil.Process(self.process.pid))


@contextmanager
def serving(role: str, place: str) -> Iterator[Process]:
    """A server in a process of its own."""
    command = [sys.executable, __file__, "--serve", role, "--store", place]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None  # noqa: S101
        port = next((line for line in iter(process.stdout.readline, "") if line.strip().isdecimal()), "")
        if not port:
            raise RuntimeError(f"the {role} ended with {process.wait()}")
        yield Process(process, int(port))
    finally:
        process.terminate()
        process.wait()


class Keyspaces:
    """The keyspace of the gateway and that of the bare driver; both are dropped."""

    def __init__(self, address: CassandraAddress, options: str) -> None:
        self.ours, self.bare = address, replace(address, keyspace=f"{address.keyspace}_bare")
        self._options = options

    def place(self, address: CassandraAddress) -> str:
        return f"{address}?{self._options}"

    async def make(self) -> None:
        for address in (self.ours, self.bare):
            session = await open_session(address, rng=random.Random(1), keyspace=False)
            await session.run(
                f"CREATE KEYSPACE {address.keyspace} WITH replication ="
                f" {{'class': 'NetworkTopologyStrategy', '{address.dc}': 1}}"
            )
            await session.close()
            session = await open_session(address, rng=random.Random(1))
            await migrate(session, runner="benchmark", rng=random.Random(2))
            await session.close()

    async def drop(self) -> None:
        session = await open_session(self.ours, rng=random.Random(1), keyspace=False)
        for address in (self.ours, self.bare):
            await session.run(f"DROP KEYSPACE IF EXISTS {address.keyspace}")
        await session.close()


async def written(session: Session, first: int, last: int, commits: int) -> list[tuple[str, list[Any]]]:
    """The rows that hold the numbers ``first`` to ``last``, and one for each commit."""
    of_chunk, of_body = await session.prepare(STRETCHES), await session.prepare(PAYLOADS)
    rows: list[tuple[str, list[Any]]] = []
    for chunk in range(layout.chunk_of(first), layout.chunk_of(last) + 1):
        for row in await session.execute(of_chunk, (MIND, chunk), idempotent=True, page_rows=100):
            if not first <= row.position <= last:
                continue
            rows.append(("perception_stretches", list(row)))
            if row.parts:
                parts = await session.execute(of_body, (MIND, row.position), idempotent=True, page_rows=4)
                rows += [("perception_payloads", list(part)) for part in parts]
            for position, key in enumerate(keys.each_key(row.keys), row.position):
                if key != keys.NO_KEY:
                    rows.append(("perception_keys", [MIND, key, position, row[-1]]))
    rows += [
        ("fenced_logs", [MIND, "perceptions", "perceptions", n, 1, "\0" + bytes(12).hex(), n + 1])
        for n in range(commits)
    ]
    random.Random(first).shuffle(rows)
    return rows


@dataclass(frozen=True)
class Rate:
    """How writes went."""

    writes_per_s: float
    cpu_us: float
    """CPU time of the writing process for one of them."""


def insert(driver: Process, rows: list[tuple[str, list[Any]]], path: Path) -> Rate:
    """Have the bare driver insert rows, by way of a file."""
    path.write_text(json.dumps(rows, default=lambda value: "\0" + value.hex()))
    spent = driver.server.cpu()
    seconds = float(driver.ask(str(path)))
    return Rate(len(rows) / seconds, (driver.server.cpu() - spent) / len(rows) * 1e6)


async def on_disk(session: Session) -> int:
    """Bytes of the tables' files, once everything has been flushed to them; to the MiB."""
    for table in INSERTS:
        await session.run(f"ALTER TABLE {table} WITH memtable_flush_period_in_ms = 1000")
    usage = await session.prepare(USAGE)
    seen = -1
    while True:
        await asyncio.sleep(3.0)
        now = sum(
            row.mebibytes
            for row in await session.execute(usage, (session.address.keyspace,), idempotent=True)
            if row.table_name in INSERTS
        )
        if now == seen:
            break
        seen = now
    for table in INSERTS:
        await session.run(f"ALTER TABLE {table} WITH memtable_flush_period_in_ms = 0")
    return seen << 20


async def one_day(session: Session) -> float:
    """Bytes that a day takes where every second one perception is written by itself, with a key."""
    log = CassandraPerceptions(session, "day")
    text = TEXT.format(7, 12, 9, 231)
    requests = []
    for number in range(1, SAMPLE + 1):
        now = 1_700_000_000.0 + number
        ready = log.prepare(PerceptionBatch.of([NewPerception("web-07", now, now, text, key=f"{number:x}")]))
        at = layout.stamp(1, number)
        requests += await log._table.requests(number, [(ready.perceptions, None)], ready.keys, at)  # noqa: SLF001
        requests += await log._known.requests(number, ready.keys, at)  # noqa: SLF001
    before = await on_disk(session)
    await session.execute_all(requests, idempotent=True)
    return (await on_disk(session) - before) / SAMPLE * DAY


async def measure(arguments: argparse.Namespace, keyspaces: Keyspaces, directory: Path) -> dict[str, Any]:
    """Rounds of gateway and bare driver in turn, then what lies on the disk."""
    place = keyspaces.place(keyspaces.ours)
    session = await open_session(keyspaces.ours, rng=random.Random(3))
    log = CassandraPerceptions(session, MIND)
    rounds: list[tuple[Figures, Rate, Rate]] = []
    totals = dict.fromkeys(INSERTS, 0)
    with serving("gateway", place) as gateway, serving("driver", keyspaces.place(keyspaces.bare)) as driver:
        head, commits, most = 0, 0, arguments.most
        for number in range(arguments.rounds + 1):
            sent = messages(int(arguments.seconds * most), arguments.batch, number)
            shape = (arguments.streams, arguments.window, arguments.seconds)
            figures = await drive(gateway.server, PERCEIVE, iter(sent), *shape)
            head_then, commits_then = head, commits
            head, commits = await log.head(), int(gateway.ask())
            rows = await written(session, head_then + 1, head, commits - commits_then)
            for table_name, _ in rows:
                totals[table_name] += 1
            batches = (head - head_then) / arguments.batch
            ours = Rate(len(rows) / (batches / figures.batches_per_s), figures.server_cpu_us * batches / len(rows))
            rounds.append((figures, ours, insert(driver, rows, directory / "rows.json")))
            most = int(2 * figures.batches_per_s) + 20
    chunks = layout.chunk_of(head) + 1
    partitions = chunks + totals["perception_payloads"] + totals["perception_keys"] + 1
    size = await on_disk(session)
    day = await one_day(session)
    await session.close()
    del rounds[0]
    ratios = [ours.writes_per_s / bare.writes_per_s for _, ours, bare in rounds]
    million = 1_000_000 / head
    return {
        "benchmark": "cassandra_ingest",
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "target": TARGET,
        "perceptions_per_s": statistics.median(one.batches_per_s for one, _, _ in rounds) * arguments.batch,
        "gateway": middle([ours for _, ours, _ in rounds]),
        "driver": middle([bare for _, _, bare in rounds]),
        "answers": asdict(rounds[-1][0]),
        "batch": arguments.batch,
        "streams": arguments.streams,
        "window": arguments.window,
        "perceptions": head,
        "per_million": {
            "rows": (sum(totals.values()) - totals["fenced_logs"] + 1) * million,
            "stretches": totals["perception_stretches"] * million,
            "keys": totals["perception_keys"] * million,
            "partitions": partitions * million,
            "bytes": size * million,
            "commits": totals["fenced_logs"] * million,
        },
        "bytes_per_day_at_one_a_second": day,
    }


def middle(rates: list[Rate]) -> dict[str, float]:
    """The medians."""
    return {name: statistics.median(asdict(rate)[name] for rate in rates) for name in ("writes_per_s", "cpu_us")}


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    ratios, million, answers = result["ratios"], result["per_million"], result["answers"]
    lines = [f"{'':10}{'writes/s':>12}{'CPU us':>10}"]
    lines += [f"{name:10}{result[name]['writes_per_s']:12.0f}{result[name]['cpu_us']:10.0f}" for name in WRITERS]
    lines.append(
        f"ratio {result['ratio']:.2f} ({min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds; wanted:"
        f" {result['target']:.2f}); {result['perceptions_per_s']:.0f} durable perceptions/s, batches of"
        f" {result['batch']}, {result['streams']} streams, {result['window']} unanswered on each,"
        f" p50 {answers['p50_ms']:.0f} ms, p99 {answers['p99_ms']:.0f} ms"
    )
    lines.append(
        f"a million perceptions: {million['rows']:,.0f} rows ({million['stretches']:,.0f} stretches,"
        f" {million['keys']:,.0f} keys) in {million['partitions']:,.0f} partitions,"
        f" {million['bytes'] / 2**20:,.0f} MiB on the disk, {million['commits']:,.0f} commits"
    )
    day = result["bytes_per_day_at_one_a_second"] / 2**20
    lines.append(f"a day of one perception a second, each by itself: {day:.1f} MiB on the disk")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--store", help="cassandra://host:port/keyspace?dc=NAME")
    parser.add_argument("--seconds", type=float, default=6.0, help="length of a run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--window", type=int, default=16, help="unanswered batches on each stream")
    parser.add_argument("--batch", type=int, default=64, help="perceptions in a batch")
    parser.add_argument("--most", type=int, default=150, help="batches a second that are prepared to warm up")
    parser.add_argument("--serve", choices=WRITERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve == "gateway":
        asyncio.run(serve_gateway(arguments.store))
        return
    if arguments.serve == "driver":
        serve_driver(arguments.store)
        return
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        keyspaces = asyncio.run(_keyspaces(arguments.store or _own_server(stack, directory)))
        stack.callback(lambda: asyncio.run(keyspaces.drop()))
        result = asyncio.run(measure(arguments, keyspaces, directory))
        print(json.dumps(result) if arguments.json else table(result))


async def _keyspaces(place: str) -> Keyspaces:
    keyspaces = Keyspaces(parse_address(place), place.partition("?")[2])
    await keyspaces.make()
    return keyspaces


def _own_server(stack: ExitStack, directory: Path) -> str:
    from tests.servers.cassandra import DC, CassandraServer  # noqa: PLC0415 - only where one is needed

    server = CassandraServer(directory / "cassandra", heap_mb=1024)
    stack.callback(server.stop)
    server.start()
    return f"cassandra://127.0.0.1:{server.port}/benchmark_{secrets.token_hex(4)}?dc={DC}"


if __name__ == "__main__":
    main()
