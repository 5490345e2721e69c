"""Questions and their answers as they come, with a real server of models beside."""

from __future__ import annotations

import asyncio

import pytest

from actors.substrate.settings import ModelSettings, ServerSettings, SubstrateSettings
from environment.recalls import RECALLS
from orchestration.client.mind import MindClient
from orchestration.embedding import wording
from orchestration.settings import Settings
from orchestration.view.settings import ViewSettings
from tests.actors.substrate.conftest import Day, _model_server, server  # noqa: F401 - fixtures
from tests.environment.stores.making import perception

ASKED = "who fixed the pump?"


@pytest.fixture
async def asking(serve, server):  # noqa: F811
    model = SubstrateSettings(
        kind="openai",
        server=ServerSettings(base_url=server.url, attempts=1),
        fast=ModelSettings(name="small"),
    )
    async with serve(words=wording(Settings(substrate=model))) as gateway:
        await gateway.stores.perceptions.append([perception(1, text="Ada: I fixed the pump at 11:40")])
        async with MindClient(gateway.target) as client:
            yield client


async def told(client, question=ASKED):
    return [reply async for reply, _ in client.question(question)]


async def test_first_by_rule_then_in_the_words_of_a_model(asking, server):  # noqa: F811
    server.plan(Day(text="Ada fixed the pump at 11:40."))
    first, last = await told(asking)
    assert ("I fixed the pump" in first.text, first.worded_by) == (True, "")
    assert first.progress
    assert (last.text, last.worded_by, last.progress) == ("Ada fixed the pump at 11:40.", "small", "")
    assert last.parts == first.parts
    assert last.known


async def test_a_slow_model_is_waited_for_and_who_asked_is_told(asking, server):  # noqa: F811
    server.plan(Day(text="Ada fixed the pump at 11:40.", delay=4.0))
    first, slow, last = await told(asking)
    assert slow.text == first.text
    assert slow.progress == "the model is slow"
    assert last.text.startswith("Ada fixed")


@pytest.mark.parametrize("day", [Day(status=500), Day(text="Ben fixed the pump in 1999.")], ids=["fails", "invents"])
async def test_where_a_model_has_none_the_rule_has_the_last_word(asking, server, day):  # noqa: F811
    server.plan(day)
    first, last = await told(asking)
    assert (last.text, last.worded_by, last.progress) == (first.text, "", "")


async def test_a_model_is_not_asked_about_nothing(asking, server):  # noqa: F811
    (only,) = await told(asking, "where are the zebras?")
    assert not only.known
    assert server.seen == []


async def test_without_a_model_there_is_one_answer_and_a_question_ends(serve):
    assert wording(Settings()) is None
    async with serve() as gateway, MindClient(gateway.target) as client:
        (only,) = await told(client)
        assert (only.progress, only.known) == ("", False)


async def test_what_readers_were_told_is_written_for_the_mind_to_learn_from(gateway):
    gateway.view.settings = ViewSettings(recalls_every=0.2)
    await gateway.stores.perceptions.append([perception(n, text=f"Ada: pump {n} is in bay {n}") for n in range(1, 6)])
    async with MindClient(gateway.target) as client:
        for _ in range(3):
            (hit, *_) = await client.recall("pump 2")
        (reply,) = await told(client, "where is pump 4?")
    async with asyncio.timeout(10):
        while not (kept := await RECALLS.all_of(gateway.stores.collections)):  # noqa: ASYNC110 - it is the store's
            await asyncio.sleep(0.05)
    (one,) = kept.values()
    assert [key for key, _ in one.latest][-1] == reply.parts[-1].perception.id
    assert hit.perception.id in dict(one.latest)
    assert len(one.latest) <= 5
    assert (await gateway.stores.collections.scan(RECALLS.name))[0].version == 1
