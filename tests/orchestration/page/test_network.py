"""The network of subminds: who there is, who talks to whom, what flows, what changed and why."""

import pytest

from environment.messages import ChangeKind

SEEN = """
window.seen = {pulses: 0, used: 0};
new MutationObserver((changes) => {
  for (const change of changes) {
    for (const node of change.addedNodes) if (node.matches?.('.pulse')) seen.pulses += 1;
    if (change.attributeName === 'class' && change.target.matches('.arc.used')) seen.used += 1;
  }
}).observe(document, {subtree: true, childList: true, attributes: true});
"""
MIDDLE = """(path) => {
  const {x, y} = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
  return {x, y};
}"""
STORY = (
    (1.0, ChangeKind.OPENED, 0.2, "its goal is near this topic"),
    (2.0, ChangeKind.CREDITED, 0.31, "its thought was made conscious"),
    (3.0, ChangeKind.UNREWARDED, 0.29, "no credit within the window"),
    (4.0, ChangeKind.PROMOTED, 0.82, "5 credited uses"),
)


@pytest.fixture
def peopled(world):
    world.report("text", "perceptual", "Hear what is said.", metrics={"events_handled_total": 900.0})
    world.report(
        "concern",
        goal="Notice danger.",
        topics=("room 2", "ladders"),
        mailbox=3,
        metrics={"events_handled_total": 9.0, "handle_seconds_bucket:0.1": 9.0},
    )
    world.report("continuity", goal="Follow open matters.")
    world.report("monitoring", "metacognitive", "Watch the rates.")
    world.report("attention", "attention", "Lift what is salient.")
    world.connect("text", "concern", 0.82, changes=STORY)
    world.connect("concern", "continuity", 0.2, label="<b>letters</b>")
    return world


def arc(page, owner, peer):
    return page.locator(f'.arc[data-owner="{owner}"][data-peer="{peer}"]')


def width_of(owner, peer):
    which = f'.arc[data-owner="{owner}"][data-peer="{peer}"]'
    return f"parseFloat(document.querySelector('{which}').getAttribute('stroke-width'))"


def places(page):
    return page.eval_on_selector_all(
        ".spots > .spot", "all => Object.fromEntries(all.map((s) => [s.dataset.name, s.style.translate]))"
    )


def test_strength_kind_direction_and_activity_are_seen(peopled, read):
    page = read().open()
    page.wait_for_selector(".line", state="attached")
    strong, weak = arc(page, "text", "concern"), arc(page, "concern", "continuity")
    dash = "e => getComputedStyle(e).strokeDasharray"
    assert strong.evaluate(dash) == "none"
    assert weak.evaluate(dash) != "none"
    width = "e => parseFloat(e.getAttribute('stroke-width'))"
    assert strong.evaluate(width) > weak.evaluate(width)
    assert "#arrow" in strong.evaluate("e => getComputedStyle(e).markerEnd")
    size = "e => e.getBoundingClientRect().width"
    busy, idle = (page.locator(f'.spot[data-name="{name}"] .dot') for name in ("text", "monitoring"))
    assert busy.evaluate(size) > idle.evaluate(size)
    assert "3 waiting" in page.inner_text('.spot[data-name="concern"]')
    captions = page.locator("#ring .captions text").all_text_contents()
    assert captions == ["perceptual", "metacognitive", "cognitive"]
    assert page.locator("#faculties .spot").all_inner_texts() == ["attention"]
    assert "1 strong (LTP)" in page.inner_text("#submind")


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_connection_that_is_used_grows_and_light_runs_along_it(peopled, read, motion):
    reader = read(motion=motion)
    reader.page.add_init_script(SEEN)
    page = reader.open()
    page.wait_for_selector(".line", state="attached")
    assert page.evaluate("seen") == {"pulses": 0, "used": 0}
    before = page.evaluate(width_of("concern", "continuity"))
    peopled.connect("concern", "continuity", 0.7, label="<b>letters</b>", uses=15)
    reader.until(f"{width_of('concern', 'continuity')} > {before}")
    assert "ltp" in arc(page, "concern", "continuity").get_attribute("class")
    reader.until("seen.used > 0")
    if motion == "reduce":
        assert page.evaluate("seen.pulses") == 0
    else:
        reader.until("seen.pulses === 3")
    assert "used" not in arc(page, "text", "concern").get_attribute("class")


def test_keys_move_between_subminds_and_open_one(peopled, read):
    page = read().open()
    page.wait_for_selector(".line", state="attached")
    page.focus('.spots > .spot[tabindex="0"]')
    focused = "document.activeElement.dataset.name"
    assert page.evaluate(focused) == "text"
    for key, name in (("ArrowDown", "monitoring"), ("ArrowRight", "continuity"), ("ArrowUp", "concern")):
        page.keyboard.press(key)
        assert page.evaluate(focused) == name
    assert page.locator('.spots > .spot[tabindex="0"]').count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .topics")
    told = page.inner_text("#panel")
    for part in ("Notice danger.", "3 waiting", "room 2", "ladders", "events handled", "continuity", "text"):
        assert part in told
    assert "bucket" not in told
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel", state="hidden")
    assert page.evaluate(focused) == "concern"


