"""Links between real processes: one that stands still, one that is killed, connections that are cut anywhere."""

import asyncio
import dataclasses
import json
import random
import signal
import sys
import tempfile
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.orchestration.links.processes import SETTINGS, Mesh, event
from tests.orchestration.until import until


def confirmed(sender):
    return all(link._sent == link._received for link in sender.outboxes._links.values())


@asynccontextmanager
async def hearer(mesh, life, machine):
    """A process of its own that hears as ``peer``, and what it heard."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.orchestration.links.hearer",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    told = {
        "directory": dataclasses.asdict(mesh.directory.endpoint),
        "place": str(mesh.place(machine)),
        "credentials": mesh.credentials.decode(),
        "life": life,
    }
    process.stdin.write(json.dumps(told).encode() + b"\n")
    heard = []

    async def hear():
        while line := await process.stdout.readline():
            heard.extend(map(int, line.split()))

    hearing = asyncio.create_task(hear())
    try:
        yield process, heard
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await hearing


@pytest.mark.parametrize("machine", ["mind", "other"])
async def test_a_process_that_stands_still_then_dies_costs_a_bounded_amount_and_all_is_accounted_for(tmp_path, machine):
    small = SETTINGS.model_copy(update={"outbox": 500, "window": 200})
    async with Mesh(tmp_path, small) as mesh:
        sender, _ = await mesh.start("me")
        put = sender.outboxes.put
        async with hearer(mesh, "one", machine) as (process, heard):
            put("peer", event(0), 0.5)
            await until(lambda: heard == [0])
            process.send_signal(signal.SIGSTOP)
            for number in range(1, 20_001):
                put("peer", event(number), random.Random(number).random())
                if number % 100 == 0:
                    await asyncio.sleep(0)
                assert sender.outboxes.waiting <= 500
            process.send_signal(signal.SIGCONT)
            await until(lambda: not sender.outboxes.waiting)
            dropped = sender.counters["messages_dropped_total"]
            await until(lambda: len(heard) + dropped == 20_001)
            assert heard == sorted(set(heard))
            assert dropped >= 20_000 - 700
            await until(lambda: confirmed(sender))
            process.send_signal(signal.SIGSTOP)
            for number in range(20_001, 20_101):
                put("peer", event(number), 0.5)
            await until(lambda: not sender.outboxes.waiting)
            process.kill()
            await process.wait()
        await until(lambda: sender.book.get("peer") is None)
        put("peer", event(20_101), 0.5)
        async with hearer(mesh, "two", machine) as (_, again):
            await until(lambda: again)
            assert again == [20_101]  # at most once: what was on its way to the dead is not said again
            await until(lambda: confirmed(sender))  # heard is not confirmed yet, and who hears is killed here
        assert sender.counters["messages_unconfirmed_total"] == 100
        assert len(set(heard)) + dropped + 100 == 20_101


class Scissors:
    """A wire to a port that is cut after so many bytes, again and again, until there are no more cuts."""

    def __init__(self, cuts):
        self.cuts = list(cuts)

    async def lay(self, host, port):
        self.to = host, port
        self.server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def _pass(self, reader, writer):
        inward, outward = await asyncio.open_connection(*self.to)
        left = self.cuts.pop(0) if self.cuts else None

        async def copy(source, sink, count):
            nonlocal left
            with suppress(ConnectionError):
                while data := await source.read(1000):
                    if count and left is not None:
                        data, left = data[:left], left - len(data)
                    sink.write(data)
                    if left is not None and left <= 0:
                        break
            writer.transport.abort()
            outward.transport.abort()

        await asyncio.gather(copy(reader, outward, True), copy(inward, writer, False))


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 120), st.integers(0, 2)), min_size=1, max_size=12),
    st.lists(st.integers(1, 20_000), max_size=5),
)
def test_whatever_is_cut_all_is_heard_in_order_at_most_once_and_accounted_for(bursts, cuts):
    asyncio.run(_cut(bursts, cuts))


async def _cut(bursts, cuts):
    with tempfile.TemporaryDirectory() as place:
        tight = SETTINGS.model_copy(update={"outbox": 150, "window": 60, "batch": 20})
        async with Mesh(Path(place), tight) as mesh:
            wire = Scissors(cuts)
            receiver, *peers = await mesh.start("peer-0", "peer-1", "peer-2", process="block")
            port = await wire.lay(receiver._endpoint.host, receiver._endpoint.port)
            receiver._endpoint = dataclasses.replace(receiver._endpoint, port=port)
            receiver._told = None  # the directory knows nothing of this address: it is told everybody
            receiver._say()
            sender, _ = await mesh.start("me", machine="other")
            await until(lambda: (found := sender.book.get("peer-2")) and found.port == port)
            number = 0
            for count, peer in bursts:
                for _ in range(count):
                    number += 1
                    sender.outboxes.put(f"peer-{peer}", event(number), (number * 7 % 100) / 100)
                await asyncio.sleep(0.002)
            await until(lambda: not sender.outboxes.waiting)
            await until(lambda: confirmed(sender))
            heard = [[int(name) for name in peer.heard] for peer in peers]
            assert all(mine == sorted(set(mine)) for mine in heard)
            missing = number - sum(map(len, heard)) - sender.counters["messages_dropped_total"]
            assert 0 <= missing <= sender.counters["messages_unconfirmed_total"]
            assert receiver.counters["messages_lost_total"] <= missing
            assert receiver.counters["messages_doubled_total"] <= missing  # what came too late is none
            if not cuts:
                assert missing == 0
            wire.server.close()
