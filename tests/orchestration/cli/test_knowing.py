"""What a mind knows, asked of a gateway as it is served."""

from typing import Any

from actors.effects import Commit
from actors.events import Perceived, Started, Tick
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import Progress
from actors.knowledge.settings import KnowledgeSettings
from environment.messages import NewPerception
from tests.environment.stores.making import NOON
from tests.orchestration.cli.conftest import submind

LINES = (
    "Ana: ladder 7 is in bay 3",
    "Bo: ladder 7 is in hall 2",
    "Ana is the lead of team\x1b[31m north",
    "Ana loves tea",
)


async def test_what_is_known_why_denied_and_right(gateway: Any, at: list[str]) -> None:
    said = [NewPerception("chat", NOON + n, NOON, text=text, key=text) for n, text in enumerate(LINES)]
    await gateway.stores.perceptions.append(said)
    core = KnowledgeCore("knowledge", {}, {}, {}, {}, Progress(), KnowledgeSettings())
    effects = core.handle(Perceived(tuple(await gateway.stores.perceptions.read(0, 10)), {}), NOON)
    assert (await submind("sleep", *at)).err.strip() == "it has not slept yet"
    core.handle(Started(), NOON)
    effects += core.handle(Tick(), NOON + 86_400.0)
    await gateway.stores.commit([effect.write for effect in effects if isinstance(effect, Commit)])
    slept = await submind("sleep", *at)
    assert (slept.code, "contradictions: 1" in slept.out, "ladder 7: location: bay 3 or hall 2" in slept.out) == (
        0,
        True,
        True,
    )
    assert (await submind("sleep", "--json", *at)).objects[0]["contradictions"]["count"] == 1
    known = await submind("know", "ladder 7", *at)
    assert known.code == 0
    assert "location: bay 3" in known.out
    assert known.out.count("disputed") == 2
    told = await submind("know", "Ana", "--json", *at)
    assert [fact["value"] for fact in told.objects[0]["facts"]] == ["tea"]
    near = await submind("know", "Ana", "--graph", "9", *at)
    assert "Ana  lead  team" in near.out
    assert "\x1b" not in near.out
    (graph,) = (await submind("know", "Ana", "--graph", "9", "--json", *at)).objects
    assert graph["entities"][0]["name"] == "Ana"
    why = await submind("believe", "ladder 7", "location", *at)
    assert "Bo: ladder 7 is in hall 2" in why.out
    denied = await submind("contradictions", *at)
    assert "bay 3 or hall 2" in denied.out
    done = await submind("correct", "ladder 7", "location", "bay 3", *at)
    assert (done.code, done.out.startswith("ladder 7: location is bay 3")) == (0, True)
    nobody = await submind("know", "zebra\x1b[2J", *at)
    assert (nobody.code, "\x1b" in nobody.err) == (1, False)
