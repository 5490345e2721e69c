"""What is asked of things that change is answered with what is so, or was, by whom and since when."""

import pytest

from actors.answering.episodes import GIST_LEFT, EpisodeFollower
from actors.answering.facts import known_facts
from actors.effects import Commit
from actors.events import Perceived, Started
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.fact import FACTS, HAPPENS, Fact, FactKind, Progress
from actors.knowledge.settings import KnowledgeSettings
from environment.identity import perception_id
from environment.messages import NewPerception, PerceptionRef
from environment.packs import PackSection, keep_packs
from environment.stores.sqlite import open_stores

NOON, DAY = 1_772_539_200.0, 86_400.0  # Tuesday, 2026-03-03T12:00:00Z
NOW = NOON + 10 * DAY
SAID = (
    (0, "Ana: van 7 is parked behind hall 4"),
    (0, "Ana is on call for the press"),
    (1, "Cleo: Mags looks after room 2"),
    (2, "Bo takes over on call for the press from Ana"),
    (3, "Bo: van 7 was moved to the yard"),
    (3, "Bo is on call for the web shop"),
    (4, "the limit of pump 3 is 12 bar"),
    (4, "Ana's number is 0170 123456"),
    (5, "Ana: the spare key is in the desk"),
    (5.1, "Cleo: the spare key is in the shed"),
    (6, "Ana: the roof audit is on Friday 20 March 14:00"),
)
ROOM = PackSection("a.csv", "room 3", "room 3, responsible Wendell.", 0.9, (("room 3", "responsible", "Wendell"),))


@pytest.fixture
async def stores(tmp_path):
    stores = await open_stores(tmp_path, "alpha")
    told = [NewPerception("chat", NOON + days * DAY, NOON, text, trust=0.5) for days, text in SAID]
    await stores.perceptions.append(told)
    await keep_packs(stores, [ROOM], 0)
    core = KnowledgeCore("knowledge", {}, {}, {}, {}, Progress(), KnowledgeSettings(), {ROOM.id: ROOM})
    effects = core.handle(Started(), NOON)
    for one in await stores.perceptions.read(0, 100):
        effects += core.handle(Perceived((one,), {}), one.time)
    await stores.commit([effect.write for effect in effects if isinstance(effect, Commit)])
    yield stores
    await stores.close()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("who is on call for the press?",
         "press, on call: Bo (since 2026-03-05 12:00, said by chat); before that Ana until 2026-03-05 12:00."),
        ("Who was on call for the press on 4 March?", "press, on call: Ana (since 2026-03-03 12:00, said by chat)."),
        ("who's on call now?", "web shop, on call: Bo (since 2026-03-06 12:00, said by chat).\npress, on call: Bo ("),
        ("where is van 7 now?",
         "van 7, location: yard (since 2026-03-06 12:00, said by Bo); before that behind hall 4 until"),
        ("and where was van 7 two days ago?", "van 7, location: yard ("),
        ("where did we think on Thursday that van 7 was?", "van 7, location: yard ("),
        ("where did Ana think van 7 was on 4 March?", "van 7, location: behind hall 4 ("),
        ("what did Ana say about van 7 on 4 March?", "van 7, location: behind hall 4 ("),
        ("what did Cleo believe on 4 March?", "room 2, responsible: Mags ("),
        ("who is responsible for room 2?", "room 2, responsible: Mags ("),
        ("who looks after room 3?", "room 3, responsible: Wendell (said by pack a.csv: room 3)."),
        ("what is Mags responsible for?", "room 2, responsible: Mags ("),
        ("since when is Bo on call for the press?", "press, on call: Bo (since 2026-03-05 12:00"),
        ("Is Ana on call for the press?", "press, on call: Bo ("),
        ("what's pump 3's limit?", "pump 3, limit: 12 bar ("),
        ("what is the phone number of Ana?", "Ana, phone: 0170 123456 ("),
        ("when is the roof audit?", "roof audit, time: 2026-03-20 14:00 ("),
    ],
)  # fmt: skip
async def test_it_tells_what_is_so_since_when_by_whom_and_what_was_before(stores, asked, told):
    found = await known_facts(asked, stores.collections, NOW)
    assert found is not None
    assert found.text.startswith(told)


@pytest.mark.parametrize(
    "asked",
    [
        "what is wrong with van 7?",
        "who moved van 7?",
        "where is van 8?",
        "what did Ana believe in January?",
        "where was van 7 in January?",
        "why is van 7 in the yard?",
        "who is it?",
        "where?",
        "tell me about van 7",
        "",
    ],
)
async def test_what_asks_for_no_fact_or_one_that_is_not_known_is_left_to_lines(stores, asked):
    assert await known_facts(asked, stores.collections, NOW) is None


async def test_what_is_denied_is_told_with_both_and_never_as_sure(stores):
    found = await known_facts("where is the spare key?", stores.collections, NOW)
    assert "desk (since 2026-03-08 12:00, said by Ana)" in found.text
    assert "shed (since 2026-03-08 14:24, said by Cleo)" in found.text
    assert "these deny each other" in found.text
    assert found.confidence == 0.5


async def test_what_was_learnt_after_somebody_asked_is_not_told(stores):
    assert await known_facts("where is pump 3's limit?", stores.collections, NOW) is None
    assert await known_facts("what is pump 3's limit?", stores.collections, NOW, before=7) is None
    found = await known_facts("what is pump 3's limit?", stores.collections, NOW, before=8)
    assert found is not None


async def test_an_answer_begins_with_facts_and_cites_what_they_rest_on(stores):
    follower = EpisodeFollower(stores, 100, ())
    told = await follower.answer("where is van 7?", (), NOW)
    lines = told.text.splitlines()
    assert lines[0].startswith("van 7, location: yard")
    assert "“Bo: van 7 was moved to the yard” (chat" in told.text
    assert "Bo: van 7 was moved to the yard" in [part.text for part in told.parts]
    assert told.known
    assert (told.trust, told.confidence) == (0.5, 0.6)
    (part,) = (await follower.answer("who looks after room 3?", (), NOW)).parts
    assert (part.perception.id, part.perception.source) == (ROOM.id, "pack a.csv: room 3")
    bare = EpisodeFollower(stores, 100, ())
    assert (await bare.answer("who moved van 7?", (), NOW)).text.startswith(("Said by", "I don't"))


async def test_where_the_lines_are_not_kept_any_more_the_answer_says_so(stores):
    who = EpisodeFollower(stores, 1000, ())
    gist = Fact("f-9", "gate stuck", HAPPENS, "4 times since 3 March", FactKind.STANDARD, NOON, NOON, 0.8, 0.5,
                [PerceptionRef(perception_id(1), NOON, "chat")], "r-9", NOON)  # fmt: skip
    await stores.commit([FACTS.write(gist.key, gist)])
    await stores.perceptions.append([NewPerception("chat", NOW, NOON, "Bo: the gate is stuck", trust=0.5)])
    asked = ("where is van 7 now?", "how often was the gate stuck?")
    for left in (False, True):
        for one, told in zip(asked, ("van 7, location: yard", "4 times since 3 March"), strict=True):
            text = (await who.answer(one, (), NOW)).text
            assert (told in text, GIST_LEFT in text) == (True, left)
        await stores.perceptions.erase(range(1, 12))
