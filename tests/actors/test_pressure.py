"""What the shell tells its core about the mailbox, and what it does with it when its core ends."""

import tempfile
from pathlib import Path

import pytest

from actors.events import Credit, Message, Tick
from actors.growth import Gone, Pressure
from actors.settings import ShellSettings
from actors.shell import ActorShell
from environment.messages import ChangeKind, Connection, ConnectionChange
from environment.ports import WriteConnections
from environment.stores.sqlite import open_stores
from tests.actors.making import thought
from tests.actors.shells import Out, Plain


@pytest.fixture
async def shell():
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        settings = ShellSettings(mailbox=16, batch=64, pressure_every=10.0)
        yield ActorShell(Plain(), stores, Out(), settings, embedder=None)
        await stores.close()


def a_message():
    return Message(thought(), "text", "k1", "x", 0.5)


async def test_mean_use_is_weighted_by_time(shell):
    for _ in range(8):
        shell.offer(a_message(), 0.5, 100.0)
    for _ in range(40):
        shell.offer(a_message(), 0.5, 105.0)
    await shell.step(110.0)
    (pressure,) = [e for _, e in shell.core.told if isinstance(e, Pressure)]
    assert pressure.use == pytest.approx((5 * 0.5 + 5 * 1.0) / 10)
    assert pressure.dropped == 32


async def test_an_idle_mailbox_says_once_that_it_is_empty(shell):
    shell.offer(a_message(), 0.5, 0.0)
    await shell.step(10.0)
    for now in range(20, 200, 10):
        await shell.step(float(now))
    uses = [e.use for _, e in shell.core.told if isinstance(e, Pressure)]
    assert uses == [1 / 16, 0.0]


async def test_one_that_ends_leaves_mail_to_its_heir_and_no_connection(shell):
    link = Connection("own", "k1", "x", "bank", 0.5, False, 1, 0, 0.0, ())
    change = ConnectionChange("own", "k1", "bank", 0.0, ChangeKind.OPENED, 0.5, "test")
    await shell._stores.commit([WriteConnections("own", (link,), (), (change,))])
    mail, credit = a_message(), Credit("bank", "k1", "t-1", "conscious")
    shell.offer(mail, 0.4, 0.0)
    shell.offer(credit, 0.4, 0.0)
    shell.offer(Tick(), 0.4, 0.0)
    await shell.bequeath("heir", 1.0)
    assert [e for _, e in shell.core.told] == [Gone("own", "heir")]
    left = [e for to, e in shell._driver.sent if to == "heir"]
    assert len(left) == 2
    assert mail in left
    assert credit in left
    assert await shell._stores.registry.connections("own") == []


async def test_while_senders_are_held_back_it_counts_as_full(shell):
    """What waits with them is work as well: or a mailbox that is never filled would be one that nothing is asked of."""
    for _ in range(8):
        shell.offer(a_message(), 0.5, 100.0)
    shell.hold_back(104.0, held=True)
    await shell.step(105.0)
    shell.hold_back(108.0, held=False)
    await shell.step(110.0)
    (told,) = [event for _, event in shell.core.told if isinstance(event, Pressure)]
    assert told.use == pytest.approx((4 * 0.5 + 4 * 1.0) / 10)
