import random
import tempfile
from pathlib import Path

import pytest

from actors.knowledge.fact import CONTRADICTIONS, ENTITIES, FACTS, NAMES, PROGRESS
from environment.messages import NewPerception
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.faults import NONE, ROUGH, Faults
from orchestration.simulation.replay import Replay
from tests.orchestration.simulation.histories import chatter
from tests.orchestration.simulation.unreliable import UnreliableStores

NOON = 1_772_539_200.0
SAID = (
    *("Ana: ladder {n} is in bay {m}", "Bo: ladder {n} was moved to hall {m}", "Cleo: ladder {n} is in room {m}"),
    *("Ana is on call for press {n}", "Bo takes over on call for press {n} from Ana", "press {n}'s limit is {m} bar"),
)


def history(seed: int) -> list[NewPerception]:
    chance = random.Random(seed)
    jobs = [f"cron[{n}]: orders backup finished, {n * n} files" for n in range(9)]
    times = [NOON + 86_400.0 * (n + 0.6) for n in range(9)]
    nightly = [NewPerception("cron", at, at, text, key=text) for at, text in zip(times, jobs, strict=True)]
    lines = [chance.choice(SAID).format(n=chance.randrange(4), m=chance.randrange(9)) for _ in range(60)]
    said = [NewPerception("desk", NOON + 600.0 * n, NOON, text, key=f"k{n}") for n, text in enumerate(lines)]
    return sorted([*said, *nightly, *chatter(60, seed)], key=lambda one: one.time)


async def known(seed: int, faults: Faults) -> tuple[set[tuple[object, ...]], list[object]]:
    """What a mind knows after a history, whenever it was learnt; and how its collections fit together."""
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "mind", inline=True, synchronous="OFF")
        unreliable = UnreliableStores(stores, faults, random.Random(seed))
        settings = Settings(knowledge={"labile": 0})  # what is told when, and so open to change, goes by what was lost
        world = Replay(settings, unreliable if faults.any else stores, seed=seed, faults=faults)
        async for _ in world.run(history(seed)):
            pass
        unreliable.calm = True
        kept = stores.collections
        facts, entities = await FACTS.all_of(kept), await ENTITIES.all_of(kept)
        names, denied = await NAMES.all_of(kept), await CONTRADICTIONS.all_of(kept)
        progress = await PROGRESS.get(kept, "progress")
        log = {one.id: one for one in await stores.perceptions.read(0, 10_000)}
        await stores.close()
    assert progress is not None
    wrong: list[object] = [key for key, fact in facts.items() if fact.entity not in entities]
    wrong += [name for name, key in names.items() if key not in entities]
    wrong += [f for f in facts.values() if f.trust > min(log[ref.id].trust for ref in f.evidence)]
    wrong += [c for c in denied.values() if not any(f"{c.entity}/{i}" in facts for i in c.facts)]
    told = {(f.id, f.value, f.since, f.until, f.standing, f.trust, len(f.evidence)) for f in facts.values()}
    return told, wrong


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_is_lost_doubled_refused_or_killed_the_same_is_known(seed: int) -> None:
    calm, wrong = await known(seed, NONE)
    assert len(calm) > 10
    assert "nightly about 02:25, 8 times since 4 March" in {one[1] for one in calm}
    assert wrong == []
    rough, wrong = await known(seed, ROUGH)
    assert wrong == []
    assert rough == calm
