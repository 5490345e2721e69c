"""Back-pressure from end to end: who has no room is sent no more, senders keep what matters most, nothing grows."""

import asyncio

from orchestration.links.codec import encode
from orchestration.links.connection import call
from orchestration.links.frames import Batch, Full, Received
from tests.orchestration.links.processes import SETTINGS, Mesh, event, mail
from tests.orchestration.links.test_links import MACHINES
from tests.orchestration.until import until

NARROW = SETTINGS.model_copy(update={"outbox": 50, "window": 64, "batch": 16})


@MACHINES
async def test_a_receiver_without_room_makes_its_senders_hold_back_and_drop_the_least(tmp_path, machine):
    async with Mesh(tmp_path, NARROW) as mesh:
        receiver, peer = await mesh.start("peer")
        sender, _ = await mesh.start("me", machine=machine)
        peer.room = False
        sender.outboxes.put("peer", event("first"), 0.5)
        await until(lambda: sender.outboxes._links and next(iter(sender.outboxes._links.values()))._full)
        for number in range(1000):
            sender.outboxes.put("peer", event(number), (number % 100) / 100)
        assert sender.outboxes.waiting == 50
        assert sender.counters["messages_dropped_total"] == sender.counters["limit_hits:outbox"] == 950
        assert peer.heard == ["first"]
        peer.room = True
        receiver.relieved("peer")
        await until(lambda: len(peer.heard) == 51)
        kept = [int(name) for name in peer.heard[1:]]
        assert kept == sorted(kept)
        assert all(number % 100 >= 95 for number in kept)
        assert receiver.counters["held_back_total"] == 1


async def test_only_who_has_no_room_is_held_back(tmp_path):
    async with Mesh(tmp_path, NARROW) as mesh:
        receiver, slow, quick = await mesh.start("slow", "quick", process="block")
        sender, _ = await mesh.start("me")
        slow.room = False
        sender.outboxes.put("slow", event("first"), 0.5)
        await until(lambda: sender.outboxes._links and next(iter(sender.outboxes._links.values()))._full)
        for number in range(300):
            sender.outboxes.put("slow", event(number), 0.5)
            sender.outboxes.put("quick", event(number), 0.5)
            if number % 40 == 39:
                await until(lambda wanted=number + 1: len(quick.heard) == wanted)
        await until(lambda: len(quick.heard) == 300)
        assert slow.heard == ["first"]
        slow.room = True
        receiver.relieved("slow")
        await until(lambda: len(slow.heard) == 51)


@MACHINES
async def test_no_room_is_said_before_the_window_opens_again(tmp_path, machine):
    async with Mesh(tmp_path, NARROW) as mesh:
        receiver, peer = await mesh.start("peer")
        other, told = mesh.links("other", machine=machine), []
        link = await call(receiver._endpoint, other._context, lambda frame, _: told.append(frame))
        peer.room = False
        link.write(b"".join(encode(Batch("me", "a", number, [("peer", mail(number))])) for number in (1, 2, 3)))
        await until(lambda: Received(3) in told)
        assert told == [Full(("peer",)), Received(1), Received(2), Received(3)]
        peer.room = True
        receiver.relieved("peer")
        await until(lambda: told[4:] == [Full((), ("peer",))])


async def test_who_has_no_room_is_known_to_those_who_come_later_and_within(tmp_path):
    async with Mesh(tmp_path, NARROW) as mesh:
        receiver, peer, inside = await mesh.start("peer", "inside", process="block")
        peer.room = False
        receiver.outboxes.put("peer", event("within"), 0.5)
        await until(lambda: peer.heard)
        for number in range(60):
            receiver.outboxes.put("peer", event(number), 0.5)
        receiver.outboxes.put("inside", event("b"), 0.5)
        await until(lambda: inside.heard)
        told = []
        link = await call(receiver._endpoint, receiver._context, lambda frame, _: told.append(frame))
        link.write(encode(Batch("x", "a", 1, [("inside", mail("y"))])))
        await until(lambda: len(told) == 2)
        assert told == [Full(("peer",), whole=True), Received(1)]
        link.close()
        assert peer.heard == ["within"]
        assert receiver.counters["limit_hits:outbox"] == 10
        peer.room = True
        receiver.relieved("peer")
        await until(lambda: len(peer.heard) == 51)


async def test_all_outboxes_together_are_bounded(tmp_path):
    async with Mesh(tmp_path, SETTINGS.model_copy(update={"outboxes": 100})) as mesh:
        sender, _ = await mesh.start("me")
        for number in range(400):
            sender.outboxes.put(f"away-{number % 8}", event(number), 0.5)
        assert sender.outboxes.waiting == 100
        assert sender.counters["limit_hits:outboxes"] == sender.counters["messages_dropped_total"] == 300
        assert len(sender.outboxes._by_peer) <= 8


async def test_what_is_told_of_a_large_pack_grows_with_what_changes_and_not_with_the_pack(tmp_path):
    names = [f"scout-{number}" for number in range(400)]
    async with Mesh(tmp_path, NARROW) as mesh:
        receiver, *scouts = await mesh.start(*names, process="pack")
        told = []
        link = await call(receiver._endpoint, receiver._context, lambda frame, _: told.append(frame))
        link.write(encode(Batch("x", "a", 1, [(names[0], mail("y"))])))
        await until(lambda: told)
        for scout in scouts:
            scout.room = False
        for turn in range(0, 400, 4):  # some in one turn of the event loop, most in turns of their own
            for name in names[turn : turn + 4]:
                receiver._inbox.hand_over(name, mail("z"))
            await asyncio.sleep(0)
        for name in names:
            receiver.relieved(name)
        await until(lambda: sum(len(frame.relieved) for frame in told if isinstance(frame, Full)) == 400)
        full = [frame for frame in told if isinstance(frame, Full)]
        assert sum(len(frame.names) for frame in full) == 400
        assert len(full) <= 101
        link.close()
