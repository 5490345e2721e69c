"""The example's day, its candidates judged by a server whose ratings come from labels."""

import csv

import pytest

from actors.attention.pacing import Budget
from orchestration.settings import Settings
from orchestration.simulation.replay import replay
from tests.orchestration.simulation.histories import day
from tests.servers.label_judge import EXAMPLES, by_labels, judging


async def told(url="", judge=4.0):
    """Thoughts about the day, the counters, and how much of 24 turning points is told within ten minutes."""
    model = {"kind": "openai", "server": {"base_url": url, "attempts": 1}, "fast": {"name": "labels"}} if url else {}
    history, counters = day(), {}
    budget = Budget(24, len(history), history[-1].time - history[0].time)
    settings = Settings(substrate=model, attention={"judge": judge})
    entries = [e async for e in replay(settings, history, budget=budget, ended=counters.update)]
    with (EXAMPLES / "day.labels.csv").open(encoding="utf-8", newline="") as lines:
        turns = {row["key"] for row in csv.DictReader(lines) if row["part"] == "turn"}
    places = {(p.source, p.time) for p in history if p.key in turns}
    soon = {(p.source, p.time) for e in entries for p in e.perceptions if e.at - p.time < 600}
    return entries, counters, len(places & soon) / len(places)


@pytest.fixture(scope="module")
def judged():
    with judging(by_labels(noise=0.0)) as url:
        yield url


async def test_a_good_judge_has_more_turning_points_told_and_the_same_ones_each_time(judged):
    _, _, before = await told()
    entries, counters, after = await told(judged)
    assert after >= before + 0.15
    assert counters["judgements_total"] > 50
    assert not [name for name in counters if name.startswith("judgements_missing")]
    parts = [e.why.parts["judge"] for e in entries if e.why and "judge" in e.why.parts]
    assert len(parts) > 5
    assert max(map(abs, parts)) <= 4
    again, _, _ = await told(judged)
    assert [(e.id, e.why) for e in again] == [(e.id, e.why) for e in entries]


async def test_one_that_rates_all_alike_changes_nothing_and_of_one_that_rates_none_that_is_counted(judged):
    with judging(lambda *_: 2) as alike, judging(lambda *_: None) as silent:
        plain, _, _ = await told(alike, judge=0.0)
        same, counters, _ = await told(alike)
        without, missing, _ = await told(silent)
    assert counters["judgements_total"] > 50
    assert [e.focus for e in plain] == [e.focus for e in same]
    assert missing["judgements_missing_total:form"] > 50
    assert "judgements_total" not in missing or not missing["judgements_total"]
    assert len({e.focus for e in plain} & {e.focus for e in without}) >= 0.8 * len({e.focus for e in plain})
