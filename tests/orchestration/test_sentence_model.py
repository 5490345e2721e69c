"""A mind that goes over from word vectors to a real sentence model: what words do not find is found by meaning."""

from pathlib import Path

import pytest

from actors.names import ENVIRONMENT
from actors.substrate.build import build_embedder
from actors.substrate.settings import EmbedderSettings, SubstrateSettings
from environment.episodes.words import telling
from environment.messages import NewPerception
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from orchestration.view.mind import MindView, ViewContext
from tests.orchestration.simulation.histories import day

ROOT = Path(__file__).resolve().parents[2]
ASKED = {
    "employees got no wages": "Salaries were not paid out this month, the bank says nothing.",
    "somebody was injured": "Petra slipped on the wet ramp and hurt her wrist, she is at the doctor's.",
    "the internet connection is gone": "No network in the office since nine, the router blinks red.",
}
"""A question, and the line that it means: they have no word in common."""
NEW = "A parcel for Ines waits at the gate."


@pytest.fixture(scope="module")
def sentence_model():
    """The settings of the model that ``.ci/model`` has fetched."""
    file = ROOT / "build/sentence/model.onnx"
    return EmbedderSettings(
        kind="onnx", model_file=file, query_prefix="Represent this sentence for searching relevant passages: "
    )


def lines(texts, after, apart=40.0):
    times = [after + apart * n for n, _ in enumerate(texts, 1)]
    return [NewPerception("desk", t, t, text, trust=0.4) for t, text in zip(times, texts, strict=True)]


def strange(mind):
    return mind.world.shells[ENVIRONMENT].core.describe().figures["traces_strange"]


def view(stores, embedder, at, prefix=""):
    around = ViewContext(query_prefix=prefix)
    return MindView(stores, embedder, mind="mind", clock=lambda: at, wall=lambda: at, surroundings=around)


async def first(seen):
    """What is found first among live traces, by meaning alone."""
    near = [await seen.search(asked, 1) for asked in ASKED]
    return [found[0].trace.thought.text for found in near]


async def live(settings, stores, history):
    mind = Replay(settings, stores, finish=False)
    return mind, [entry async for entry in mind.feed(history)]


async def test_it_finds_by_meaning_and_embeds_anew_in_the_background_while_it_goes_on(stores, sentence_model):
    assert not [asked for asked, line in ASKED.items() if telling(asked) & telling(line)]
    chatter = [line for line in day(0, 200) if line.text]
    begun = chatter[-1].time
    await live(Settings(), stores, [*chatter, *lines(ASKED.values(), begun)])
    words = view(stores, build_embedder(SubstrateSettings()), begun + 200)
    assert await first(words) != [*ASKED.values()], "else nobody needs a sentence model"

    substrate = SubstrateSettings(embedder=sentence_model)
    embedder = build_embedder(substrate)
    mind, _ = await live(Settings(substrate=substrate), stores, lines([NEW], begun + 200, 1.0))
    assert strange(mind) > 32
    seen = view(stores, embedder, begun + 202, sentence_model.query_prefix)
    assert (await seen.recall("parcel for Ines", 1))[0].text == NEW
    await mind.world.run_until(begun + 600)
    assert strange(mind) == 0
    seen = view(stores, embedder, begun + 601, sentence_model.query_prefix)
    assert await first(seen) == [*ASKED.values()]
