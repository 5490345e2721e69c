"""Strangers at the door: nothing of theirs is believed, none of them stays, and nobody else is kept waiting."""

import asyncio
import secrets
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.links.codec import encode
from orchestration.links.connection import call
from orchestration.links.frames import Batch
from orchestration.links.handshake import MAC, MAGIC, NONCE, Handshake, NotOfThisMind, new_secret
from tests.orchestration.links.houses import SETTINGS, Town, event, mail
from tests.orchestration.until import until

SECRET = b"s" * 32


def forged():
    """What would be heard, were it believed."""
    return encode(Batch("liar", "x", 1, [("peer", mail("forged"))]))


def ends(secret=SECRET, other=SECRET, nonces=None):
    one, two = nonces or (secrets.token_bytes(NONCE), secrets.token_bytes(NONCE))
    return Handshake(secret, one, caller=True), Handshake(other, two, caller=False)


@given(st.lists(st.integers(1, 40), max_size=8), st.binary(max_size=50))
def test_two_of_one_mind_meet_whatever_the_pieces_and_keep_what_follows(cuts, more):
    def pieces(data):
        for cut in cuts:
            yield data[:cut]
            data = data[cut:]
        yield data

    def passed(data, end):
        return b"".join(end.feed(piece) for piece in pieces(data) if piece)

    caller, called = ends()
    challenge = passed(caller.opening(), called)
    proof = passed(challenge, caller)
    assert caller.done
    rest = b""
    for piece in pieces(proof + more):
        if called.done:
            rest += piece
        else:
            called.feed(piece)
            rest = called.rest
    assert called.done
    assert rest == more
    assert SECRET not in caller.opening() + challenge + proof


def test_a_wrong_secret_is_found_out_by_either_end():
    caller, called = ends(other=b"t" * 32)
    challenge = called.feed(caller.opening())
    with pytest.raises(NotOfThisMind, match="secret"):
        caller.feed(challenge)
    with pytest.raises(NotOfThisMind, match="secret"):
        called.feed(secrets.token_bytes(MAC))


def test_a_recorded_handshake_is_of_no_use_to_either_end():
    caller, called = ends()
    opening = caller.opening()
    challenge = called.feed(opening)
    proof = caller.feed(challenge)
    called.feed(proof)
    assert called.done
    again, anew = ends()
    anew.feed(opening)
    with pytest.raises(NotOfThisMind):
        anew.feed(proof)
    with pytest.raises(NotOfThisMind):
        again.feed(challenge)


def test_a_proof_cannot_be_sent_back_to_who_made_it():
    """Whoever knows nothing opens a second conversation to have its questions answered, and gains nothing."""
    caller, called = ends()
    challenge = called.feed(caller.opening())
    _, mirror = ends()
    mirrored = mirror.feed(MAGIC + challenge[len(MAGIC) : len(MAGIC) + NONCE])
    with pytest.raises(NotOfThisMind):
        called.feed(mirrored[len(MAGIC) + NONCE :])


@given(st.binary(min_size=1, max_size=200))
def test_garbage_is_refused_or_waited_on_but_never_believed(data):
    for caller in (True, False):
        end = Handshake(SECRET, b"n" * NONCE, caller=caller)
        try:
            end.feed(data)
        except NotOfThisMind:
            continue
        assert not end.done
        assert len(end._kept) <= len(MAGIC) + NONCE + MAC


def test_a_short_secret_is_none():
    with pytest.raises(ValueError, match="32 bytes"):
        Handshake(b"", b"n" * NONCE, caller=True)


# --- at a real door ---


async def visit(endpoint, *sent, wait=60.0):
    """What a stranger gets to see before it is shown out."""
    reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
    seen = b""
    try:
        for data in sent:
            writer.write(data)
        async with asyncio.timeout(wait):
            while data := await reader.read(1000):
                seen += data
    except ConnectionError:
        pass
    finally:
        writer.close()
    return seen


STRANGERS = {
    "a stranger with a frame": [forged()],
    "garbage": [secrets.token_bytes(500)],
    "a flood": [MAGIC + b"n" * 5_000_000],
    "a frame for a proof": [MAGIC + b"n" * NONCE, b"p" * MAC + forged()],
    "all at once": [MAGIC + b"n" * NONCE + b"p" * MAC + forged()],
    "half a word": [MAGIC[:3]],
    "half a handshake": [MAGIC + b"n" * NONCE],
    "silence": [],
}


@pytest.mark.parametrize("sent", STRANGERS.values(), ids=STRANGERS)
async def test_a_stranger_is_shown_out_and_nothing_of_it_is_heard(tmp_path, sent):
    async with Town(tmp_path, SETTINGS.model_copy(update={"handshake": 0.3})) as town:
        house, peer = await town.house("peer")
        seen = await visit(house._endpoint, *sent)
        assert town.secret not in seen
        await visit(town.directory.endpoint, *sent)
        sender, _ = await town.house("me", machine="other", settings=SETTINGS)
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: peer.heard == ["1"])


async def test_a_wrong_secret_opens_no_door(tmp_path):
    async with Town(tmp_path) as town:
        house, peer = await town.house("peer")
        other = town.links("liar", machine="other", secret=new_secret())
        with pytest.raises(ConnectionRefusedError, match="secret"):
            await call(house._endpoint, other._here, lambda *_: None)
        assert not peer.heard


async def test_a_recorded_conversation_is_not_heard_again(tmp_path):
    async with Town(tmp_path) as town:
        house, peer = await town.house("peer")
        tape = []

        async def record(reader, writer):
            inward = await asyncio.open_connection(house._endpoint.host, house._endpoint.port)

            async def copy(source, sink, heard):
                while data := await source.read(65536):
                    heard(data)
                    sink.write(data)
                sink.close()

            await asyncio.gather(copy(reader, inward[1], tape.append), copy(inward[0], writer, len))

        tap = await asyncio.start_server(record, "127.0.0.1", 0)
        port = tap.sockets[0].getsockname()[1]
        other = town.links("other", machine="other")
        real = house._endpoint
        link = await call(type(real)(real.machine, real.path, "127.0.0.1", port), other._here, lambda *_: None)
        link.write(encode(Batch("me", "a", 1, [("peer", mail(1))])))
        await until(lambda: peer.heard == ["1"])
        link.close()
        await visit(real, *tape)
        assert peer.heard == ["1"]
        assert house.counters["messages_doubled_total"] == 0  # it did not even get as far as its number
        tap.close()


async def test_of_too_many_strangers_the_oldest_goes(tmp_path):
    settings = SETTINGS.model_copy(update={"strangers": 3, "handshake": 60.0})
    async with Town(tmp_path, settings) as town:
        house, peer = await town.house("peer")
        where = (house._endpoint.host, house._endpoint.port)
        calls = [await asyncio.open_connection(*where) for _ in range(6)]
        await until(lambda: house.counters["limit_hits:strangers"] == 3)
        for reader, _ in calls[:3]:
            async with asyncio.timeout(60):
                assert await _is_over(reader)
        sender, _ = await town.house("me", machine="other")
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: peer.heard == ["1"])
        for _, writer in calls:
            writer.close()


async def _is_over(reader):
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


async def test_a_called_machine_that_never_answers_is_given_up(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        async with Town(tmp_path, SETTINGS.model_copy(update={"handshake": 0.1})) as town:
            other = town.links("other", machine="other")
            nowhere = type(town.directory.endpoint)("elsewhere", "", *silent.getsockname())
            with pytest.raises(OSError, match="who it is"):
                await call(nowhere, other._here, lambda *_: None)
