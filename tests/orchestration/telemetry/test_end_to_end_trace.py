"""The example's day with every perception traced: complete, connected, and the same stream as without."""

import time
from collections import Counter

import pytest

from actors.effects import Note
from actors.events import Message
from environment.messages import EntryKind, Receipts
from environment.stores.codec import encode
from environment.stores.sqlite import open_stores
from orchestration.runtime.worker.observed import ObservedCore, ObservedDriver
from orchestration.settings import Settings
from orchestration.simulation.faults import ROUGH
from orchestration.simulation.replay import Replay
from orchestration.telemetry.settings import TracingSettings
from orchestration.telemetry.tracing.ids import hex_span, hex_trace
from orchestration.telemetry.tracing.intake_spans import IntakeSpans
from orchestration.telemetry.tracing.span_recorder import SpanRecorder
from orchestration.telemetry.tracing.spans import Recorder
from tests.actors.making import thought
from tests.orchestration.simulation.histories import day

SETTINGS = TracingSettings(endpoint="http://nobody:4317", sample=1.0, queue=10**7)


class Traced(Replay):
    """A replay of which every actor is looked at, as it is in a living mind."""

    def __init__(self, *args, share=1.0, **kwargs):
        super().__init__(*args, finish=False, **kwargs)
        settings = SETTINGS.model_copy(update={"sample": share})
        self.recorder = Recorder("mind", settings, None, time.time_ns)

    async def _be_born(self, name):
        shell = await super()._be_born(name)
        journey = SpanRecorder(name, self.recorder)
        shell.core = ObservedCore(shell.core, journey)
        shell._driver = ObservedDriver(shell._driver, journey)
        return shell

    @property
    def spans(self):
        return {span.id: span for span in self.recorder._queue}


async def lived(folder, history, share=1.0, **given):
    """The stream of a history, and its spans."""
    stores = await open_stores(folder, "mind", inline=True, synchronous="OFF")
    world = Traced(Settings(), stores, seed=7, share=share, **given)
    entries = [entry async for entry in world.run(history)]
    IntakeSpans(world.recorder).accepted(Receipts(1, await stores.perceptions.head()), None, 0.1, 0.1)
    await stores.close()
    return entries, world


@pytest.mark.timeout(600)
async def test_every_conscious_thought_leads_back_to_its_perception_through_every_actor(tmp_path):
    entries, world = await lived(tmp_path, day(0, 330))
    thoughts = [entry for entry in entries if entry.kind is EntryKind.THOUGHT]
    assert len(thoughts) > 3
    spans = world.spans
    orphans = [s for s in spans.values() if s.parent is not None and s.parent not in spans]
    assert Counter(s.name for s in orphans) == {}
    assert all(spans[s.parent].trace == s.trace for s in spans.values() if s.parent is not None)
    assert {s.name for s in spans.values() if s.parent is None} == {"accept"}
    assert all(s.end >= s.start > 0 for s in spans.values())
    for entry in thoughts:
        trace = world.recorder.ids.of(entry.perceptions[0].id)
        appended = next(s for s in spans.values() if s.name == "append" and s.attributes["submind.entry"] == entry.seq)
        assert appended.trace == trace
        way = [appended]
        while way[-1].parent is not None:
            way.append(spans[way[-1].parent])
        names = [s.name for s in way]
        assert names[:4] == ["append", "choose", "attend", "leave"], names
        assert names[-3:] == ["think", "perceive", "accept"], names
        told = {s.attributes["submind.actor"] for s in spans.values() if s.name == "aware" and s.parent == appended.id}
        assert {"attention", "environment", "thinking", "monitoring"} <= told
        others = {(world.recorder.ids.of(ref.id)) for ref in entry.perceptions[1:]}
        assert {linked for linked, _ in appended.links} == others
    kinds = Counter(s.name for s in spans.values())
    assert {"tell", "hear", "crawl", "walk", "generate"} <= set(kinds), kinds
    assert any(s.links for s in spans.values() if s.name == "think")


@pytest.mark.timeout(600)
async def test_who_is_looked_at_thinks_the_same(tmp_path):
    history = day(0, 150)
    seen, _ = await lived(tmp_path / "seen", history)
    stores = await open_stores(tmp_path / "unseen", "mind", inline=True, synchronous="OFF")
    unseen = [e async for e in Replay(Settings(), stores, seed=7, finish=False).run(history)]
    await stores.close()
    assert unseen
    assert [encode(e) for e in seen] == [encode(e) for e in unseen]


@pytest.mark.timeout(600)
async def test_of_a_share_whole_traces_are_told_and_nothing_of_the_others(tmp_path):
    _, world = await lived(tmp_path, day(0, 150), share=0.3)
    ids = world.recorder.ids
    traced = {ids.of(f"p-{seq:020x}") for seq in range(1, 151) if ids.traced(f"p-{seq:020x}") is not None}
    spans = world.spans
    assert {s.trace for s in spans.values()} == traced
    assert all(s.parent in spans for s in spans.values() if s.parent is not None)
    assert {trace for s in spans.values() for trace, _ in s.links} <= traced


@pytest.mark.timeout(600)
async def test_under_faults_what_is_done_again_is_told_once(tmp_path):
    _, world = await lived(tmp_path, day(0, 120), faults=ROUGH)
    told = Counter(span.id for span in world.recorder._queue)
    assert told.most_common(1)[0][1] == 1


def test_a_note_names_the_span_it_was_written_in():
    recorder = Recorder("mind", SETTINGS, None, time.time_ns)
    heard = Message(thought(), "text", "k", "label", 1.0)
    (noted,) = SpanRecorder("concern", recorder).handle(heard, lambda: [Note("loop ended", "info", {"about": "x"})])
    (span,) = recorder._queue
    assert span.name == "hear"
    assert noted.fields == {"about": "x", "trace_id": hex_trace(span.trace), "span_id": hex_span(span.id)}
