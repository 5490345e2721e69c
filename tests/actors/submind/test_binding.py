import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.handover import Goal
from actors.settings import BindingSettings
from actors.submind.binding import Binder, BindingWindow
from environment.messages import PerceptionRef
from tests.actors.making import thought, unit

GOALS = [Goal("cold", unit(900)), Goal("bank", unit(901))]
SETTINGS = BindingSettings(kin=0.6, apart=300.0, same=0.92)


def near(seed, other, likeness):
    """A unit vector at the given cosine to ``unit(seed)``."""
    base, side = unit(seed), unit(other)
    side = side - (side @ base) * base
    side /= np.linalg.norm(side)
    return (likeness * base + np.sqrt(1 - likeness**2) * side).astype(np.float32)


def event(**given):
    return thought(**{"time": 10_000.0, "vector": unit(1), "associations": ("fan-22b", "compressor"), **given})


def memory(**given):
    shared = {"source": "alerts", "associations": ("fan-22b",)}
    return thought(**{"time": 1000.0, "vector": near(1, 2, 0.7), **shared, **given})


def bind(events, memories, goals=GOALS, binder=None):
    return (binder or Binder(SETTINGS)).bind(events, memories, goals)


def test_what_is_about_one_thing_is_bound():
    one, other = event(), memory(associations=("fan-22b", "filter"))
    bound = bind([one], [memory(vector=unit(77), associations=()), other])
    assert (bound.event, bound.memory) == (one, other)
    assert bound.shared == ("fan-22b",)
    assert str(bound.tie.to(other.id)) == "entity: both name fan-22b"
    assert 0 <= bound.focus <= 1


def test_nothing_related_is_nothing_bound():
    assert bind([event()], []) is None
    assert bind([], [memory()]) is None
    assert bind([event()], [memory(vector=unit(77), associations=())]) is None


def test_the_same_perception_is_not_bound_with_itself():
    ref = PerceptionRef("p-shared", 1000.0, "alerts")
    one = event(perceptions=(ref, PerceptionRef("p-a", 10_000.0, "chat")))
    other = memory(perceptions=(PerceptionRef("p-b", 900.0, "chat"), ref))
    assert bind([one], [other]) is None
    assert bind([one], [one]) is None


def test_the_same_said_again_adds_nothing():
    assert bind([event()], [memory(vector=near(1, 2, 0.95))]) is None


def test_what_was_said_a_moment_ago_is_no_memory():
    assert bind([event()], [memory(time=10_000.0 - 200)]) is None
    assert bind([event()], [memory(time=10_000.0 - 301)]) is not None
    assert bind([event()], [memory(time=20_000.0)]) is None


terms = st.lists(st.sampled_from(["fan-22b", "room2", "bank", "letter", "oven"]), max_size=4, unique=True)
parts = st.tuples(st.integers(0, 6), st.integers(0, 12), st.floats(0, 20_000), terms, st.floats(0, 1))


def made(spec, author):
    seed, perception, time, associations, salience = spec
    return thought(
        author=author,
        vector=near(1, 2 + seed, min(0.99, 0.4 + seed / 10)),
        perception=f"p-{perception}",
        time=time,
        associations=tuple(associations),
        salience=salience,
    )


@settings(max_examples=150)
@given(st.lists(parts, max_size=12), st.lists(parts, max_size=12), st.integers(1, 3))
def test_no_binding_rests_twice_on_one_perception(events, memories, rounds):
    binder = Binder(SETTINGS)
    events, memories = [made(e, "text") for e in events], [made(m, "other") for m in memories]
    for _ in range(rounds):
        bound = bind(events, memories, binder=binder)
        if bound is None:
            continue
        assert bound.event in events
        assert bound.memory in memories
        assert bound.goal in GOALS
        assert not {p.id for p in bound.event.perceptions} & {p.id for p in bound.memory.perceptions}
        assert float(bound.event.vector @ bound.memory.vector) < SETTINGS.same
        assert bound.event.time - bound.memory.time >= SETTINGS.apart
        assert set(bound.shared) == set(bound.event.associations) & set(bound.memory.associations)
        assert 0 <= bound.focus <= 1
        assert bound.tie.strength >= SETTINGS.kin


def test_the_order_of_candidates_does_not_matter():
    events = [event(salience=s, vector=near(1, 30 + i, 0.9)) for i, s in enumerate((0.2, 0.9, 0.5))]
    memories = [memory(vector=near(1, 40 + i, c), salience=c) for i, c in enumerate((0.85, 0.7, 0.8))]
    one = bind(events, memories)
    other = bind(events[::-1], memories[::-1], GOALS[::-1])
    assert (one.event, one.memory, one.goal) == (other.event, other.memory, other.goal)


def test_the_window_is_bounded_in_number_and_time():
    window = BindingWindow(BindingSettings(window=300.0, window_events=8))
    for i in range(50):
        window.add(event(time=float(i), at=float(i)))
    assert len(window) == 8
    assert [e.at for e in window.events(345.0)] == [45.0, 46.0, 47.0, 48.0, 49.0]
    window.remove([window.events(345.0)[0].id, "unknown"])
    assert len(window) == 4
    assert window.events(1000.0) == []
