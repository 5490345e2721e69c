"""Messages from submind to submind across processes, beside bare Ray and autogen-core's gRPC runtime in the same run.

    python benchmarks/messages.py [--json] [--messages 60000] [--rounds 5] [--environment DIR]

Every contestant sends the same text of 200 bytes from one process to one actor in another; rounds alternate.

- ``links``: what subminds use (``orchestration/links``), in two Ray actors: outbox, Unix socket, checked decoding, a
  real bounded mailbox that holds its senders back, and handing out of it. ``links over TLS``: the same as between
  machines, under the certificate of the run.
- ``bare Ray``: calls of a Ray actor that carry as many messages as a batch of a link does, packed by hand (msgpack), a
  few calls on their way at a time; what arrives is unpacked into a queue. No order, bound or priority.
- ``autogen``: ``autogen-core`` with ``GrpcWorkerAgentRuntime``, host, sender and receiver in a process each, the better
  of ``send_message`` (256 at a time) and ``publish_message``. It is installed with pip into an environment of its own,
  ``--environment`` (by default below the user's cache), once.

Throughput: messages a second, from the sending of the first to the taking of the last; the median of the rounds.
Latency: from one process to the other, 50 messages a second, on the system's monotonic clock, over all rounds. What
counts are the ratios: absolute figures are those of one machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

import msgspec

from actors.events import Reinforce
from actors.mailbox import Mailbox
from orchestration.links.addresses import Endpoint
from orchestration.links.credentials import new_credentials
from orchestration.links.directory import Directory
from orchestration.links.links import Links
from orchestration.links.settings import LinkSettings

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.rivals.autogen import Autogen, autogen_python

TEXT = "x" * 200
EVERY = 0.02
"""Seconds between two messages when latency is measured."""
AT_ONCE = LinkSettings().window // LinkSettings().batch
"""Calls of bare Ray on their way at a time: as many messages as a link has on its way."""


class Hearer:
    """A submind as far as its mail goes: a real mailbox that holds its senders back, emptied a batch at a time."""

    def __init__(self, links):
        self._links = links
        self._mailbox = Mailbox(2048, 30.0)
        self._crowded = False
        self._bell = asyncio.Event()
        self.times: list[float] = []
        self.late: list[float] = []

    def deliver(self, envelopes):
        now = time.perf_counter()
        for event, priority in envelopes:
            self._mailbox.offer(event, priority, now)
        self._bell.set()
        self._crowded = self._crowded or self._mailbox.load > 0.5
        return not self._crowded

    def configure(self, event):
        raise NotImplementedError

    def health(self):
        return {}

    def stop(self):
        raise NotImplementedError

    @property
    def dropped(self):
        return self._mailbox.dropped

    async def hear(self, wanted):
        """Take what comes until it was so much, or nothing more comes."""
        self.times.clear()
        self.late.clear()
        while len(self.times) + self._mailbox.dropped < wanted:
            self._bell.clear()
            events = self._mailbox.take(64)
            now = time.perf_counter()
            for event in events:
                self.times.append(now)
                self.late.append(now - event.gain)
            if self._crowded and self._mailbox.load <= 0.25:
                self._crowded = False
                self._links.relieved("hearer")
            if events:
                await asyncio.sleep(0)
            else:
                await self._bell.wait()


class Submind:
    """A Ray actor with links of its own."""

    def __init__(self, name, directory: Endpoint, place, credentials):
        self._name, self._directory, self._place, self._credentials = name, directory, place, credentials
        self.links = self.hearer = None

    async def open(self):
        self.links = Links(
            self._name,
            os.urandom(4).hex(),
            self._directory,
            Path(self._place),
            LinkSettings(),
            random.Random(1),
            credentials=self._credentials,
            host="127.0.0.1",
        )
        self.hearer = Hearer(self.links)
        self.links.register(self._name, self.hearer)
        await self.links.open()

    async def close(self):
        await self.links.close()

    async def say(self, count, every):
        """Send so many, as fast as they go or one every so many seconds."""
        outboxes = self.links.outboxes
        while self.links.book.get("hearer") is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        for number in range(count):
            outboxes.put("hearer", Reinforce(TEXT, self._name, time.perf_counter()), 0.5)
            if every:
                await asyncio.sleep(every)
            elif number % 256 == 255:
                await asyncio.sleep(0)
                while outboxes.waiting > 2048:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.0005)
        return self.links.counters["messages_dropped_total"]

    async def hear(self, wanted):
        await self.hearer.hear(wanted)
        times = self.hearer.times
        return rate(times, self.hearer.late), self.hearer.late, self.hearer.dropped


class Bare:
    """A bare Ray actor that is called with packed batches."""

    def __init__(self):
        self._heard, self._times, self._late = deque(maxlen=4096), [], []
        self._decoder = msgspec.msgpack.Decoder(list[tuple[str, float, float]])

    def take(self, data):
        envelopes = self._decoder.decode(data)
        self._heard.extend(envelopes)
        now = time.perf_counter()
        self._times.extend([now] * len(envelopes))
        self._late.extend(now - sent for _, sent, _ in envelopes)

    def result(self):
        times, late = self._times, self._late
        self._times, self._late = [], []
        return rate(times, late), late

    def say(self, to, count, every, batch):
        import ray  # noqa: PLC0415 - as below

        pack = msgspec.msgpack.Encoder().encode
        under_way = deque()
        for first in range(0, count, batch):
            envelopes = [(TEXT, time.perf_counter(), 0.5) for _ in range(min(batch, count - first))]
            under_way.append(to.take.remote(pack(envelopes)))
            if len(under_way) >= AT_ONCE:
                ray.get(under_way.popleft())
            if every:
                time.sleep(every)
        ray.get(list(under_way))


def rate(times, late):
    """Messages a second from the moment the first was sent to that in which the last was taken."""
    return len(times) / (times[-1] - (times[0] - late[0]))


def percentiles(late):
    ordered = sorted(late)
    return {"p50_ms": 1e3 * ordered[len(ordered) // 2], "p99_ms": 1e3 * ordered[int(len(ordered) * 0.99)]}


class Subminds:
    """Two who say and one who hears, one of the two as if on another machine."""

    def __init__(self, ray, place):
        self._ray, self._place, self._credentials = ray, place, new_credentials()
        self._directory = Directory(Path(place), LinkSettings(), credentials=self._credentials, host="127.0.0.1")

    async def open(self):
        await self._directory.open()
        self._hearer, self._near, self._far = (
            self._ray.remote(num_cpus=0)(Submind).remote(name, self._directory.endpoint, place, self._credentials)
            for name, place in (("hearer", self._place), ("near", self._place), ("far", f"{self._place}/far"))
        )
        await asyncio.gather(*(actor.open.remote() for actor in (self._hearer, self._near, self._far)))

    async def close(self):
        await asyncio.gather(*(actor.close.remote() for actor in (self._hearer, self._near, self._far)))
        await self._directory.close()

    async def measure(self, messages, slow, *, far):
        """Throughput and latencies."""
        sayer = self._far if far else self._near
        many = await self._said(sayer, messages, 0)
        return many[0], (await self._said(sayer, slow, EVERY))[1]

    async def _said(self, sayer, count, every):
        (reached, late, lost), dropped = await asyncio.gather(
            self._hearer.hear.remote(count), sayer.say.remote(count, every)
        )
        if lost or dropped:
            raise RuntimeError(f"{lost} messages were dropped by the mailbox, {dropped} by the outbox")
        return reached, late


class Calls:
    """The same of bare Ray."""

    def __init__(self, ray):
        self._sayer, self._hearer = (ray.remote(num_cpus=0)(Bare).remote() for _ in range(2))

    async def measure(self, messages, slow):
        await self._sayer.say.remote(self._hearer, messages, 0, LinkSettings().batch)
        reached, _ = await self._hearer.result.remote()
        await self._sayer.say.remote(self._hearer, slow, EVERY, 1)
        return reached, (await self._hearer.result.remote())[1]


async def measure(arguments):
    """Rounds of all contestants in turn, after one to warm up that does not count."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    import ray  # noqa: PLC0415 - its environment comes first

    python = autogen_python(arguments.environment)
    rates, late = {}, {}
    few = max(1000, arguments.messages // 20)
    with tempfile.TemporaryDirectory(prefix="sm-") as place:
        ray.init(
            num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR", _temp_dir=f"{place}/r"
        )
        subminds, calls = Subminds(ray, f"{place}/l"), Calls(ray)
        autogen = Autogen(python, TEXT, EVERY) if python is not None else None
        try:
            await subminds.open()
            for number in range(arguments.rounds + 1):
                share = 1 if number else 10
                many, slow = arguments.messages // share, arguments.slow // share
                found = {
                    "links": await subminds.measure(many, slow, far=False),
                    "bare Ray": await calls.measure(many, slow),
                    "links over TLS": await subminds.measure(many, slow, far=True),
                }
                if autogen is not None:
                    found["autogen"] = await asyncio.to_thread(autogen.measure, few // share, slow)
                for name, (reached, waits) in found.items() if number else ():
                    rates.setdefault(name, []).append(reached)
                    late.setdefault(name, []).extend(waits)
            await subminds.close()
        finally:
            if autogen is not None:
                autogen.close()
            ray.shutdown()
    return {name: {"messages_per_s": statistics.median(rates[name]), **percentiles(late[name])} for name in rates}


def ratios(figures):
    """Ours to theirs, by what is compared."""
    return {
        f"{ours} / {theirs}": figures[ours]["messages_per_s"] / figures[theirs]["messages_per_s"]
        for ours in ("links", "links over TLS")
        for theirs in ("bare Ray", "autogen")
        if theirs in figures
    }


def table(result):
    lines = [f"{'':16}{'messages/s':>12}{'p50 ms':>10}{'p99 ms':>10}"]
    for name, figures in result["figures"].items():
        lines.append(f"{name:16}{figures['messages_per_s']:12,.0f}{figures['p50_ms']:10.2f}{figures['p99_ms']:10.2f}")
    lines += ["", *(f"{name:32}{ratio:8.2f}" for name, ratio in result["ratios"].items())]
    return "\n".join(lines)


def main() -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "submind" / "autogen"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--messages", type=int, default=60_000, help="messages a round (autogen: a twentieth)")
    parser.add_argument("--slow", type=int, default=150, help="messages a round for the latency")
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the median counts")
    parser.add_argument("--environment", type=Path, default=cache, help="where autogen is installed")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments))
    result = {"figures": figures, "ratios": ratios(figures)}
    print(json.dumps(result) if arguments.json else table(result))


if __name__ == "__main__":
    main()
