"""Packs whose process ends amid a division of one who lives there: real cores, a real host, a real Ray."""

import asyncio
import os
import signal

import pytest

from tests.orchestration.runtime.dividing import PARENTS, STAGES, dividing
from tests.orchestration.runtime.test_population import at_last

pytestmark = pytest.mark.timeout(900)


@pytest.mark.soak
async def test_a_pack_that_ends_amid_a_division_leaves_nothing_undone_and_nothing_twice(tmp_path):
    async with dividing(tmp_path) as mind:
        await mind.right()
        for parent, stage in zip(PARENTS, STAGES, strict=True):
            home = _home(mind, parent)
            before = mind.mind.processes()[home][0].pid
            await mind.say(f"divide {parent} {stage}")
            if stage == "granted":
                await at_last(lambda parent=parent: mind.child(parent))
                os.kill(before, signal.SIGKILL)
            await at_last(lambda home=home, before=before: _renewed(mind, home, before))
            if stage == "unproposed":  # nothing came of it
                await mind.right()
                assert not await mind.child(parent)
                await mind.say(f"divide {parent}")
            await at_last(lambda parent=parent: mind.child(parent))
            await mind.right()
        assert len(await mind.members()) == len(PARENTS)
        await asyncio.to_thread(mind.mind.kill, "mind")
        await asyncio.to_thread(mind.mind.running, 1, 120.0)
        await mind.right()


def _home(mind, parent):
    """The pack of a configured one: they are packed by two, in their order."""
    return f"actor:cognitive~{PARENTS.index(parent) // 2 + 1}"


async def _renewed(mind, home, before):
    found = mind.mind.processes().get(home)
    return found and found[0].pid != before
