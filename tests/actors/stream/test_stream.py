import random

from hypothesis import given, settings
from hypothesis import strategies as st

from actors.effects import Commit, Generate, Send, WakeAt
from actors.events import Broadcast, Candidate, Conscious, Generated, Tick
from actors.stream.core import StreamCore
from actors.stream.settings import StreamSettings
from actors.substrate.ports import Generation
from environment.messages import EntryKind
from tests.actors.making import DIM, trace, unit


def core(recent=(), **given) -> StreamCore:
    return StreamCore("stream", DIM, list(recent), StreamSettings(**given))


def candidate(time: float, **given) -> Candidate:
    focus = trace(time=time, **given)
    return Candidate(
        f"c-{focus.id}", EntryKind.THOUGHT, focus.thought.text, time, 0.5, 1.0, 0.4, focus, (), ("chatty",)
    )


def written(effects):
    return [entry for e in effects if isinstance(e, Commit) for entry in e.write.entries]


def test_thoughts_are_ordered_by_event_time_within_the_window():
    stream = core(reorder=5.0)
    for time in (10.0, 8.0, 9.0):
        assert not written(stream.handle(Conscious(candidate(time)), 10.0))
    entries = written(stream.handle(Tick(), 15.0))
    assert [(e.seq, e.time) for e in entries] == [(1, 8.0), (2, 9.0), (3, 10.0)]


def test_a_repeated_hand_over_is_confirmed_not_repeated():
    stream = core(reorder=0.0)
    one = candidate(1.0)
    (entry,) = written(stream.handle(Conscious(one), 1.0))
    effects = stream.handle(Conscious(one), 9.0)
    assert not written(effects)
    told = [e for e in effects if isinstance(e, Send)]
    assert {e.event.entry for e in told} == {entry}
    assert {"attention", "environment", "thinking", "chatty"} <= {e.to for e in told}, "who missed it hears it now"


def test_nothing_is_told_before_it_is_committed_and_all_concerned_are_told():
    effects = core(reorder=0.0).handle(Conscious(candidate(1.0)), 1.0)
    kinds = [type(e) for e in effects if isinstance(e, Commit | Send)]
    assert kinds[0] is Commit
    told = {e.to for e in effects if isinstance(e, Send) and isinstance(e.event, Broadcast)}
    assert told == {"attention", "environment", "thinking", "monitoring", "chatty"}


def test_a_segue_leads_between_neighbours_that_diverge():
    stream = core(reorder=0.0, segue_below=0.2, segue_within=600.0)
    a, b = candidate(1.0, vector=unit(1)), candidate(60.0, vector=-unit(1))
    (first,) = written(stream.handle(Conscious(a), 1.0))
    (ask,) = [e for e in stream.handle(Conscious(b), 60.0) if isinstance(e, Generate)]
    segue, second = written(stream.handle(Generated(ask.token, Generation("from a to b", "m"), unit(2)), 61.0))
    assert [segue.kind, second.kind] == [EntryKind.SEGUE, EntryKind.THOUGHT]
    assert (first.seq, segue.seq, second.seq) == (1, 2, 3)
    assert segue.lineage == (first.id, second.id)
    assert (segue.worded_by, second.worded_by) == ("m", "")
    plain = core(reorder=0.0)
    plain.handle(Conscious(a), 1.0)
    assert [e.kind for e in written(plain.handle(Conscious(b), 60.0))] == [EntryKind.THOUGHT], "unless it is asked for"


def test_no_segue_across_a_long_pause_and_none_waited_for_in_vain():
    stream = core(reorder=0.0, segue_below=0.2, segue_within=600.0, segue_patience=10.0)
    stream.handle(Conscious(candidate(1.0, vector=unit(1))), 1.0)
    far = stream.handle(Conscious(candidate(5000.0, vector=-unit(1))), 5000.0)
    assert written(far)
    assert not [e for e in far if isinstance(e, Generate)]
    near = stream.handle(Conscious(candidate(5001.0, vector=unit(1))), 5001.0)
    assert [e for e in near if isinstance(e, Generate)]
    assert any(isinstance(e, WakeAt) for e in near)
    assert [e.seq for e in written(stream.handle(Tick(), 5020.0))] == [3]


def test_where_subjects_change_all_the_time_a_change_is_no_news():
    def asked(apart):
        stream, now, found = core(reorder=0.0, segue_below=0.2, segue_patience=1.0), 0.0, []
        for i, pause in enumerate([*[apart] * 8, 60.0]):
            now += pause
            effects = stream.handle(Conscious(candidate(now, vector=unit(i % 2) * (-1) ** i)), now)
            found.append(any(isinstance(e, Generate) for e in effects))
            stream.handle(Tick(), now + 2.0)
        return found

    assert asked(100.0)[1:4] == [True] * 3, "nothing is usual yet"
    assert not any(asked(100.0)[5:])
    assert asked(300.0)[-1], "sooner than is usual"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_numbers_never_gap_repeat_or_change_under_doubling_and_disorder(seed, n):
    chance = random.Random(seed)
    stream = core(reorder=3.0, segue_below=0.2)
    pending = [candidate(float(i * 2), vector=unit(seed + i)) for i in range(n)] * 2
    chance.shuffle(pending)
    log, now = [], 0.0
    for c in pending:
        now += chance.random() * 4
        effects = stream.handle(Conscious(c), now)
        log += written(effects)
        for ask in [e for e in effects if isinstance(e, Generate)]:
            if chance.random() < 0.7:
                log += written(stream.handle(Generated(ask.token, Generation("segue", "m"), unit(5)), now))
        if chance.random() < 0.1:
            stream = core(log, reorder=3.0, segue_below=0.2)
    for c in pending:
        now += 20
        effects = [*stream.handle(Conscious(c), now), *stream.handle(Tick(), now + 15)]
        log += written(effects)
    log += written(stream.handle(Tick(), now + 100)) + written(stream.handle(Tick(), now + 200))
    assert [e.seq for e in log] == list(range(1, len(log) + 1))
    assert len({e.id for e in log}) == len(log)
    assert {e.id for e in log if e.kind is EntryKind.THOUGHT} == {c.id for c in pending}
