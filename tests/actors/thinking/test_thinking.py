from actors.effects import Count, Generate, Read, Send
from actors.events import Broadcast, Crawl, Found, Generated, Perceived, Post, Started, Tick, Utterance
from actors.substrate.ports import Act, Generation
from actors.thinking.core import ThinkingCore
from actors.thinking.memory import WorkingMemory
from actors.thinking.settings import ThinkingSettings
from environment.identity import answer_id, perception_id
from environment.messages import EntryKind, Modality, Perception, PerceptionRef, ThoughtKind
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
    assert (result.trust, result.worded_by) == (0.3, "m")
    assert result.parents == (event.focus.id, memory.id)
    assert result.depth == 1


def test_recall_without_memories_is_let_go():
    request, results = think(core(), broadcast(1, text="the sky is grey"))
    assert (request, results) == (None, [])


def perceived(n, text, source="operator-page", time=100.0):
    return Perception(source, time, time, text=text, id=perception_id(n), seq=n, trust=0.9)


def sent(effects):
    """What is asked of the substrate, and what is to be said."""
    asks = [e.request for e in effects if isinstance(e, Generate)]
    return asks, [e.event.entry for e in effects if isinstance(e, Send) and isinstance(e.event, Utterance)]


def reborn(thinking):
    again = core()
    again.restore(thinking.snapshot())
    return again


def test_what_is_asked_is_answered_once_whatever_is_lost():
    thinking = core()
    (read,) = [e for e in thinking.handle(Started(), 100.0) if isinstance(e, Read)]
    assert (read.after, read.modality) == (0, Modality.TEXT)
    lines = [
        perceived(1, "when does the lorry leave?"),
        perceived(2, "when does the tide turn?", "radio"),
        perceived(3, "the lorry is red"),
        perceived(4, "and the driver?"),
        perceived(5, "who was here in May?", time=-4000.0),
    ]
    (first, second), none = sent(thinking.handle(Perceived(tuple(lines), {}), 101.0))
    assert (first.act, first.before, first.materials[0].text, none) == (Act.REPLY, 1, lines[0].text, [])
    assert [m.text for m in second.materials] == [lines[3].text, lines[0].text]
    thinking = reborn(thinking)
    assert sent(thinking.handle(Tick(), 104.0)) == ([first, second], [])
    cited = PerceptionRef(perception_id(0), 5.0, "desk")
    found = Generated(answer_id(lines[0].id), Generation("at nine", "m", perceptions=(cited,), trust=0.4), unit(1))
    _, (said,) = sent(thinking.handle(found, 105.0))
    assert said.lineage == (lines[0].id, cited.id)
    assert (said.kind, said.text, said.worded_by, said.trust) == (EntryKind.ANSWER, "at nine", "m", 0.4)
    assert sent(thinking.handle(found, 105.5)) == ([], [])
    thinking = reborn(thinking)
    assert sent(thinking.handle(Tick(), 108.0)) == ([second], [said])
    thinking.handle(Broadcast(said, None), 109.0)
    assert sent(thinking.handle(Tick(), 120.0)) == ([second], [])
    assert sent(thinking.handle(Perceived((lines[0],), {}), 121.0)) == ([], [])


def test_a_flood_of_questions_has_an_allowance():
    effects = core(answers_per_hour=8).handle(
        Perceived(tuple(perceived(n, "what now?") for n in range(1, 6)), {}), 100.0
    )
    assert len(sent(effects)[0]) == 2
    assert sum(e == Count("limit_hits:answers") for e in effects) == 3


def test_a_question_that_became_conscious_is_not_thought_about_besides():
    assert think(core(), broadcast(1, text="what about the lorry?", source="operator-page")) == (None, [])


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
    assert reborn(thinking).handle(event, 3.0) == []


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
    event = broadcast(1, text="the lorry must leave", source="operator", time=100.0)
    (asked,) = [e.event for e in thinking.handle(event, 101.0) if isinstance(e, Send)]
    thinking = reborn(thinking)
    (again,) = [e.event for e in thinking.handle(Tick(), 140.0) if isinstance(e, Send)]
    assert again.token == asked.token
    assert [e for e in thinking.handle(Found(again.token, (), ()), 141.0) if isinstance(e, Generate)]


def test_what_left_working_memory_returns_by_a_cue_and_is_forgotten_after_a_while():
    memory = WorkingMemory(2, 600.0, latent=2)
    pump, frost, cat = (thought(text=t, associations=a) for t, a in (
        ("the pump hums", ("pump", "hall 2")), ("frost on the fan", ("frost", "fan")), ("a cat", ("cat", "door"))
    ))  # fmt: skip
    for at, one in enumerate((pump, frost, cat)):
        memory.hold(one, 0.8, float(at))
    assert memory.held(10.0) == [cat, frost]
    assert memory.cue({"pump", "hall 7"}, 0.8, 10.0) == 0
    assert memory.cue({"pump", "hall 2", "x"}, 0.8, 10.0) == 1
    assert {t.id for t in memory.held(10.0)} == {pump.id, cat.id}
    assert memory.held(3_000.0) == []
    assert memory.cue({"cat", "door"}, 0.8, 20_000.0) == 0
    for at in range(50):
        memory.hold(thought(associations=("a", "b")), 0.8, 20_000.0 + at)
    assert memory.cue({"a", "b"}, 0.8, 20_100.0) == 2


def test_working_memory_survives_a_crash_with_what_is_latent():
    events = [broadcast(n, text=f"line {n}", associations=(f"a{n}", f"b{n}")) for n in range(1, 5)]
    first = core(slots=2, latent=4)
    for n, event in enumerate(events):
        first.handle(event, 100.0 + n)
    thinking = core(slots=2, latent=4)
    thinking.restore(first.snapshot())
    assert thinking.describe().figures["working_memory"] == 2
    cue = broadcast(9, text="again", associations=("a1", "b1"))
    assert Count("returned_total", 1) in thinking.handle(cue, 110.0)
