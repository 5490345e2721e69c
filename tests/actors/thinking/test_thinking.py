from __future__ import annotations

from actors.effects import Generate, Send
from actors.events import Broadcast, Crawl, Found, Generated, Post, Tick
from actors.substrate.ports import Act, Generation
from actors.thinking.core import ThinkingCore
from actors.thinking.memory import WorkingMemory
from actors.thinking.settings import ThinkingSettings
from environment.messages import ThoughtKind
from tests.actors.making import entry, thought, trace, unit


def core(**given) -> ThinkingCore:
    return ThinkingCore("thinking", ["operator", "operator-*"], ThinkingSettings(**{"act_above": 0.0, **given}))


def broadcast(seq: int, **given) -> Broadcast:
    focus = trace(**given)
    return Broadcast(entry(seq, of=focus.thought), focus)


def posted(effects):
    return [t for e in effects if isinstance(e, Send) and isinstance(e.event, Post) for t in e.event.thoughts]


def think(thinking, event, memories=(), scores=None):
    """Run one act to its end; the request and the results."""
    effects = thinking.handle(event, 10.0)
    for e in effects:
        if isinstance(e, Send) and isinstance(e.event, Crawl):
            traces = tuple(trace(m) for m in memories)
            effects = thinking.handle(Found(e.event.token, traces, tuple(scores or [0.9] * len(traces))), 11.0)
    asks = [e for e in effects if isinstance(e, Generate)]
    if not asks:
        return None, posted(effects)
    done = thinking.handle(Generated(asks[0].token, Generation("what follows", "m"), unit(9)), 12.0)
    return asks[0].request, posted(done)


def test_what_is_not_salient_enough_passes_by():
    thinking = core(act_above=0.9)
    for seq in range(1, 6):
        thinking.handle(broadcast(seq, salience=0.8), float(seq))
    assert not [e for e in thinking.handle(broadcast(9, salience=0.1), 9.0) if isinstance(e, Send)]


def test_a_result_is_trusted_as_its_least_and_names_what_it_came_from():
    event = broadcast(1, text="the lorry must leave by 9", trust=0.9)
    memory = thought(trust=0.3)
    request, (result,) = think(core(), event, [memory])
    assert request.act is Act.PLAN
    assert result.kind is ThoughtKind.RESULT
    assert result.trust == 0.3
    assert result.parents == (event.focus.id, memory.id)
    assert result.depth == 1


def test_recall_without_memories_is_let_go():
    request, results = think(core(), broadcast(1, text="the sky is grey"))
    assert (request, results) == (None, [])


def test_who_speaks_to_the_mind_is_answered():
    event = broadcast(1, text="what about the lorry", source="operator-page", salience=0.01)
    request, (result,) = think(core(act_above=0.99), event)
    assert request.act is Act.REPLY
    assert result.salience > 0.9


def test_own_results_are_not_thought_about_again():
    assert think(core(), broadcast(1, kind=ThoughtKind.RESULT)) == (None, [])


def test_deep_lineage_is_noticed_not_extended():
    effects = core(max_depth=3).handle(broadcast(1, depth=3), 1.0)
    assert [e.metric for e in effects] == ["limit_hits:depth"]


def test_a_loop_is_ended_and_said():
    thinking = core(loop_repeats=3, per_hour=1000)
    reflections = []
    for seq in range(1, 6):
        reflections += posted(thinking.handle(broadcast(seq, associations=("printer",)), float(seq)))
    assert [r.kind for r in reflections] == [ThoughtKind.REFLECTION]
    assert "printer" in reflections[0].text


def test_acts_are_bounded():
    thinking = core(per_hour=8)
    acts = [thinking.handle(broadcast(seq, associations=(f"a{seq}",)), 1.0) for seq in range(1, 40)]
    assert sum(any(isinstance(e, Send) for e in effects) for effects in acts) == 2


def test_a_doubled_broadcast_is_thought_about_once():
    thinking, event = core(), broadcast(1)
    assert thinking.handle(event, 1.0)
    assert thinking.handle(event, 2.0) == []
    reborn = core()
    reborn.restore(thinking.snapshot())
    assert reborn.handle(event, 3.0) == []


def test_working_memory_has_seven_slots_and_fades():
    memory = WorkingMemory(7, 600.0)
    thoughts = [thought() for _ in range(10)]
    for i, t in enumerate(thoughts):
        memory.hold(t, 0.2 + i / 20, float(i))
    held = memory.held(10.0)
    assert len(held) == 7
    assert held[0].id == thoughts[-1].id
    assert memory.held(10_000.0) == []


def test_an_act_survives_a_crash_and_a_lost_message():
    thinking = core()
    event = broadcast(1, text="what about the lorry?", source="operator", time=100.0)
    (asked,) = [e.event for e in thinking.handle(event, 101.0) if isinstance(e, Send)]
    reborn = core()
    reborn.restore(thinking.snapshot())
    (again,) = [e.event for e in reborn.handle(Tick(), 140.0) if isinstance(e, Send)]
    assert again.token == asked.token
    assert [e for e in reborn.handle(Found(again.token, (), ()), 141.0) if isinstance(e, Generate)]
