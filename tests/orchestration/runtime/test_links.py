"""Outbox and inbox: real sockets, peers that come, go, sleep and come back."""

import asyncio
import random
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import Reinforce, Started
from orchestration.runtime.frames import Batch, Decoder, FrameProtocol, Ping, Stop, encode
from orchestration.runtime.inbox import Inbox
from orchestration.runtime.outbox import Outboxes, address, backoff
from orchestration.runtime.settings import LinkSettings
from tests.orchestration.until import until

SETTINGS = LinkSettings(linger=0.001, retry=0.01, retry_most=0.05)
LARGEST = SETTINGS.frame_bytes


class Peer:
    """An actor as far as its mail goes."""

    def __init__(self, directory, name="peer"):
        self.events, self.batches, self.stopped = [], 0, False
        self.counters = defaultdict(float)
        self.inbox = Inbox(
            name,
            directory,
            LARGEST,
            deliver=self._deliver,
            stop=self._stop,
            health=lambda: {"born": 1.0},
            counters=self.counters,
        )

    def _deliver(self, batch):
        self.batches += 1
        self.events += [event.trace_id for event, _ in batch.events]

    def _stop(self):
        self.stopped = True


def outboxes(directory, settings=SETTINGS, life="a"):
    return Outboxes("me", life, directory, settings, random.Random(1))


def event(number):
    return Reinforce(str(number), "me", 0.1)


async def test_events_arrive_once_and_in_order_many_in_a_batch(tmp_path):
    peer, sent = Peer(tmp_path), outboxes(tmp_path)
    await peer.inbox.open()
    for number in range(2000):
        sent.put("peer", event(number), 0.5)
    await until(lambda: len(peer.events) == 2000)
    assert peer.events == [str(number) for number in range(2000)]
    assert peer.batches <= 2000 / SETTINGS.batch + 1
    await sent.close()
    await peer.inbox.close()


async def test_a_peer_that_is_not_there_yet_is_waited_for_and_what_does_not_fit_is_counted(tmp_path):
    settings = SETTINGS.model_copy(update={"outbox": 16})
    sent = outboxes(tmp_path, settings)
    for number in range(20):
        sent.put("peer", event(number), 0.5)
    await asyncio.sleep(0.05)
    assert sent.waiting == 16
    assert sent.counters["limit_hits:outbox"] == sent.counters["messages_dropped_total"] == 4
    peer = Peer(tmp_path)
    await peer.inbox.open()
    await until(lambda: len(peer.events) == 16)
    assert peer.events == [str(number) for number in range(16)]
    await sent.close()
    await peer.inbox.close()


async def test_the_next_life_of_a_peer_is_found_under_its_name(tmp_path):
    first, sent = Peer(tmp_path), outboxes(tmp_path)
    await first.inbox.open()
    sent.put("peer", event(1), 0.5)
    await until(lambda: first.events)
    await first.inbox.close()
    await asyncio.sleep(0.02)
    sent.put("peer", event(2), 0.5)
    second = Peer(tmp_path)
    await second.inbox.open()
    await until(lambda: second.events)
    assert (first.events, second.events) == (["1"], ["2"])
    assert second.counters["messages_lost_total"] == 0
    await sent.close()
    await second.inbox.close()


async def test_a_name_is_taken_over_from_a_life_that_was_killed(tmp_path):
    killed, heir = Peer(tmp_path), Peer(tmp_path)
    await killed.inbox.open()
    await heir.inbox.open()
    sent = outboxes(tmp_path)
    sent.put("peer", event(1), 0.5)
    await until(lambda: heir.events)
    assert not killed.events
    await sent.close()
    await heir.inbox.close()
    await killed.inbox.close()


async def test_what_is_doubled_is_heard_once_and_what_is_missing_is_counted(tmp_path):
    peer = Peer(tmp_path)
    await peer.inbox.open()
    loop = asyncio.get_running_loop()
    _, link = await loop.create_unix_connection(
        lambda: FrameProtocol(LARGEST, lambda *_: None), address(tmp_path, "peer")
    )
    for batch in (
        Batch("me", "a", 1, ((event(1), 0.5), (event(2), 0.5))),
        Batch("me", "a", 1, ((event(1), 0.5), (event(2), 0.5))),
        Batch("me", "a", 6, ((event(6), 0.5),)),
        Batch("me", "b", 1, ((event("again"), 0.5),)),
        Batch("other", "a", 1, ((event("other"), 0.5),)),
    ):
        link.write(encode(batch))
    await until(lambda: "other" in peer.events)
    assert peer.events == ["1", "2", "6", "again", "other"]
    assert peer.counters["messages_doubled_total"] == 2
    assert peer.counters["messages_lost_total"] == 3
    link.close()
    await peer.inbox.close()


async def test_it_answers_how_it_is_and_hears_that_it_shall_stop(tmp_path):
    peer, heard = Peer(tmp_path), []
    await peer.inbox.open()
    _, link = await asyncio.get_running_loop().create_unix_connection(
        lambda: FrameProtocol(LARGEST, lambda frame, _: heard.append(frame)), address(tmp_path, "peer")
    )
    link.write(encode(Ping()))
    link.write(encode(Stop()))
    await until(lambda: heard and peer.stopped)
    assert heard[0].name == "peer"
    assert heard[0].health == {"born": 1.0}
    link.close()
    await peer.inbox.close()


async def test_a_batch_beyond_the_limit_is_dropped_and_the_next_goes_out(tmp_path):
    settings = SETTINGS.model_copy(update={"frame_bytes": 2000})
    peer, sent = Peer(tmp_path), outboxes(tmp_path, settings)
    await peer.inbox.open()
    sent.put("peer", event("x" * 5000), 0.5)
    await until(lambda: sent.counters["limit_hits:frame_bytes"])
    sent.put("peer", event("small"), 0.5)
    await until(lambda: peer.events)
    assert peer.events == ["small"]
    assert sent.counters["messages_dropped_total"] == 1
    await sent.close()
    await peer.inbox.close()


async def test_closing_sends_what_waits_but_does_not_wait_for_the_dead(tmp_path):
    peer, sent = Peer(tmp_path), outboxes(tmp_path)
    await peer.inbox.open()
    for number in range(50):
        sent.put("peer", event(number), 0.5)
        sent.put("nobody", event(number), 0.5)
    await asyncio.wait_for(sent.close(within=0.2), 2.0)
    await until(lambda: len(peer.events) == 50)
    await peer.inbox.close()


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 17))
def test_frames_survive_any_cut_of_the_stream(counts, cut):
    frames = [Batch("me", "a", n, ((Started(), 0.5),) * n) for n in counts]
    data = b"".join(encode(frame) for frame in frames)
    decoder = Decoder(1 << 20)
    decoded = [frame for at in range(0, len(data), cut) for frame in decoder.feed(data[at : at + cut])]
    assert decoded == frames


def test_a_length_that_nobody_writes_is_refused():
    with pytest.raises(ValueError, match="at most 1000"):
        list(Decoder(1000).feed(b"\xff\xff\xff\xff"))


@given(st.integers(0, 10_000), st.integers(0, 1 << 30))
def test_pauses_grow_and_stay_bounded(attempt, seed):
    pause = backoff(attempt, 0.1, 5.0, random.Random(seed))
    assert 0.05 <= pause <= 5.0
    assert pause >= min(5.0, 0.1 * 2 ** min(attempt, 30)) / 2
