from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from actors.perception.folding import Folding, Turn
from actors.perception.settings import FoldingSettings


def turns(folding, times, template="t", source="s"):
    return [folding.take(source, template, t)[0] for t in times]


def test_a_flood_of_equal_lines_is_few_events():
    folding = Folding(FoldingSettings())
    seen = Counter(turns(folding, [i / 1000 for i in range(100_000)]))
    assert seen[Turn.NEW] == 1
    assert 2 <= seen[Turn.SURGE] <= 6
    assert seen[Turn.RETURN] == 0
    assert folding.folded == 99_999
    assert len(folding) == 1


def test_a_steady_rate_however_high_is_not_a_surge_for_ever():
    folding = Folding(FoldingSettings())
    seen = turns(folding, [i / 10 for i in range(40_000)])
    assert Turn.SURGE not in seen[20_000:]


def test_what_begins_anew_time_after_time_is_a_habit_and_once_a_week_it_is_none():
    for apart, last in ((8 * 3600, Turn.HABIT), (7 * 86_400, Turn.AGAIN)):
        first, *_, latest = turns(Folding(FoldingSettings()), [apart * n for n in range(12)])
        assert (first, latest) == (Turn.NEW, last)


def test_much_faster_than_before_is_a_surge_and_says_how_many():
    folding = Folding(FoldingSettings(window=120.0, surge=8.0, least=12))
    now = 0.0
    for _ in range(60):
        now += 60
        assert folding.take("s", "t", now)[0] is not Turn.SURGE
    for i in range(100):
        now += 0.1
        turn, series, _ = folding.take("s", "t", now)
        if turn is Turn.SURGE:
            assert series.in_window >= 8 * 2
            assert i >= 12
            return
    raise AssertionError("no surge")


def test_what_is_long_forgotten_is_new_again():
    folding = Folding(FoldingSettings(forget_after=3600.0))
    assert turns(folding, [0, 1, 3602]) == [Turn.NEW, Turn.REPEAT, Turn.AGAIN]
    assert not folding.known("s", "t", 9999)
    assert folding.known("s", "t", 3700)
    assert not folding.known("other", "t", 3700)


lines = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.sampled_from([0.0, 0.01, 1.0, 60.0, 4000.0])),
    max_size=120,
)


@given(lines)
def test_the_first_line_of_a_template_is_new_and_every_line_is_counted(log):
    folding = Folding(FoldingSettings(forget_after=1e9))
    seen, now = set(), 0.0
    for template, source, gap in log:
        now += gap
        turn, _, _ = folding.take(source, template, now)
        assert (turn is Turn.NEW) == ((source, template) not in seen)
        seen.add((source, template))
    assert folding.folded == len(log) - len(seen)
