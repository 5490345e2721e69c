from hypothesis import given
from hypothesis import strategies as st

from actors.running import FadingCounts, Habit, RunningRank

values = st.floats(-1e6, 1e6)


@given(st.lists(values, min_size=1, max_size=60), st.integers(1, 20))
def test_a_rank_is_the_share_below_and_half_of_the_equal(numbers, window):
    rank = RunningRank(window)
    for i, number in enumerate(numbers):
        recent = numbers[max(0, i + 1 - window) : i + 1]
        below = sum(v < number for v in recent)
        equal = sum(v == number for v in recent)
        assert rank.update(number) == (below + equal / 2) / len(recent)
        assert rank.rank(number) == (below + equal / 2) / len(recent)
        assert len(rank) == len(recent)


@given(st.lists(values, min_size=1, max_size=60), st.lists(values, max_size=20))
def test_a_snapshot_of_ranks_continues_the_same(before, after):
    one, other = RunningRank(16), RunningRank(16)
    for v in before:
        one.update(v)
    other.load(one.dump())
    assert [one.update(v) for v in after] == [other.update(v) for v in after]


def test_early_ranks_are_doubted():
    rank = RunningRank(100)
    rank.surely(1.0, 20)
    assert 0.5 < rank.surely(2.0, 20) < 0.56
    for i in range(98):
        rank.surely(i / 100, 20)
    assert rank.surely(3.0, 20) > 0.9


@given(st.lists(st.sampled_from("abcdefghij"), max_size=300))
def test_counts_without_pressure_are_exact(keys):
    counts = FadingCounts(100)
    counts.add(keys)
    assert counts.get_all("abcdefghij") == [keys.count(k) for k in "abcdefghij"]
    assert counts.total == len(keys)


def test_counts_are_bounded_and_keep_what_is_common():
    counts = FadingCounts(200)
    for i in range(20_000):
        counts.add(["usual", f"once-{i}"])
        assert len(counts.dump()) <= 202
        assert counts.total == sum(counts.dump().values())
    assert counts.get("usual") > 50
    assert counts.get("once-3") == 0


def test_a_habit_is_told_at_every_doubling_and_is_news_again_after_a_while():
    habit = Habit()
    assert [i for i in range(1, 70) if habit.worth(float(i), 100.0)] == [1, 2, 4, 8, 16, 32, 64]
    assert habit.worth(300.0, 100.0)
    assert habit.count == 1
