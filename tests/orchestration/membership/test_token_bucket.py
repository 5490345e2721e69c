"""A quota and clocks that differ."""

import pytest

from orchestration.membership.ports import QuotaRate
from orchestration.membership.token_bucket import full_bucket

NOW = 1_800_000_000.0
TEN_A_SECOND = QuotaRate(100, 10)


@pytest.mark.parametrize("ahead", [8 * 3600.0, 365 * 86400.0])
def test_a_host_whose_clock_was_wrong_leaves_the_others_their_quota(ahead):
    bucket, taken = full_bucket(TEN_A_SECOND, NOW).take(100, TEN_A_SECOND, NOW + ahead)
    assert taken.granted
    bucket, taken = bucket.take(20, TEN_A_SECOND, NOW)
    assert (taken.granted, taken.retry_after) == (False, 2.0), "what was taken is taken"
    assert bucket.take(20, TEN_A_SECOND, NOW + 2)[1].granted
