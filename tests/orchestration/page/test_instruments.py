"""The salience of live traces, health, and the box to speak."""

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


def test_what_many_traces_say_is_listed_once(world, read):
    for _ in range(3):
        world.think("the cold store is silent", half_life=7200.0, salience=0.6)
    world.think("a lasting thing", half_life=7200.0, salience=0.5)
    page = read().open()
    page.wait_for_selector("#traces li")
    rows = page.locator("#traces li").all_inner_texts()
    assert len(rows) == 2
    assert "the cold store is silent" in rows[0]
    assert "\u00d73" in rows[0]


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
    page.wait_for_selector('.spot[data-name="image"][data-state="quarantined"]')


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
