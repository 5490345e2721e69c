"""What a caller is told by a host that stands by."""

import pickle

import grpc
import pytest

from orchestration.feed.problems import refusal_of
from orchestration.gateway.error_answers import describe
from orchestration.gateway.errors import StandingBy


@pytest.mark.parametrize("leader", ["host-2:50051", ""])
def test_a_caller_learns_who_leads_and_when_to_come_back(leader):
    error = pickle.loads(pickle.dumps(StandingBy(leader, 2.0)))  # noqa: S301 - made here
    told = describe(error)
    assert (told.code, told.retry_after) == (grpc.StatusCode.UNAVAILABLE, 2.0)
    assert (leader or "nobody is known to lead") in told.text
    (info,) = told.details
    assert (info.reason, info.domain, info.metadata["leader"]) == ("STANDING_BY", "submind", leader)
    refusal = refusal_of(error)
    assert (refusal.status, refusal.retry_after) == (503, 2.0)
    assert leader in refusal.detail
