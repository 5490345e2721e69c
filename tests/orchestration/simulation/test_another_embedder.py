"""A mind whose embedder is changed: it goes on at once, and what it knows is embedded anew meanwhile."""

import pytest

from actors.names import ENVIRONMENT
from actors.substrate.build import build_embedder
from actors.substrate.lengths import told_apart
from actors.substrate.settings import EmbedderSettings, SubstrateSettings
from environment.reembedding import reembedded
from orchestration.settings import Settings
from orchestration.simulation.replay import Replay
from orchestration.view.mind import MindView
from tests.actors.substrate.models import tiny_model
from tests.orchestration.simulation.histories import day

HALF = 120


def with_model(dim: int, seed: int) -> Settings:
    model = tiny_model(dim, seed) / "model.onnx"
    return Settings(
        substrate=SubstrateSettings(embedder=EmbedderSettings(kind="onnx", model_file=model, pooling="mean"))
    )


async def lived(settings, stores, history):
    """A run over part of a history, as a mind that is stopped and saves; what it says, and notes of its actors."""
    run, notes = Replay(settings, stores, seed=1), []
    run.world.note = lambda owner, note: notes.append((owner, note.event))
    told = [entry async for entry in run.run(history)]
    for shell in run.world.shells.values():
        await shell.save(run.world.now)
    return run, told, notes


async def view_of(settings, stores, now):
    chosen = settings.substrate
    embedder, _ = await told_apart(build_embedder(chosen), chosen.embedder, stores.collections)
    return MindView(stores, embedder, mind="mind", clock=lambda: now, wall=lambda: now), embedder


@pytest.mark.parametrize("dim", [24, 32, 256], ids=["as long as before", "of another length", "as long as the default"])
async def test_all_that_is_live_is_found_by_the_meaning_that_the_new_one_gives(inline_stores, dim):
    history = day(0, 2 * HALF)
    _, first, _ = await lived(with_model(24, 0), inline_stores, history[:HALF])
    assert first
    known = [trace async for batch in inline_stores.traces.live() for trace in batch]
    settings = with_model(dim, 1)
    run, second, notes = await lived(settings, inline_stores, history[HALF:])
    assert [entry.seq for entry in second][-1] > first[-1].seq
    shells = run.world.shells
    assert shells[ENVIRONMENT].core.describe().figures["traces_strange"] == 0
    assert [owner for owner, event in notes if event == "embedded_anew"] == [ENVIRONMENT]
    assert not [owner for owner, event in notes if event == "state_not_restored"]
    view, embedder = await view_of(settings, inline_stores, run.world.now)
    live = [trace async for batch in inline_stores.traces.live() for trace in batch]
    old = {trace.id for trace in known} & {trace.id for trace in live}
    placed = await reembedded(live, inline_stores.collections, embedder.dim)
    assert old
    assert {trace.thought.vector.size for trace in placed} == {embedder.dim}
    for trace in [trace for trace in placed if trace.id in old][:5]:
        (vector,) = await embedder.embed([trace.thought.text])
        assert trace.thought.vector == pytest.approx(vector, abs=2e-3)
        hits = await view.search(trace.thought.text, 5)
        assert trace.thought.text in {hit.trace.thought.text for hit in hits}
