from __future__ import annotations

from actors.effects import WakeAt
from actors.events import Marked, Tick
from actors.knowledge.clusters import CLUSTERS
from actors.knowledge.fact import HAPPENS, PROGRESS, RECURS, SLEEPS, Fact, FactStanding, SleepReport
from environment.identity import perception_id
from environment.marks import FeedbackMark, MarkKind
from tests.actors.knowledge.test_knowledge import DAY, HOUR, NOON, World

MIDNIGHT = NOON - 12 * HOUR  # Tuesday, 2026-03-03


def nights(world: World, days: range, text: str = "cron[{n}]: orders backup finished, {n} files, exit 0") -> None:
    for day in days:
        world.line(text.format(n=900 + 7 * day), MIDNIGHT + day * DAY + 2 * HOUR, "cron")
        sleep(world, MIDNIGHT + day * DAY + 12 * HOUR)


def sleep(world: World, until: float) -> None:
    """Let time go by, as who drives the core does."""
    due = world.core._due
    while due <= until:
        due = next(e.at for e in world.tell(Tick(), due) if isinstance(e, WakeAt))


def gists(world: World) -> list[Fact]:
    return [fact for fact in world.facts if fact.relation == RECURS]


def sleeps(world: World) -> list[SleepReport]:
    return [world.kept[SLEEPS.name][key] for key in sorted(world.kept[SLEEPS.name])]  # type: ignore[misc]


def test_many_episodes_give_a_gist_that_keeps_them() -> None:
    world = World()
    nights(world, range(1, 16))
    (gist,) = gists(world)
    assert gist.subject == "cron orders backup finished files exit"
    assert gist.value == "nightly about 02:00, 15 times since 4 March"
    assert (gist.sightings, gist.trust, gist.open) == (15, 0.5, True)
    assert gist.evidence[0].id == perception_id(1)
    assert gist.evidence[-1].id == perception_id(15)
    assert len(gist.evidence) == world.settings.evidence
    new = [line for report in sleeps(world) for line in report.gists.lines]
    assert [(one.entity, one.why) for one in new] == [(gist.subject, "new")]


def test_what_speaks_against_it_is_told_and_kept() -> None:
    world = World()
    nights(world, range(1, 10))
    world.line("cron[77]: orders backup failed: disk full", MIDNIGHT + 10 * DAY + 2 * HOUR, "cron")
    nights(world, range(11, 14))
    world.line("cron[78]: orders backup finished, 9 files, exit 1", MIDNIGHT + 14 * DAY + 2 * HOUR, "cron")
    nights(world, range(15, 17))
    (gist,) = gists(world)
    assert "not on 13 March" in gist.value
    assert "“cron[77]: orders backup failed: disk full”" in gist.value
    assert "on 17 March “cron[78]: orders backup finished, 9 files, exit 1”" in gist.value
    assert {ref.id for ref in gist.against} == {perception_id(10), perception_id(14)}
    assert gist.confidence < 1


def test_what_comes_otherwise_is_another_gist_and_the_one_before_stays_known() -> None:
    world = World()
    nights(world, range(1, 12))
    for day in range(12, 24):
        world.line(f"cron[{day}]: orders backup finished, {day} files, exit 0", MIDNIGHT + day * DAY + 6 * HOUR, "cron")
        sleep(world, MIDNIGHT + day * DAY + 12 * HOUR)
    before, now = sorted(gists(world), key=lambda gist: gist.since)
    assert (before.value.split(",")[0], now.value.split(",")[0]) == ("nightly about 02:00", "daily about 06:00")
    assert before.value == "nightly about 02:00, 11 times since 4 March"
    assert (before.open, now.open) == (False, True)
    assert before.until is not None
    assert before.until <= now.since
    assert "did not come so" in before.reason
    assert [line.why for r in sleeps(world) for line in r.gists.lines][-1] == "otherwise than before"