def test_a_connection_tells_how_it_came_to_be(peopled, read):
    page = read().open()
    page.wait_for_selector(".line", state="attached")
    middle = arc(page, "text", "concern").evaluate(MIDDLE)
    page.mouse.click(middle["x"], middle["y"])
    page.wait_for_selector("#panel .life")
    assert page.inner_text("#panel-title") == "text → concern"
    reasons = page.locator("#panel .life .reason").all_inner_texts()
    assert reasons == [f": {reason}" for *_, reason in reversed(STORY)]
    assert page.locator("#panel .weights .steps").count() == 1
    row = page.locator("#panel tbody tr").all_inner_texts()[0].split("\t")
    assert row[:4] == ["room 2", "0.82", "LTP", "9 of 12"]
    assert "out" in arc(page, "text", "concern").get_attribute("class")
    page.click("#panel .ends a >> nth=1")
    page.wait_for_selector("#panel .topics")
    assert page.inner_text("#panel-title") == "concern"


def test_what_changed_is_told_with_its_reason_and_routine_is_not(peopled, read):
    reader = read()
    page = reader.open()
    page.wait_for_selector("#changes li")
    told = page.locator("#changes li p").all_inner_texts()
    assert told == [
        "text → concern became strong (LTP) about ‘room 2’: 5 credited uses",
        "text → concern opened about ‘room 2’: its goal is near this topic",
    ]
    later = (9.0, ChangeKind.DEMOTED, 0.39, "weight fell below 0.4")
    peopled.connect("text", "concern", 0.39, changes=[later])
    reader.until("document.querySelector('#changes li').textContent.includes('fell back to transient')")


def test_both_tables_say_the_same(peopled, read):
    page = read().open()
    page.wait_for_selector(".line", state="attached")
    page.click("#network .as-table >> nth=1 >> summary")
    page.wait_for_selector("#connections tbody tr")
    rows = page.locator("#connections tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["text", "room 2", "concern", "0.82", "LTP", "9 of 12"],
        ["concern", "<b>letters</b>", "continuity", "0.20", "transient", "9 of 12"],
    ]
    page.click("#network .as-table >> nth=0 >> summary")
    page.wait_for_selector("#subminds tbody tr")
    rows = [row.split("\t") for row in page.locator("#subminds tbody tr").all_inner_texts()]
    assert rows[1] == ["concern", "cognitive", "running", "3", "2", "1"]
    assert [row[0] for row in rows] == ["attention", "concern", "continuity", "monitoring", "text"]


def test_places_are_the_same_each_time_and_stay_when_weights_change(peopled, read):
    reader, other = read(), read()
    page = reader.open()
    page.wait_for_selector(".line", state="attached")
    first = places(page)
    assert len(first) == 4
    before = page.evaluate(width_of("text", "concern"))
    peopled.connect("text", "concern", 0.1)
    reader.until(f"{width_of('text', 'concern')} < {before}")
    assert places(page) == first
    again = other.open()
    again.wait_for_selector(".line", state="attached")
    assert places(again) == first
    peopled.report("wonder", goal="Ask what if.", metrics={})
    page.wait_for_selector('.spot.born[data-name="wonder"]')
    now = places(page)
    assert {name: now[name] for name in ("text", "monitoring")} == {
        name: first[name] for name in ("text", "monitoring")
    }


APART = """
edge => {
  const names = [...document.querySelectorAll(".spots > .spot .name")].map(name => name.getBoundingClientRect());
  const left = names.filter(box => box.x < edge).map(box => box.y).sort((a, b) => a - b);
  return left.slice(1).every((below, at) => below - left[at] >= 17);
}
"""
"""Whether the names on the left side of the ring stand clear of each other."""


def test_two_hundred_subminds_are_drawn_within_bounds(world, read):
    world.many(200, peers=8)
    for width in (1280, 390):
        reader = read(width=width)
        page = reader.open()
        page.keyboard.press("2")
        page.wait_for_selector(".line", state="attached")
        drawn = page.locator(".spots > .spot:not(.leaving)").count()
        assert 20 <= drawn <= 70
        assert page.locator(".line").count() <= 260
        assert f"{200 - drawn} quieter subminds are not drawn" in page.inner_text("#submind")
        assert reader.overflow() <= 0
        page.wait_for_function(APART, arg=width / 4)  # they move to their places first
        page.click("#network .as-table >> nth=0 >> summary")
        page.wait_for_selector("#subminds tbody tr")
        assert page.locator("#subminds tbody tr").count() == 200
