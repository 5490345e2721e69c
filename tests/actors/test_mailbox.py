import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.events import Message, Posted, Tick
from actors.mailbox import Mailbox
from tests.actors.making import thought

ONE = thought()


def message(number):
    return Message(ONE, "peer", str(number), "label", 0.5)


class Reference:
    """The promise in its plainest words: a list, searched through every time."""

    def __init__(self, capacity, patience):
        self.capacity, self.patience = capacity, patience
        self.first, self.thoughts, self.dropped, self.number = [], [], 0, 0

    def offer(self, event, priority, now):
        if not isinstance(event, Message):
            if len(self.first) == self.capacity:
                self.dropped += 1
                return False
            self.first.append(event)
            return True
        self.number += 1
        self.thoughts.append((priority - now / self.patience, -self.number, event))
        self.thoughts.sort(key=lambda t: t[:2], reverse=True)
        if len(self.thoughts) > self.capacity:
            self.thoughts.pop()
            self.dropped += 1
            return False
        return True

    def take(self, limit):
        share = limit // 4 if limit >= 4 else int(limit > 1)
        kept = min(len(self.thoughts), share)
        taken, self.first = self.first[: limit - kept], self.first[limit - kept :]
        room = limit - len(taken)
        taken += [event for _, _, event in self.thoughts[:room]]
        self.thoughts = self.thoughts[room:]
        return taken


steps = st.lists(
    st.one_of(
        st.tuples(st.just("thought"), st.floats(0, 1), st.floats(0, 20)),
        st.tuples(st.just("other"), st.just(0.5), st.floats(0, 5)),
        st.tuples(st.just("take"), st.integers(1, 9), st.just(0.0)),
    ),
    max_size=150,
)


@settings(max_examples=200)
@given(steps, st.integers(1, 12), st.sampled_from([1.0, 30.0]))
def test_it_does_what_the_plainest_mailbox_does(script, capacity, patience):
    mailbox, reference = Mailbox(capacity, patience), Reference(capacity, patience)
    now = 1.77e9
    for number, (what, figure, passed) in enumerate(script):
        now += passed
        if what == "take":
            assert mailbox.take(figure) == reference.take(figure)
        else:
            event = message(number) if what == "thought" else Posted(str(number), ())
            assert mailbox.offer(event, figure, now) == reference.offer(event, figure, now)
        assert len(mailbox) == len(reference.first) + len(reference.thoughts)
        assert mailbox.dropped == reference.dropped
        assert len(mailbox._best) <= 2 * capacity + 66
        assert len(mailbox._least) <= 2 * capacity + 66


@settings(max_examples=60)
@given(st.floats(0, 1), st.integers(1, 8), st.integers(1, 5))
def test_nobody_starves(priority, arrivals, patience):
    """A thought is overtaken only by what arrives within ``patience`` seconds of it, however urgent the rest is."""
    mailbox = Mailbox(10_000, float(patience))
    mailbox.offer(message(0), priority, 0.0)
    seen = []
    for second in range(1, 3 * patience + 2):
        for _ in range(arrivals):
            mailbox.offer(message(second), 1.0, float(second))
        seen += [int(e.topic) for e in mailbox.take(arrivals)]
    assert 0 in seen
    assert seen.index(0) <= arrivals * (patience + 1)


@pytest.mark.parametrize("limit", [2, 3, 4, 64])
def test_thoughts_do_not_starve_behind_answers_nor_answers_behind_thoughts(limit):
    mailbox = Mailbox(1000, 30.0)
    for number in range(20):
        mailbox.offer(message(number), 0.5, 0.0)
    thoughts = answers = 0
    for _ in range(10):
        for _ in range(limit):
            mailbox.offer(Tick(), 0.5, 0.0)
        taken = mailbox.take(limit)
        assert len(taken) == limit
        thoughts += sum(isinstance(e, Message) for e in taken)
        answers += sum(not isinstance(e, Message) for e in taken)
    assert thoughts >= min(20, 10 * max(1, limit // 4))
    assert answers >= 10
