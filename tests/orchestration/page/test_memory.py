"""The memory on the page: what is found again, an entity's page, the drawing around it, what is to be settled."""

import pytest
from playwright.sync_api import expect

from actors.effects import Commit
from actors.events import Marked, Perceived
from actors.knowledge import fact as known
from actors.knowledge.core import KnowledgeCore
from actors.knowledge.settings import KnowledgeSettings
from actors.matters.matter import LOOPS, MATTERS, Matter, MatterLine, MatterState, OpenLoop
from environment.goals import GOALS, GoalLayer, GoalSignal, SignalKind, StandingGoal, goal_id
from environment.marks import MARKS
from environment.messages import PerceptionRef
from tests.orchestration.page.conftest import finish

HARM = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
HOUR = 3600.0
SAID = (
    ("Mags O.: I'm on call for press 4", 90),
    ("press 4 is in hall 2", 80),
    ("Bo: press 4 is in bay 3", 79.5),
    ("@mags is the deputy of team north", 50),
    ("Theo takes over on call for press 4 from Mags", 30),
    ("the flood causes the outage", 20),
    ("press 4 weighs 900 kg", 14),
)


def hear(world, event=None):
    """The core of knowledge, as it is built from the store, hears what it has not yet, or an event."""
    kept = world.stores.collections
    parts = (finish(one.all_of(kept)) for one in (known.FACTS, known.ENTITIES, known.NAMES, known.CONTRADICTIONS))
    progress = finish(known.PROGRESS.get(kept, "progress")) or known.Progress()
    core = KnowledgeCore("knowledge", *parts, progress, KnowledgeSettings())
    for one in finish(world.stores.perceptions.read(progress.cursor, 1000)) if event is None else [event]:
        effects = core.handle(Perceived((one,), {}) if event is None else one, world.now)
        finish(world.stores.commit([effect.write for effect in effects if isinstance(effect, Commit)]))


@pytest.fixture
def knowing(world):
    for text, hours in SAID:
        world.perceive(text, age=hours * HOUR)
    hear(world)
    return world


def know(page, name):
    page.evaluate("(name) => { location.hash = '#know=' + encodeURIComponent(name) }", name)
    page.wait_for_selector(f".entity-name:has-text({name!r})")
    page.wait_for_selector(".known-graph .centre[transform]")


@pytest.mark.parametrize("width", [390, 1280])
def test_recalls_what_was_perceived_with_reasons_and_what_stands_beside(knowing, read, width):
    source = "<b>mallory</b>" + "s" * 100
    knowing.perceive(f"the keg of {HARM} is empty", source, age=500)
    knowing.perceive("who emptied that?", source, age=490)
    reader = read(width=width)
    page = reader.open()
    page.click('#views [data-view="memory"]')
    page.wait_for_selector(".chips")
    page.fill("#recall-words", "keg of press 4")
    page.keyboard.press("Enter")
    page.wait_for_selector("#memory .hits > li")
    assert page.locator("#memory .chips a").all_inner_texts() == ["press 4"]
    hit = page.locator(f"#memory .hits > li:has-text({'mallory'!r}):has(.words:has-text('keg'))")
    assert HARM in hit.locator("> .words").inner_text()
    assert "has “keg”" in hit.inner_text()
    assert "who emptied that?" in hit.locator(".beside").all_inner_texts()[-1]
    assert page.locator("#memory img, #memory script, #memory b").count() == 0
    assert reader.overflow() <= 0
    hit.locator(":scope > .meta a").click()
    page.wait_for_selector('#panel [role="tree"]')
    assert HARM in page.inner_text("#panel")
    page.keyboard.press("Escape")
    reader.until("location.hash === '#recall=keg%20of%20press%204'")
    page.fill("#recall-words", "zzyzx")
    page.keyboard.press("Enter")
    page.wait_for_selector("#memory-content :text('Fewer words find more')")


