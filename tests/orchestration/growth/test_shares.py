"""What processes are told that they may spend, while those that retired still spend what they had."""

from dataclasses import replace
from itertools import permutations

import pytest

from orchestration.growth.history import DAY
from orchestration.growth.shares import BudgetShares
from tests.orchestration.growth.test_policy import CONFIGURED, NOON, division, grant, policy, retirement


def test_a_share_is_given_back_when_the_process_that_had_it_has_ended():
    to = policy()
    shares = BudgetShares(to)
    child = grant(to, division()).name
    grant(to, retirement(child, "causes"))
    shares.leaving.add(child)
    assert (shares.of("causes"), shares.predecessors("causes", NOON)) == (0.5, ())
    shares.leaving.discard(child)
    assert (shares.of("causes"), shares.predecessors("causes", NOON)) == (1.0, (child,))
    assert shares.predecessors("causes", NOON + DAY) == (), "what it had spent counts no more"
    assert shares.of("attention") == 1.0


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_line_of_heirs_that_all_end_at_once_gives_back_each_share_once(order):
    to = policy()
    shares = BudgetShares(to)
    first = grant(to, division(growth="1")).name
    second = grant(to, division(growth="2")).name
    third = grant(to, division(growth="3")).name
    for gone, heir in ((first, second), (second, third), (third, "people")):
        left = grant(to, retirement(gone, heir))
        to.members[gone] = replace(left, settled=True)  # its heir has taken over what it left
        shares.leaving.add(gone)
    assert (shares.of("causes"), shares.of("people")) == (0.125, 1.0)
    had = {first: 0.5, second: 0.25, third: 0.125}
    names = list(had)
    for which in order:
        shares.leaving.discard(names[which])
        spending = sum(had[gone] for gone in shares.leaving)
        assert shares.of("causes") + shares.of("people") + spending <= 2.0
    assert shares.of("people") == 1.875
    assert set(shares.predecessors("people", NOON)) == set(names)
    assert sum(shares.of(name) for name in CONFIGURED if name != "text") == 2.0
