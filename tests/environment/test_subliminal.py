"""What may be done to traces, and what it does."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environment import salience
from environment.errors import StaleRevision
from environment.messages import Level, Thought, ThoughtKind, Trace, Via
from environment.ports import WriteLevel, WriteTrace
from environment.stores.sqlite import open_stores
from tests.environment.worlds import NOON, drawn, perceived, thought, unit, world

HALF_HOUR = 1800.0


def now_of(environment, trace_id: str, now: float) -> float:
    return salience.at(environment.get(trace_id).level, now)


def test_a_posted_thought_becomes_a_live_trace():
    environment = world()
    first, second = thought(1), thought(2, kind=ThoughtKind.INSIGHT)
    outcome = environment.post([first, second], NOON)
    assert outcome.result == (first.id, second.id)
    assert outcome.writes == [
        WriteTrace(Trace(first, 1, Level(0.5, NOON, 1800.0), authors=("text",))),
        WriteTrace(Trace(second, 1, Level(0.5, NOON, 7200.0), authors=("text",))),
    ]
    assert [trace.thought for trace in outcome.rose] == [first, second]
    assert environment.get(first.id).live
    assert now_of(environment, first.id, NOON + HALF_HOUR) == pytest.approx(0.25)


def test_posting_again_changes_nothing_not_even_after_retirement():
    environment = world()
    environment.post([thought(1)], NOON)
    environment.reinforce(thought(1).id, "causes", 0.2, (), NOON)
    before = environment.get(thought(1).id)
    again = environment.post([replace(thought(1), salience=1.0, text="louder")], NOON + 5)
    assert (again.result, again.writes, again.rose) == ((thought(1).id,), [], [])
    assert environment.get(thought(1).id) is before
    environment.sweep(NOON + 1e6)
    assert environment.post([thought(1)], NOON + 1e6 + 1).writes == []
    assert len(environment) == 0


def test_a_thought_below_the_floor_goes_to_the_log_only():
    environment = world(floor=0.1)
    late = thought(1, salience=0.3, at=NOON - 3 * HALF_HOUR)
    outcome = environment.post([late, thought(2, salience=-1.0)], NOON)
    assert [write.trace.live for write in outcome.writes] == [False, False]
    assert outcome.rose == []
    assert len(environment) == 0


def test_a_thought_from_the_future_does_not_outlast_the_others():
    environment = world()
    environment.post([thought(1, at=NOON + 1e9, salience=7.0)], NOON)
    assert environment.get(thought(1).id).level == Level(1.0, NOON, 1800.0)


def test_the_least_salient_make_room_and_are_counted():
    environment = world(capacity=16)
    environment.post([thought(n, salience=0.2 + n / 100) for n in range(16)], NOON)
    outcome = environment.post([thought(16, salience=0.9), thought(17, salience=0.1)], NOON)
    gone = [write.trace_id for write in outcome.writes if isinstance(write, WriteLevel)]
    assert gone == [thought(17).id, thought(0).id]
    assert [trace.id for trace in outcome.rose] == [thought(16).id]
    assert len(environment) == 16
    assert environment.figures()["limit_hits:capacity"] == 2


def test_a_sweep_retires_what_sank_and_says_when_to_come_again():
    environment = world(floor=0.1)
    environment.post([thought(1, salience=0.4), thought(2, salience=0.8)], NOON)
    assert environment.next_expiry() == pytest.approx(NOON + 2 * HALF_HOUR)
    assert environment.sweep(NOON + 2 * HALF_HOUR - 1).writes == []
    outcome = environment.sweep(NOON + 2 * HALF_HOUR + 1)
    assert outcome.result == 1
    assert outcome.writes == [WriteLevel(thought(1).id, Level(0.4, NOON, 1800.0), live=False, conscious=None)]
    assert thought(1).id not in environment
    assert environment.next_expiry() == pytest.approx(NOON + 3 * HALF_HOUR)


def test_reinforcing_wears_off_for_each_submind():
    environment = world()
    environment.post([thought(1)], NOON)
    name = thought(1).id
    gains = []
    for by in ("a", "a", "b", "a"):
        before = now_of(environment, name, NOON)
        outcome = environment.reinforce(name, by, 0.2, ("p-other",), NOON)
        after = now_of(environment, name, NOON)
        assert outcome.result
        assert outcome.writes == [WriteLevel(name, environment.get(name).level, live=True, conscious=None)]
        assert outcome.rose == [environment.get(name)]
        gains.append((after - before) / (1 - before))
    assert gains == pytest.approx([0.2, 0.2 / math.log2(3), 0.2, 0.1])


def test_a_reinforcement_asks_for_no_more_than_is_allowed():
    environment = world(gain=0.3)
    environment.post([thought(1)], NOON)
    environment.reinforce(thought(1).id, "a", 50.0, (), NOON)
    assert now_of(environment, thought(1).id, NOON) == pytest.approx(0.65)
    assert not environment.reinforce("t-nowhere", "a", 0.2, (), NOON).writes


def test_an_echo_adds_nothing():
    environment = world()
    child = thought(2, parents=(thought(1).id,))
    grandchild = thought(3, parents=(child.id, "p-1"))
    stranger = thought(4)
    environment.post([thought(1), child, grandchild, stranger], NOON)
    for lineage in ((thought(1).id,), (child.id,), ("p-9", grandchild.id), (stranger.id, grandchild.id)):
        outcome = environment.reinforce(thought(1).id, "a", 0.2, lineage, NOON)
        assert (outcome.result, outcome.writes, outcome.rose) == (False, [], [])
    assert now_of(environment, thought(1).id, NOON) == 0.5
    assert environment.figures()["echoes_total"] == 4
    assert environment.reinforce(thought(1).id, "a", 0.2, (stranger.id, "p-9"), NOON).result
    assert environment.reinforce(grandchild.id, "a", 0.2, (thought(1).id,), NOON).result


def test_where_a_lineage_is_too_long_to_walk_doubt_counts_as_an_echo():
    environment = world(ancestry=4)
    chain = [thought(0)]
    for n in range(1, 12):
        chain.append(thought(n, parents=(chain[-1].id,)))
    environment.post(chain, NOON)
    assert not environment.reinforce(chain[0].id, "a", 0.2, (chain[-1].id,), NOON).result


def test_circles_in_a_lineage_are_walked_once():
    environment = world()
    one, two = thought(1, parents=(thought(2).id,)), thought(2, parents=(thought(1).id,))
    environment.post([one, two, thought(3)], NOON)
    assert environment.reinforce(thought(3).id, "a", 0.2, (one.id,), NOON).result


def test_diminishing_lowers_and_at_the_floor_retires():
    environment = world(floor=0.1)
    environment.post([thought(1), thought(2, salience=0.12)], NOON)
    assert environment.diminish(thought(1).id, 0.4, NOON).result
    assert now_of(environment, thought(1).id, NOON) == pytest.approx(0.3)
    assert not environment.diminish(thought(1).id, 0.0, NOON).writes
    assert not environment.diminish(thought(1).id, -3.0, NOON).writes
    (write,) = environment.diminish(thought(2).id, 9.0, NOON).writes
    assert (write.live, write.level.value) == (False, pytest.approx(0.06))
    assert not environment.diminish(thought(2).id, 0.4, NOON).result


def test_building_on_a_trace_keeps_both_in_its_lineage():
    environment = world(perceptions=3, parents=3, via=2)
    old = thought(
        1,
        trust=0.4,
        via=(Via("x", "1"), Via("y", "2")),
        associations=("disk",),
        perceptions=(perceived(1), perceived(2)),
        parents=(perceived(1).id, perceived(2).id),
        count=5,
    )
    environment.post([old], NOON)
    new = thought(
        9,
        kind=ThoughtKind.INSIGHT,
        trust=0.9,
        via=(Via("z", "3"), Via("x", "1")),
        associations=("db-1", "disk"),
        perceptions=(perceived(9), perceived(2)),
        parents=(old.id, perceived(9).id, perceived(2).id),
        depth=1,
        text="because of the disk",
        author="somebody else",
    )
    outcome = environment.revise(old.id, 1, "causes", new, NOON + HALF_HOUR)
    revised = outcome.result
    assert outcome.writes == [WriteTrace(revised)]
    assert outcome.rose == [revised]
    assert (revised.id, revised.version, revised.authors) == (old.id, 2, ("text", "causes"))
    content = revised.thought
    assert (content.author, content.text, content.trust) == ("causes", "because of the disk", 0.4)
    assert content.perceptions == (perceived(9), perceived(2), perceived(1))
    assert content.time == new.time
    assert content.parents == (perceived(9).id, perceived(2).id, perceived(1).id)
    assert content.via == (Via("z", "3"), Via("x", "1"))
    assert content.associations == ("db-1", "disk")
    assert content.count == 5
    assert revised.level == Level(pytest.approx(0.25 + 0.3 * 0.75), NOON + HALF_HOUR, 7200.0)


def test_a_revised_trace_is_found_by_what_it_says_now():
    environment = world()
    environment.post([thought(1, vector=unit(1), associations=("old",))], NOON)
    environment.revise(
        thought(1).id, 1, "causes", thought(9, vector=unit(0, 1), associations=("new",), perceptions=()), NOON
    )
    ((trace, cosine),) = environment.crawl("directed", 5, NOON, None, vector=unit(0, 1))
    assert cosine == pytest.approx(1)
    assert trace.thought.time == thought(1).time
    assert environment.crawl("associative", 5, NOON, None, terms=("new",))


def test_a_stale_revision_is_refused_and_a_doubled_one_is_not_made_twice():
    environment = world()
    environment.post([thought(1)], NOON)
    new = thought(9, text="because")
    first = environment.revise(thought(1).id, 1, "causes", new, NOON)
    again = environment.revise(thought(1).id, 1, "causes", new, NOON + 1)
    assert (again.result, again.writes, again.rose) == (first.result, [], [])
    for base in (0, 1, 3):
        with pytest.raises(StaleRevision) as refused:
            environment.revise(thought(1).id, base, "people", thought(8), NOON)
        assert (refused.value.base, refused.value.current) == (base, 2)
    assert environment.revise("t-nowhere", 1, "people", new, NOON).result is None


@pytest.mark.parametrize(
    ("by", "parents"),
    [("text", ("p-9",)), ("causes", ()), ("causes", (thought(1).id,)), ("causes", (thought(1).id, thought(2).id))],
)
def test_building_without_evidence_of_ones_own_lifts_nothing(by, parents):
    environment = world()
    environment.post([thought(1), thought(2, parents=(thought(1).id,))], NOON)
    revised = environment.revise(thought(1).id, 1, by, thought(9, salience=1.0, parents=parents), NOON).result
    assert revised.level.value == 0.5


def test_what_became_conscious_is_noted_once_live_or_not():
    environment = world()
    environment.post([thought(1)], NOON)
    level = environment.get(thought(1).id).level
    assert environment.conscious(thought(1).id, 4).writes == [WriteLevel(thought(1).id, level, True, 4)]
    assert environment.conscious(thought(1).id, 4).writes == []
    assert environment.conscious(thought(1).id, 3).writes == []
    environment.sweep(NOON + 1e6)
    assert environment.conscious(thought(1).id, 9).writes == [WriteLevel(thought(1).id, level, False, 9)]
    assert environment.conscious(thought(1).id, 9).writes == []
    assert environment.conscious("t-nowhere", 1).writes == []


def test_subminds_beyond_those_counted_apart_share_one_count():
    environment = world(reinforcers=2)
    environment.post([thought(1)], NOON)
    gains = []
    for by in ("a", "b", "c", "d", "a"):
        before = now_of(environment, thought(1).id, NOON)
        environment.reinforce(thought(1).id, by, 0.1, (), NOON)
        gains.append((now_of(environment, thought(1).id, NOON) - before) / (1 - before))
    assert gains == pytest.approx([0.1, 0.1, 0.1, 0.1 / math.log2(3), 0.1 / math.log2(3)])


NUMBERS = st.integers(0, 11)
SHARES = st.floats(-0.5, 1.5)
BYS = st.sampled_from(["a", "b", "text"])
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("post"), NUMBERS, SHARES),
        st.tuples(st.just("reinforce"), NUMBERS, BYS, SHARES, NUMBERS),
        st.tuples(st.just("diminish"), NUMBERS, SHARES),
        st.tuples(st.just("revise"), NUMBERS, BYS, st.integers(1, 3), SHARES),
        st.tuples(st.just("conscious"), NUMBERS, st.integers(1, 9)),
        st.tuples(st.just("wait"), st.floats(0, 4000)),
    ),
    max_size=40,
)


def lively(number: int, **changes: object) -> Thought:
    """Each thought rests on those before it, so that there are descendants."""
    parents = tuple(thought(n).id for n in range(max(0, number - 2), number)) or (perceived(number).id,)
    return thought(number, parents=parents, associations=(f"w{number % 3}",), **changes)


def perform(environment, act, now: float):
    match act:
        case ("post", number, value):
            return environment.post([lively(number, salience=value, at=now)], now)
        case ("reinforce", number, by, gain, of):
            return environment.reinforce(thought(number).id, by, gain, (thought(of).id,), now)
        case ("diminish", number, loss):
            return environment.diminish(thought(number).id, loss, now)
        case ("revise", number, by, base, trust):
            new = thought(number + 100, trust=trust, at=now, vector=drawn(number + int(now) % 97))
            try:
                return environment.revise(thought(number).id, base, by, new, now)
            except StaleRevision:
                return None
        case ("conscious", number, seq):
            return environment.conscious(thought(number).id, seq)
        case _:
            return environment.sweep(now)


@settings(deadline=None, max_examples=150)
@given(ACTS)
def test_whatever_is_done_the_laws_hold(acts):
    environment = world(capacity=16)
    environment._settings = environment._settings.model_copy(update={"capacity": 6})
    logged: dict[str, Trace] = {}
    now = NOON
    for act in acts:
        trust = {trace.id: trace.thought.trust for trace in environment.live()}
        before = {trace.id: salience.at(trace.level, now) for trace in environment.live()}
        if act[0] == "wait":
            now += act[1]
            later = {trace.id: salience.at(trace.level, now) for trace in environment.live()}
            assert all(later[name] <= before[name] for name in before)
        outcome = perform(environment, act, now)
        for write in outcome.writes if outcome else ():
            if isinstance(write, WriteTrace):
                known = logged.get(write.trace.id)
                assert write.trace.version == (known.version + 1 if known else 1)
                logged[write.trace.id] = write.trace
            else:
                logged[write.trace_id] = replace(
                    logged[write.trace_id], level=write.level, live=write.live, conscious=write.conscious
                )
        held = {trace.id: trace for trace in environment.live()}
        assert held == {name: trace for name, trace in logged.items() if trace.live}
        assert len(held) <= 6
        assert all(0 <= trace.level.value <= 1 for trace in held.values())
        assert all(trace.thought.trust <= trust.get(name, math.inf) for name, trace in held.items())
        for rose in outcome.rose if outcome else ():
            assert held[rose.id] == rose
        for name, was in before.items():
            if name in held and act[0] != "wait":
                assert salience.at(held[name].level, now) <= max(was, 0.92) + 1e-12
        assert len(environment._expiry) == len(environment._order) == len(environment._index) == len(held)
        assert set(environment._times) <= set(held) | {thought(n).id for n in range(12)}


@settings(deadline=None, max_examples=20)
@given(ACTS)
def test_the_store_brings_it_all_back(tmp_path_factory, acts):
    environment = world()
    directory = tmp_path_factory.mktemp("mind")

    async def live_twice():
        stores = await open_stores(directory, "alpha", inline=True, synchronous="OFF")
        now = NOON
        for act in acts:
            now += act[1] if act[0] == "wait" else 0
            if (outcome := perform(environment, act, now)) is not None:
                await stores.commit(outcome.writes)
        twin = world()
        twin.restore(environment.snapshot())
        async for batch in stores.traces.live():
            twin.load(batch)
        await stores.close()
        return twin, now

    try:
        live_twice().send(None)
    except StopIteration as ended:
        twin, now = ended.value
    assert {t.id: t for t in twin.live()} == {t.id: t for t in environment.live()}
    assert twin.snapshot() == environment.snapshot()
    assert {w.trace_id for w in twin.sweep(now + 3000).writes} == {
        w.trace_id for w in environment.sweep(now + 3000).writes
    }