def test_people_say_the_same_in_other_words() -> None:
    world = World()
    said = ("Ana: the Lido van is here", "Bo: Lido van just arrived, 4 crates", "Cleo: here comes the Lido van")
    for n, what in enumerate(("post", "soup", "rain", "clerk", "crowd", "tram")):
        for m, told in enumerate(("the {} has come", "{} arrived", "crates for the {}")):
            world.line(f"Dee: {told.format(what)}", MIDNIGHT + (13 + n + m / 10) * HOUR)
    for day in range(1, 20):
        world.line(said[day % 3], MIDNIGHT + day * DAY + 9 * HOUR)
        sleep(world, MIDNIGHT + day * DAY + 12 * HOUR)
    (gist,) = gists(world)
    assert gist.value == "daily about 09:00, 19 times since 4 March"


def test_nothing_is_made_of_a_hum_or_of_what_comes_by_chance() -> None:
    world = World()
    for minute in range(0, 8 * 24 * 60, 7):
        world.line(f"web: heartbeat ok rss={minute}M", MIDNIGHT + minute * 60.0, "web")
    for n, hour in enumerate((3, 30, 41, 70, 77, 101, 130, 165, 170)):
        world.line(f"pump station tripped, {n} bar", MIDNIGHT + hour * HOUR + n * 600, "plc")
    sleep(world, MIDNIGHT + 9 * DAY)
    assert gists(world) == []
    assert sleeps(world)


def test_who_dies_anywhere_makes_the_same_gists() -> None:
    whole, died = World(), World()
    for day in range(1, 14):
        for world in (whole, died):
            nights(world, range(day, day + 1))
        if day % 3:
            died.born()
    assert died.facts == whole.facts
    assert died.kept[CLUSTERS.name] == whole.kept[CLUSTERS.name]


def test_a_gist_that_somebody_said_is_wrong_is_not_made_again() -> None:
    world = World()
    nights(world, range(1, 12))
    (gist,) = gists(world)
    mark = FeedbackMark("k-1", gist.entity, MarkKind.CORRECT, NOON + 20 * DAY, "ann", text=RECURS)
    world.tell(Marked((mark,)), NOON + 20 * DAY)
    nights(world, range(21, 30))
    assert [one.standing for one in gists(world)] == [FactStanding.WRONG]


def test_a_report_tells_what_was_merged_faded_denied_and_rehearsed() -> None:
    world = World()
    world.line("Ana: ladder 7 is in bay 3", MIDNIGHT + 13 * HOUR)
    world.line("Bo: ladder 7 is in hall 2", MIDNIGHT + 13.5 * HOUR)
    world.line("Ana: I'll send the north report by Friday", MIDNIGHT + 14 * HOUR)
    sleep(world, MIDNIGHT + 1.5 * DAY)
    (report,) = sleeps(world)
    assert (report.reason, report.perceptions, report.since) == ("quiet", 3, NOON)
    (denied,) = report.contradictions.lines
    assert (denied.entity, denied.text) == ("ladder 7", "location: bay 3 or hall 2")
    assert [line.why for line in report.rehearsed.lines] == ["owed"]
    assert world.kept[PROGRESS.name]["progress"].day == SleepReport(since=report.at)  # type: ignore[attr-defined]


def test_it_sleeps_once_a_night_and_earlier_where_little_comes() -> None:
    world = World()
    for hour in range(10):
        for n in range(30):
            world.line(f"door {chr(97 + n % 26)}{hour} opened by somebody", NOON + hour * HOUR + n, "door")
        sleep(world, NOON + hour * HOUR)
    sleep(world, NOON + 3 * DAY)
    early, *later = sleeps(world)
    assert early.reason == "quiet"
    assert NOON + 12 * HOUR <= early.at < NOON + 15 * HOUR
    assert len(later) == 2