def test_an_entity_has_all_that_is_known_of_it(knowing, read):
    ref = PerceptionRef(
        *(getattr(finish(knowing.stores.perceptions.read(0, 1))[0], f) for f in ("id", "time", "source"))
    )
    owed = [
        OpenLoop("l-1", "Mags: i'll grease it", ref, knowing.now + HOUR, asked=False, terms=["mags"]),
        OpenLoop("l-2", f"@mags, the key? {HARM}", ref, knowing.now + HOUR, asked=True, dated=False, terms=["mags"]),
        OpenLoop("l-3", "Bo: i'll tell Mags", ref, knowing.now + HOUR, asked=False, terms=["mags"]),
    ]
    line = MatterLine("t-1", "it clicks", ref, 0.7)
    times = (knowing.now - HOUR, knowing.now - 60)
    matter = Matter("m-1", f"a click {HARM}", MatterState.GROWING, *times, 0.7, [line], 1, ["chat"], ["mags"])
    finish(knowing.stores.commit([*(LOOPS.write(each.id, each) for each in owed), MATTERS.write("m-1", matter)]))
    reader = read(width=390)
    page = reader.open("/#know=mags")
    page.wait_for_selector(".entity-name:has-text('Mags O')")
    told = page.inner_text("#memory-content")
    assert "also called mags" in told
    assert "growing" in told
    rows = page.locator(".fact-row")
    assert [rows.nth(i).locator("summary").inner_text().split("\n")[:2] for i in range(rows.count())] == [
        ["deputy of", "team north"],
        ["on call of", "press 4"],
    ]
    over = rows.nth(1)
    assert "over" in over.get_attribute("class")
    over.locator(".relation").click()
    over.locator(".evidence li").wait_for()
    assert "I'm on call for press 4" in over.inner_text()
    assert "changed: what shows it" in over.inner_text()
    parts = dict(zip(page.locator("h3").all_inner_texts(), page.locator("h3 + *").all_inner_texts(), strict=False))
    lists = page.locator("#memory .owed")
    assert parts.keys() >= {"Promised by it, or asked of it", "What it waits for", "Going on", "Around it"}
    assert lists.nth(0).locator("li").count() == 2
    assert "i'll tell Mags" in lists.nth(1).inner_text()
    assert page.locator("#memory img, #memory script").count() == 0
    assert reader.overflow() <= 0
    page.click(".fact-row .value a:has-text('press 4')")
    page.wait_for_selector(".entity-name:has-text('press 4')")
    assert page.locator(".fact-row[data-standing='disputed']").count() == 2
    page.keyboard.press("1")
    assert page.locator("#memory").is_hidden()
    assert page.evaluate("location.hash") == ""


def test_the_drawing_is_moved_scaled_and_gone_through_by_hand_and_keys(knowing, read):
    reader = read()
    page = reader.open("/#know=press%204")
    page.wait_for_selector(".known-graph .centre[transform]")
    assert sorted(page.locator(".known-graph a.known").evaluate_all("all => all.map((a) => a.ariaLabel)")) == [
        "Mags O",
        "Theo",
        "press 4",
        "team north",
    ]
    assert sorted(page.locator(".known.value text").all_text_contents()) == ["900 kg", "bay 3", "hall 2"]
    place = "document.querySelector('.known-graph .centre').getAttribute('transform')"
    first = page.evaluate(place)
    page.focus(".known-graph .centre")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert page.evaluate(place) != first
    page.keyboard.press("0")
    assert page.evaluate(place) == first
    page.locator(".known-graph").scroll_into_view_if_needed()
    box = page.locator(".known-graph .centre circle:not(.reach)").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 30, steps=4)
    page.mouse.up()
    assert page.evaluate(place) != first
    assert "#know=press%204" in page.url, "who moves it opens nothing"
    page.click(".graph-tools :text('Fit')")
    assert page.evaluate(place) == first
    page.hover(".known-graph a.known:has-text('Theo')")
    expect(page.locator(".graph .hint")).to_contain_text("Theo: on call press 4")
    assert page.locator(".known-edge.lit").count() >= 1
    page.focus(".known-graph .centre")
    before = page.evaluate("document.activeElement.ariaLabel")
    for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.ariaLabel") != before:
            break
    name = page.evaluate("document.activeElement.ariaLabel")
    assert name != before
    page.keyboard.press("Enter")
    page.wait_for_selector(f".entity-name:has-text({name!r})")
    know(page, "press 4")
    page.click(".known-graph a.known:has-text('Theo') circle.reach", force=True)
    page.wait_for_selector(".entity-name:has-text('Theo')")
    page.click("details.as-table:has-text('The same') summary")
    assert "on call" in page.inner_text("#memory table")


def test_three_hundred_are_drawn_and_no_name_crosses_another(world, read):
    for n in range(330):
        text = f"Ana Berg is on call for press {n}" if n < 20 else f"pump {n} causes press {n % 20}"
        world.perceive(text, age=2 * HOUR - 3 * n)
    hear(world)
    reader = read()
    page = reader.open("/#know=ana%20berg")
    page.wait_for_selector(".known-graph .centre[transform]")
    for most in (120, 300):
        page.click(f".graph-tools :text-is('{most}')")
        reader.until(f"document.querySelectorAll('.known-graph a.known').length > {most / 3}")
    reader.until("document.querySelectorAll('.known-graph a.known').length === 300")
    boxes = page.locator(".known text[visibility=visible]").evaluate_all(
        "all => all.map((t) => t.getBoundingClientRect()).map((b) => [b.x + 2, b.y + 3, b.right - 2, b.bottom - 3])"
    )
    assert len(boxes) > 25
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (a, b)
    page.focus(".known-graph .centre")
    for _ in range(5):
        page.keyboard.press("+")
    assert page.locator(".known text[visibility=visible]").count() > len(boxes)


