"""What is found is put into a model's words where there is one, in time; else in the rule's."""

import asyncio

import pytest

from actors.answering.episodes import EpisodeFollower
from actors.answering.substrate import AnsweringSubstrate
from actors.substrate.ports import Act, Generation, Material, Request, Role
from environment.identity import perception_id
from environment.messages import NewPerception
from tests.orchestration.until import until

SAID = "the Aurelia berths at seven"
QUESTION = Request(Act.REPLY, "thinking", (Material(Role.EVENT, "When does the Aurelia berth?", "operator"),), before=3)


class Model:
    """Remembers what it is asked, and answers as it is told to."""

    status = close = None

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    async def generate(self, request):
        self.asked.append(request)
        return self.answer or await asyncio.sleep(60)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (Generation("At seven.", "m", tokens_out=5), "At seven."),
        (Generation("nothing", "rule", tokens_out=7, fallback="it says 'Ada'", cause="name"), None),
        (None, None),
    ],
    ids=["words", "fallback", "slow"],
)
async def test_an_answer_quotes_what_was_perceived_before_it_was_asked_for(stores, model, said):
    texts = [
        ("desk", SAID),
        ("operator", "When does the Aurelia berth?"),
        ("desk", "the Aurelia berths at nine instead"),
    ]
    await stores.perceptions.append([NewPerception(source, 1.0, 1.0, text=text, trust=0.3) for source, text in texts])
    asked = Model(model)
    episodes = EpisodeFollower(stores, 100, ["operator"])
    told = await AnsweringSubstrate(asked, episodes, lambda: 2.0, model=True, patience=0.05).generate(QUESTION)
    assert told.text == said or (said is None and SAID in told.text)
    assert (told.model, told.tokens_out) == (("m", 5) if said else ("rule", 7 if model else 0))
    assert told.fallback == ("" if said else model.fallback if model else "no words within 0.05 s")
    assert [m.text for m in asked.asked[0].materials] == [QUESTION.materials[0].text, SAID]
    assert [p.id for p in told.perceptions] == [perception_id(1)]
    assert told.trust == 0.3
    assert told.confidence > 0.5


async def test_what_answers_rest_on_is_read_before_somebody_asks(stores):
    await stores.perceptions.append([NewPerception("desk", 1.0, 1.0, text=SAID)])
    episodes = EpisodeFollower(stores, 100, ["operator"])
    keeping = asyncio.create_task(episodes.keep(60.0))
    await until(lambda: len(episodes._index) == 1)
    keeping.cancel()
