"""Outbox and inbox: real sockets, peers that come, go, sleep and come back."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.events import Vitals
from orchestration.backoff import backoff
from orchestration.links.addresses import Endpoint, machine_of, socket_path
from orchestration.links.codec import encode
from orchestration.links.connection import LinkContext, call, link_context
from orchestration.links.credentials import new_credentials
from orchestration.links.frames import Batch
from tests.orchestration.links.processes import SETTINGS, Mesh, event, mail
from tests.orchestration.until import until

MACHINES = pytest.mark.parametrize("machine", ["mind", "other"])
"""On one machine over a Unix socket, on two over TCP."""


async def test_a_peer_that_is_not_there_yet_is_waited_for_and_what_does_not_fit_is_counted(tmp_path):
    async with Mesh(tmp_path, SETTINGS.model_copy(update={"outbox": 16})) as mesh:
        sender, _ = await mesh.start("me")
        for number in range(20):
            sender.outboxes.put("peer", event(number), 0.5)
        assert sender.outboxes.waiting == 16
        assert sender.counters["limit_hits:outbox"] == sender.counters["messages_dropped_total"] == 4
        _, peer = await mesh.start("peer")
        await until(lambda: len(peer.heard) == 16)
        assert peer.heard == [str(number) for number in range(16)]


@MACHINES
async def test_a_peer_that_moves_is_found_again(tmp_path, machine):
    async with Mesh(tmp_path) as mesh:
        first, before = await mesh.start("peer", process="first")
        sender, _ = await mesh.start("me", machine=machine)
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: before.heard)
        await first.close()
        await until(lambda: sender.book.get("peer") is None)
        sender.outboxes.put("peer", event(2), 0.5)
        second, after = await mesh.start("peer", process="second", machine="third")
        await until(lambda: after.heard)
        assert (before.heard, after.heard) == (["1"], ["2"])
        assert second.counters["messages_lost_total"] == 0


async def test_who_moves_while_its_old_process_lives_is_heard_at_its_new_one(tmp_path):
    async with Mesh(tmp_path) as mesh:
        old, before, stays = await mesh.start("peer", "stays", process="old")
        sender, _ = await mesh.start("me")
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: before.heard)
        old.forget("peer")
        _, after = await mesh.start("peer", process="new")
        await until(lambda: sender.book.get("peer") != sender.book.get("stays"))
        sender.outboxes.put("peer", event(2), 0.5)
        sender.outboxes.put("stays", event(3), 0.5)
        await until(lambda: after.heard and stays.heard)
        assert (before.heard, after.heard, stays.heard) == (["1"], ["2"], ["3"])


async def test_one_process_holds_many_actors_and_what_goes_astray_is_counted(tmp_path):
    async with Mesh(tmp_path) as mesh:
        names = [f"peer-{number}" for number in range(300)]
        receiver, *peers = await mesh.start(*names, process="block")
        sender, _ = await mesh.start("me", machine="other")
        for name in names:
            sender.outboxes.put(name, event(name), 0.5)
        await until(lambda: all(peer.heard for peer in peers))
        assert [peer.heard for peer in peers] == [[name] for name in names]
        link = await call(receiver._endpoint, receiver._context, lambda *_: None)
        link.write(encode(Batch("me", "x", 1, [("stranger", mail(1))])))
        await until(lambda: receiver.counters["messages_astray_total"] == 1)
        link.close()


async def test_what_is_too_large_for_one_batch_goes_in_several_and_takes_no_other_along(tmp_path):
    async with Mesh(tmp_path, SETTINGS.model_copy(update={"frame_bytes": 2000})) as mesh:
        _, peer = await mesh.start("peer")
        _, other = await mesh.start("other")
        sender, _ = await mesh.start("me")
        for number in range(60):
            sender.outboxes.put("peer", event("x" * 5000 if number == 30 else f"{number} {'y' * 100}"), 0.5)
            sender.outboxes.put("other", Vitals("me", {"x": object()}) if number == 40 else event(number), 0.5)
        await until(lambda: len(peer.heard) == len(other.heard) == 59)
        assert [int(one.split()[0]) for one in peer.heard] == [number for number in range(60) if number != 30]
        assert other.heard == [str(number) for number in range(60) if number != 40]
        assert sender.counters["limit_hits:frame_bytes"] == 1
        assert sender.counters["messages_dropped_total"] == 2


async def test_closing_sends_what_waits_but_does_not_wait_for_the_dead(tmp_path):
    async with Mesh(tmp_path) as mesh:
        _, peer = await mesh.start("peer")
        sender, _ = await mesh.start("me")
        await until(lambda: sender.book.get("peer"))
        for number in range(50):
            sender.outboxes.put("peer", event(number), 0.5)
            sender.outboxes.put("nobody", event(number), 0.5)
        await asyncio.wait_for(sender.outboxes.close(within=0.2), 30.0)
        await until(lambda: len(peer.heard) == 50)


def test_a_machine_is_known_by_the_directory_that_its_processes_share(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    assert machine_of(one) == machine_of(one)
    assert machine_of(one) != machine_of(other)
    other.chmod(0o755)
    with pytest.raises(PermissionError, match="0700"):
        machine_of(other)


def test_a_path_that_no_socket_can_have_is_refused(tmp_path):
    with pytest.raises(ValueError, match="107 bytes"):
        socket_path(tmp_path, "x" * 108)


async def test_who_is_nowhere_for_long_is_not_waited_for(tmp_path):
    async with Mesh(tmp_path, SETTINGS.model_copy(update={"away": 0.1})) as mesh:
        sender, _ = await mesh.start("me")
        for number in range(3):
            sender.outboxes.put("nobody", event(number), 0.5)
        await until(lambda: sender.counters["limit_hits:away"] == 1)
        assert sender.counters["messages_dropped_total"] == 3
        assert (sender.outboxes.waiting, sender.outboxes._by_peer) == (0, {})


async def test_actors_of_one_process_reach_each_other_without_a_socket(tmp_path):
    async with Mesh(tmp_path) as mesh:
        block, one, other = await mesh.start("one", "other", process="block")
        for number in range(600):
            block.outboxes.put("other", event(number), 0.5)
        block.outboxes.put("one", event("self"), 0.5)
        await until(lambda: len(other.heard) == 600 and one.heard)
        assert other.heard == [str(number) for number in range(600)]
        assert not block.outboxes._links


async def test_a_link_ends_with_the_process_it_leads_to(tmp_path):
    async with Mesh(tmp_path) as mesh:
        receiver, peer = await mesh.start("peer")
        sender, _ = await mesh.start("me")
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: peer.heard)
        assert len(sender.outboxes._links) == 1
        await receiver.close()
        await until(lambda: not sender.outboxes._links)


async def test_without_credentials_no_other_machine_is_called(tmp_path):
    here = LinkContext("here", SETTINGS)
    with pytest.raises(ConnectionRefusedError):
        await call(Endpoint("there", "/nowhere", "127.0.0.1", 1), here, lambda *_: None)
    with pytest.raises(ConnectionRefusedError):
        await call(Endpoint("there", "/nowhere"), link_context("here", SETTINGS, new_credentials()), lambda *_: None)


@given(st.integers(0, 10_000), st.integers(0, 1 << 30))
def test_pauses_grow_and_stay_bounded(attempt, seed):
    pause = backoff(attempt, 0.1, 5.0, random.Random(seed))
    assert 0.05 <= pause <= 5.0
    assert pause >= min(5.0, 0.1 * 2 ** min(attempt, 30)) / 2