def test_what_is_denied_is_settled_and_that_is_taken_back(knowing, read):
    reader = read(width=390)
    reader.expected = ("404",)
    page = reader.open("/#memory")
    page.wait_for_selector(".denial .evidence li")
    assert "Bo press 4 is in bay 3" in " ".join(page.inner_text(".denial").split())
    page.click(".denial button:has-text('bay 3 is right')")
    page.wait_for_selector(".denial:has-text('as soon as the mind has heard of it')")
    hear(knowing, Marked(tuple(finish(MARKS.all_of(knowing.stores.collections)).values())))
    page.wait_for_selector("h3:has-text('Settled by hand')")
    assert "is bay 3" in page.inner_text(".denial")
    know(page, "press 4")
    expect(page.locator(".fact-row:not(.over):has-text('location')")).to_contain_text("bay 3")
    assert page.locator(".fact-row[data-standing='wrong']").count() == 1
    page.keyboard.press("5")
    page.evaluate("location.hash = '#memory'")
    page.click(".denial [data-undo]")
    page.wait_for_selector(".denial button:has-text('bay 3 is right')")
    hear(knowing, Marked(tuple(finish(MARKS.all_of(knowing.stores.collections)).values())))
    page.wait_for_selector("h3:has-text('To settle (1)')")
    assert reader.overflow() <= 0
    page.evaluate("location.hash = '#know=zebra'")
    page.wait_for_selector("#memory-content :text('Nothing is known by that name')")


def test_what_sleep_did_is_told_and_leads_to_what_it_is_about(knowing, read):
    page = read().open("/#memory")
    page.wait_for_selector("section:has-text('It has not slept yet')")
    part = known.SleepPart(12, [known.SleepLine("press 4", f"jams every monday {HARM}", "3 of 4 weeks")])
    report = known.SleepReport("s-1", knowing.now - 6 * HOUR, knowing.now - 30 * HOUR, "night", 240, gists=part)
    finish(knowing.stores.commit([known.SLEEPS.write("1", report, time=report.at)]))
    page.click('#views [data-view="memory"]')
    page.wait_for_selector(".slept")
    assert "at night; 240 texts since" in page.inner_text("section:has(.slept)")
    assert page.locator(".slept").count() == 1
    page.click(".slept summary")
    told = page.inner_text(".slept")
    assert "12 what recurs" in told
    assert f"jams every monday {HARM} 3 of 4 weeks" in told
    assert "and 11 more" in told
    assert page.locator("#memory img, #memory script").count() == 0
    page.click(".slept a")
    page.wait_for_selector(".entity-name:has-text('press 4')")


@pytest.mark.parametrize("width", [390, 1280])
def test_goals_are_told_with_weight_and_signals_and_decided(knowing, read, width):
    ref = knowing.perceive(f"boiler {HARM}")
    one, held = (StandingGoal(goal_id(text), text) for text in (f"boiler {HARM}", "press 4"))
    held.layer, held.weight = GoalLayer.IDENTITY, 0.6
    for day in range(20, 0, -4):
        one.hear(GoalSignal(knowing.now - 86_400 * day, SignalKind.ASKED, ref))
    finish(knowing.stores.commit([GOALS.write(each.id, each) for each in (one, held)]))
    reader = read(width=width)
    page = reader.open("/#memory")
    told = page.locator("section:has(> h3:text('What it pursues')) .goal")
    expect(told).to_have_count(2)
    assert [text.split("\n")[0] for text in told.all_inner_texts()] == ["Say once what matters.", "press 4"]
    assert (told.nth(0).locator("button").count(), "0.60" in told.nth(1).inner_text()) == (0, True)
    goal = page.locator("section:has(> h3:text('Proposed (1)')) .goal")
    assert (goal.locator(".evidence li").count(), "boiler <script>" in goal.inner_text()) == (5, True)
    goal.locator("[data-act=grant]").click()
    expect(goal).to_contain_text("Granted: it is a goal now.")
    goal.locator("[data-undo]").click()
    goal.locator("[data-act=refuse]").click()
    expect(goal).to_contain_text("Refused")
    assert (page.locator("#memory img, #memory script").count(), reader.overflow() <= 0) == (0, True)


def test_nothing_known_teaches_and_what_goes_wrong_is_said(world, server, read):
    reader = read(width=390)
    reader.expected = ("Failed to load", "ERR_")
    page = reader.open("/#memory")
    page.wait_for_selector(".memory .empty .lead")
    assert "submind know" in page.inner_text(".memory .empty")
    server.stop()
    page.fill("#recall-words", "keg")
    page.keyboard.press("Enter")
    page.wait_for_selector("#memory-content .error:has-text('No answer from the mind')")
    server.start()
    page.wait_for_selector('#connection[data-state="live"]')
    page.click("#recall button")
    page.wait_for_selector("#memory-content :text('Fewer words find more')")