def test_what_was_over_before_it_was_read_is_known_with_until_when() -> None:
    world = World()
    for day in range(1, 13):
        world.line(f"cron[{day}]: orders backup finished, {day} files, exit 0", MIDNIGHT + day * DAY + 2 * HOUR, "cron")
    world.tell(Tick(), MIDNIGHT + 60 * DAY)
    (gist,) = gists(world)
    assert gist.value == "nightly about 02:00, 12 times since 4 March"
    assert (gist.until, gist.closed is not None) == (MIDNIGHT + 12 * DAY + 2 * HOUR, True)


def troubled(world: World, days: tuple[int, ...]) -> None:
    for n, day in enumerate(days):
        at = MIDNIGHT + day * DAY + (8 + 5 * n % 11) * HOUR
        world.line(f"orders pump: suction pressure low, {n} bar", at, "plc")
        world.line(f"orders pump: tripped, code {n}", at + 600 + 60 * n, "plc")
        world.line(f"orders pump: running at {n} rpm", at + 3600 + 300 * n, "plc")
        for other in range(5):
            world.line(f"valve {chr(97 + other)} closed by hand", at - (3 + other) * HOUR, "plc")
        sleep(world, MIDNIGHT + (day + 1.5) * DAY)


def happens(world: World) -> dict[str, Fact]:
    return {fact.subject: fact for fact in world.facts if fact.relation == HAPPENS}


def test_what_comes_at_no_certain_times_is_counted_with_what_comes_before_and_after() -> None:
    world = World()
    troubled(world, (1, 4, 5, 9, 15, 22, 30))
    gist = happens(world)["orders pump tripped code"]
    assert gist.value.startswith("7 times since 4 March (6 in March 2026 and 1 in April 2026), the last on 2 April")
    assert "; about 13 minutes before it “orders pump suction pressure low bar” (7 of 7 times)" in gist.value
    assert "; about 62 minutes after it “orders pump running at rpm” (7 of 7 times)" in gist.value
    said = {each.id: each.text for each in world.log}
    assert {said[ref.id].split(":")[1].split()[0] for ref in gist.evidence} == {"suction", "tripped,", "running"}
    assert len(gist.perceptions) == 3, "it is forgotten with any line whose words it tells"
    assert gist.sightings == 7


def test_what_comes_at_the_same_time_of_every_day_comes_along_with_nothing() -> None:
    world = World()
    for day in range(1, 31):
        world.line(f"shift {day} begins at the press", MIDNIGHT + day * DAY + 8 * HOUR, "plc")
        if day in {2, 3, 9, 17, 18, 29}:
            world.line(f"press failed, code {day}", MIDNIGHT + day * DAY + 8.1 * HOUR, "plc")
    sleep(world, MIDNIGHT + 32 * DAY)
    assert [fact.value for fact in happens(world).values()] == [
        "6 times since 5 March (5 in March 2026 and 1 in April 2026), the last on 1 April"
    ]


def test_people_who_speak_of_other_things_in_like_words_are_not_counted_together() -> None:
    world = World()
    for day in range(1, 20):
        gate = ("north", "south", "cellar")[day % 3]
        world.line(f"{'Ana' if day % 2 else 'Bo'}: the {gate} gate is stuck", MIDNIGHT + (day + day % 5 / 9) * DAY)
        sleep(world, MIDNIGHT + (day + 1) * DAY)
    assert {fact.sightings for fact in happens(world).values()} <= {6, 7}


def test_who_says_it_mostly_is_told() -> None:
    world = World()
    for n, day in enumerate((1, 2, 6, 9, 15, 22)):
        who = "Bo" if n == 3 else "Ana"
        world.line(f"{who}: the cellar gate is stuck", MIDNIGHT + day * DAY + (9 + n) * HOUR)
        sleep(world, MIDNIGHT + (day + 1) * DAY)
    (gist,) = happens(world).values()
    assert gist.value.endswith("; mostly by Ana, 5 of 6 times")
