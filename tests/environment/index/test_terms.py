"""Associations lead from one trace to another, rare ones further than common ones."""

from hypothesis import given
from hypothesis import strategies as st

from environment.index.terms import Terms


def test_a_rare_term_weighs_more_than_a_common_one():
    terms = Terms()
    for number in range(20):
        terms.add(f"t-{number}", ("server",))
    terms.add("t-rare", ("PUMP-7",))
    terms.add("t-both", ("pump-7", "server"))
    found = terms.search(("server", "Pump-7 "), 3)
    assert [name for name, _ in found][:2] == ["t-both", "t-rare"]
    assert terms.weight("pump-7") > terms.weight("server") > terms.weight("unheard of") == 0


def test_the_latest_comes_first_among_equals_and_fan_out_is_bounded():
    terms = Terms(fan_out=3)
    for number in range(10):
        terms.add(f"t-{number}", ("server",))
    assert [name for name, _ in terms.search(("server",), 99)] == ["t-9", "t-8", "t-7"]


def test_a_common_term_forgets_its_oldest_and_a_trace_keeps_few_terms():
    terms = Terms(per_trace=2, postings=4)
    for number in range(10):
        terms.add(f"t-{number}", ("a", "a", " ", "b", "c"))
    assert {name for name, _ in terms.search(("a",), 99)} == {"t-6", "t-7", "t-8", "t-9"}
    assert terms.search(("c",), 99) == []
    assert terms.of("t-9") == ("a", "b")


def test_a_share_counts_a_term_less():
    terms = Terms()
    terms.add("t-1", ("a",))
    terms.add("t-2", ("b",))
    assert [name for name, _ in terms.search(("a", "b"), 2, {"b": 0.5})] == ["t-1", "t-2"]
    assert [name for name, _ in terms.search(("a", "b"), 2, {"a": 0.5})] == ["t-2", "t-1"]


NAMES, WORDS = st.sampled_from("tuvwxyz"), st.lists(st.sampled_from("abcde"), max_size=4)


@given(st.lists(st.tuples(NAMES, st.none() | WORDS), max_size=60), st.integers(1, 4))
def test_it_holds_no_more_than_it_may_and_nothing_that_went(acts, postings):
    terms = Terms(per_trace=3, postings=postings)
    held = {}
    for name, words in acts:
        held.pop(name, None)
        if words is None:
            terms.remove(name)
        else:
            terms.add(name, words)
            if words:
                held[name] = set(list(dict.fromkeys(words))[:3])
    assert len(terms) == len(held)
    for word in "abcde":
        found = [name for name, _ in terms.search((word,), 99)]
        assert len(found) <= postings
        assert all(word in held[name] for name in found)
    for name in list(held):
        terms.remove(name)
    assert terms.distinct == len(terms) == 0
