"""What is news of a population is the same as if all who were ever born were looked at."""

from dataclasses import replace

from orchestration.growth import actor_messages
from orchestration.growth.history import DAY
from orchestration.growth.recent import RecentMembers
from tests.orchestration.growth.test_policy import NOON, division, grant, policy, retirement


def plainly(to, now):
    members = list(to.members.values())
    changed = [m for m in members if (m.born if m.retired is None else m.retired) > now - DAY]
    return changed, actor_messages.unsettled(members)


def test_it_is_what_a_look_at_everybody_finds():
    to = policy()
    lately = RecentMembers(to)
    assert (lately.changed(NOON), lately.unsettled(NOON)) == ([], [])
    first = grant(to, division(growth="1")).name
    assert (lately.changed(NOON), lately.unsettled(NOON)) == plainly(to, NOON)
    to.members[first] = replace(to.members[first], settled=True)  # which no event says
    second = grant(to, division(growth="2")).name
    grant(to, retirement(first, "causes"))
    for now in (NOON, NOON + DAY / 2, NOON + DAY, NOON + 2 * DAY):
        assert (lately.changed(now), lately.unsettled(now)) == plainly(to, now)
    to.members[second] = replace(to.members[second], settled=True)
    assert lately.unsettled(NOON) == plainly(to, NOON)[1] == [("causes", to.members[first])]
    assert not lately.changed(NOON + 2 * DAY)
