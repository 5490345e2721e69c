from dataclasses import replace

from actors.attention.marks import StandingMutes
from actors.attention.settings import AttentionSettings
from actors.attention.taste import template_of
from actors.effects import Count
from actors.events import Marked, Muted, Salient
from environment.goals import Pursued
from environment.marks import FeedbackMark, MarkKind, MuteScope
from tests.actors.attention.test_attention import attention, feed
from tests.actors.making import trace, unit

ALARM = {"threat": 1.2, "alarm": 0.9}


def mute(of, value, until=1e6, **more):
    return FeedbackMark(f"k-{value}", "1", MarkKind.MUTE, 0.0, "ann", "", of=of, value=value, until=until, **more)


def said(n, source="nginx", text="nginx says 7 things", **more):
    return trace(time=60.0 * n, salience=0.9, vector=unit(n), source=source, text=text, **more)


def test_what_is_muted_is_not_said_while_it_is_but_for_critical_alarms():
    form = template_of("nginx says 8 things")
    for mark in (mute(MuteScope.SOURCE, "nginx", 600.0), mute(MuteScope.TEMPLATE, form, 600.0)):
        core = attention(refractory=0.0)
        core.handle(Marked((mark,)), 0.0)
        counted = [e for n in range(1, 6) for e in core.handle(Salient((said(n),)), 60.0 * n)]
        assert counted.count(Count("muted_total")) == 5
        alarm = said(7, evidence=ALARM)
        other = said(9, "chat", "lunch is served")
        late = said(20)
        assert [c.focus.id for c in feed(core, [alarm, other, late])] == [alarm.id, other.id, late.id]
        core.handle(Marked((replace(mark, until=1e6, undone=True),)), 1300.0)
        assert feed(core, [said(30)])


def test_lines_of_a_muted_matter_are_dropped_even_while_they_are_held():
    core = attention(refractory=0.0, welcome=0)
    held = said(1)
    core.handle(Salient((held,)), 60.0)
    core.handle(Muted((held.id,), 1e6), 61.0)
    assert core.finish(62.0) == [Count("muted_total")]
    insight = said(3, parents=(held.id,))
    assert feed(core, [insight]) == []
    core.handle(Muted((held.id,), 0.0), 200.0)
    assert feed(core, [said(5, parents=(held.id,))])


def test_nothing_is_muted_by_itself_before_1970():
    core = attention(welcome=1)
    core.handle(Marked((mute(MuteScope.SOURCE, "nginx"),)), -1e7)
    assert feed(core, [trace(time=-1e7, salience=0.9, source="chat")])


def test_what_was_marked_not_useful_counts_less_and_what_is_critical_does_not():
    def after(marks, source="nginx", salience=0.5, **more):
        return StandingMutes(marks).weighed(said(1, source, "so it is", **more).thought, salience, AttentionSettings())

    marks = [
        FeedbackMark(f"k-{source}{i}", str(i), kind, 0.0, "ann", f"{source} {i}", sources=(source,))
        for i in range(4)
        for kind, source in ((MarkKind.NOT_USEFUL, "nginx"), (MarkKind.USEFUL, "chat"))
    ]
    assert 0.18 < after(marks) < 0.4, "at most 1.5 in log odds"
    assert 0.6 < after(marks, "chat") < 0.82
    assert after(marks, "mail") == 0.5, "nothing is known of it"
    assert after(marks, evidence=ALARM) == 0.5
    assert after(marks, salience=0.7, evidence={"tempo": 1.0}) == 0.7, "likely, while more is said than usual"
    assert after(marks, salience=0.7, evidence={"tempo": 0.4}) < 0.6
    assert after(marks, "chat", 0.2) == 0.2, "routine stays routine"
    assert after([replace(mark, undone=True) for mark in marks]) == 0.5


def test_what_marks_lift_is_not_lifted_again_when_it_is_judged_again():
    core, values, liked = attention(), [], trace(time=60.0, salience=0.5, source="chat")
    core._compete = lambda held: [values.append(held.value)][1:]
    core.handle(Marked((FeedbackMark("k", "1", MarkKind.USEFUL, 0.0, "ann", "x", sources=("chat",)),)), 0.0)
    core.handle(Salient((liked, liked)), 60.0)
    assert values[0] > values[1] == 0.5


def test_what_bears_on_a_goal_counts_more_by_its_weight_once_and_nothing_counts_less():
    def values(goals, text="the boilers leak", **more):
        core, found = attention(goal_lift=2.0), []
        core._compete = lambda held: [found.append((held.value, held.parts.get("goal", 0.0)))][1:]
        core.handle(Pursued(goals), 0.0)
        of = trace(time=60.0, salience=0.5, text=text, **more)
        core.handle(Salient((of, of)), 60.0)
        return found

    (lifted, part), again = values({"boiler": 0.5, "pump": 0.9})
    assert (round(part, 3), again) == (1.0, (0.5, 0.0))
    assert round(lifted, 3) == 0.731
    assert values({"boiler room": 0.5})[0][1] == 0.5, "half of its words"
    assert values({"pump": 0.9, "boiler": 0.0})[0] == (0.5, 0.0)
    assert values({"pump": 0.9}, evidence=ALARM)[0] == (0.5, 0.0)


def test_goals_of_the_configuration_lower_no_critical_alarm():
    core, found = attention(goal_weight=1.0), []
    core._compete = lambda held: [found.append(held.value)][1:]
    core._weighing._goals = (unit(1),)
    for n, vector in enumerate([unit(1), -unit(1), -unit(1)]):
        core.handle(
            Salient((trace(time=60.0 * n, salience=0.5, vector=vector, evidence=ALARM if n > 1 else {}),)), 60.0 * n
        )
    assert found[1] < 0.5 <= found[2]
