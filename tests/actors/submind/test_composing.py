import pytest

from actors.submind.composing import apart


@pytest.mark.parametrize(
    ("time", "said"),
    [
        (1000.0, "just before"),
        (990.0, "just before"),
        (1010.0, "just after"),
        (880.0, "2 min earlier"),
        (1120.0, "2 min later"),
        (1000.0 - 3 * 3600, "3 h earlier"),
        (1000.0 + 3 * 3600, "3 h later"),
        (1000.0 - 2 * 86400, "2 d earlier"),
    ],
)
def test_what_is_recalled_says_when_it_was_on_either_side_of_the_event(time, said):
    assert apart(time, event=1000.0) == said
