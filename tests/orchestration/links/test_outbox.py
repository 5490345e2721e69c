"""What waits for a peer: in order, bounded, the least important goes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.links.outbox import Outbox
from tests.orchestration.links.processes import event


class Reference:
    """The promise in its plainest words: a list, searched through every time."""

    def __init__(self, capacity):
        self.capacity, self.envelopes = capacity, []

    def put(self, event, priority, *, room):
        self.envelopes.append((event, priority))
        if len(self.envelopes) <= self.capacity and room:
            return True
        least = min(range(len(self.envelopes)), key=lambda at: (self.envelopes[at][1], -at))
        del self.envelopes[least]
        return False

    def take(self, limit):
        taken, self.envelopes = self.envelopes[:limit], self.envelopes[limit:]
        return taken


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.booleans()),
        st.tuples(st.just("put"), st.floats(0, 1), st.just(True)),
        st.tuples(st.just("take"), st.integers(1, 20), st.none()),
    ),
    max_size=200,
)


@settings(max_examples=200)
@given(STEPS, st.integers(1, 24))
def test_it_does_what_the_plainest_outbox_does(steps, capacity):
    outbox, reference = Outbox(capacity), Reference(capacity)
    for number, (what, figure, room) in enumerate(steps):
        if what == "put":
            assert outbox.put(event(number), figure, room=room) == reference.put(event(number), figure, room=room)
        else:
            assert outbox.take(figure) == reference.take(figure)
        assert len(outbox) == len(reference.envelopes) <= capacity


@pytest.mark.parametrize("taken", [0, 1])
def test_what_is_kept_of_a_flood_is_bounded(taken):
    outbox = Outbox(100)
    for number in range(20_000):
        outbox.put(event(number), number % 97 / 97)
        outbox.take(taken * (number % 2))
        assert len(outbox._envelopes) <= 100
        assert len(outbox._ranks) <= 2 * 100 + 66
