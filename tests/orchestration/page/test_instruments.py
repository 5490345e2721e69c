"""The network of subminds, the salience of live traces, health, and the box to speak."""

from __future__ import annotations

import pytest

from environment.messages import SubmindState


@pytest.fixture
def peopled(world):
    world.report("text", "perceptual", "Hear what is said.", metrics={"events_handled_total": 900.0})
    world.report(
        "concern", goal="Notice danger.", topics=("room 2", "ladders"), mailbox=3, metrics={"events_handled_total": 9.0}
    )
    world.report("continuity", goal="Follow open matters.")
    world.report("attention", "attention", "Lift what is salient.")
    world.connect("text", "concern", 0.82)
    world.connect("concern", "continuity", 0.2, label="<b>letters</b>")
    return world


def test_the_network_shows_strength_kind_and_activity(peopled, read):
    page = read().open()
    page.wait_for_selector(".arc")
    strong = page.locator('.arc[data-owner="text"][data-peer="concern"]')
    weak = page.locator('.arc[data-owner="concern"][data-peer="continuity"]')
    dash = "e => getComputedStyle(e).strokeDasharray"
    assert strong.evaluate(dash) == "none"
    assert weak.evaluate(dash) != "none"
    width = "e => parseFloat(e.getAttribute('stroke-width'))"
    assert strong.evaluate(width) > weak.evaluate(width)
    size = "e => e.getBoundingClientRect().width"
    assert page.locator('.row[data-name="text"] .dot').evaluate(size) > page.locator(
        '.row[data-name="concern"] .dot'
    ).evaluate(size)
    assert page.locator("#graph .role").all_inner_texts() == ["perceptual", "cognitive", "faculties"]


def test_a_submind_tells_of_itself_when_it_has_the_focus(peopled, read):
    page = read().open()
    page.wait_for_selector(".arc")
    page.focus('.row[data-name="concern"]')
    told = page.inner_text("#submind")
    for part in ("Notice danger.", "room 2, ladders", "3", "continuity 0.20", "events handled 9"):
        assert part in told
    assert "out" in page.get_attribute('.arc[data-peer="continuity"]', "class")
    page.hover('.row[data-name="text"]')
    assert "Hear what is said." in page.inner_text("#submind")


def test_the_connections_can_be_read_as_a_table(peopled, read):
    page = read().open()
    page.wait_for_selector(".arc")
    page.click(".as-table summary")
    rows = page.locator("#connections tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [
        ["text", "room 2", "concern", "0.82", "LTP", "9 of 12"],
        ["concern", "<b>letters</b>", "continuity", "0.20", "transient", "9 of 12"],
    ]


def test_salience_evaporates_between_polls(world, read):
    world.think("a fleeting thing", half_life=20.0, salience=0.9)
    world.think("a lasting thing", half_life=7200.0, salience=0.6)
    reader = read()
    page = reader.open()
    page.wait_for_selector(".curve .was")
    assert page.locator("#traces li").count() == 2 or page.locator("#traces li").count() == 1
    page.wait_for_selector("#traces li")
    first = page.eval_on_selector(".curve .was", "e => e.getAttribute('d')")
    reader.until(f"document.querySelector('.curve .was').getAttribute('d') !== {first!r}")


def test_a_trace_in_the_chart_leads_to_its_lineage(world, read):
    trace = world.think("a lasting thing", half_life=7200.0, salience=0.6)
    page = read().open()
    page.click("#traces li a")
    page.wait_for_selector('#panel [role="tree"]')
    assert trace.id in page.evaluate("decodeURIComponent(location.hash)")


def test_health_says_what_is_wrong(peopled, read):
    peopled.report("image", "perceptual", state=SubmindState.QUARANTINED, reason="died 5 times in 60 s")
    peopled.report("environment", "environment", metrics={"limit_hits:live_traces": 4.0})
    page = read().open()
    page.wait_for_selector("#health-content .reasons")
    told = page.inner_text("#health-content")
    assert "image: died 5 times in 60 s" in told
    assert "live traces" in told
    assert "hit 4 times" in told
    assert "degraded" in page.inner_text("#alert")
    page.wait_for_selector('.row[data-name="image"][data-state="quarantined"]')


def test_what_is_said_is_perceived(world, read):
    page = read().open()
    page.keyboard.press("s")
    page.keyboard.type("The van is back\u202e")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer.done")
    page.fill("#say-name", "mags")
    page.fill("#say-words", "two\nlines")
    page.click("#say-send")
    page.wait_for_selector(".answer.done a")
    heard = _heard(world)
    assert [(p.source, p.text) for p in heard] == [("operator-page", "The van is back\u202e"), ("mags", "two\nlines")]
    assert all(0 <= p.trust <= 1 for p in heard)
    assert page.input_value("#say-words") == ""
    page.reload()
    assert page.input_value("#say-name") == "mags"


def test_said_again_after_no_answer_it_counts_once(world, server, read):
    reader = read()
    reader.expected = ("net::ERR", "Failed to load resource")
    page = reader.open()
    page.fill("#say-words", "is anybody there")
    page.route("**/v1/perceptions", lambda route: (route.fetch(), route.abort()))
    page.click("#say-send")
    page.wait_for_selector(".answer.error")
    assert page.input_value("#say-words") == "is anybody there"
    page.unroute("**/v1/perceptions")
    page.click("#say-send")
    page.wait_for_selector(".answer.known")
    assert len(_heard(world)) == 1


def test_a_refusal_is_given_with_its_reason(world, read):
    reader = read()
    reader.expected = ("status of 4",)
    page = reader.open()
    page.evaluate("document.getElementById('say-words').value = 'x'.repeat(1_200_000)")
    page.click("#say-send")
    page.wait_for_selector(".answer.error")
    assert len(page.inner_text(".answer.error")) > 10
    assert _heard(world) == []


def _heard(world):
    log = world.stores.perceptions.read(0, 100)
    try:
        log.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the store suspended")
