"""The salience of live traces, health, and the box to speak."""

import asyncio
import threading
from dataclasses import replace

from playwright.sync_api import expect

from environment.messages import SubmindState
from environment.population import GrowthKind
from tests.orchestration.page.conftest import finish


def test_salience_evaporates_and_what_many_traces_say_is_listed_once_and_leads_to_its_lineage(world, read):
    for _ in range(3):
        trace = world.think("the cold store is silent", half_life=7200.0, salience=0.6)
    world.think("a fleeting thing", half_life=20.0, salience=0.9)
    reader = read()
    page = reader.open()
    page.wait_for_selector(".curve .was")
    first = page.eval_on_selector(".curve .was", "e => e.getAttribute('d')")
    reader.until(f"document.querySelector('.curve .was').getAttribute('d') !== {first!r}")
    row = page.locator("#traces li", has_text="the cold store is silent")
    assert row.count() == 1
    assert "\u00d73" in row.inner_text()
    row.locator("a").click()
    page.wait_for_selector('#panel [role="tree"]')
    assert trace.thought.author in page.inner_text("#panel")


def test_health_says_what_is_wrong(world, read):
    world.report("text", "perceptual", "Hear what is said.")
    world.report("image", "perceptual", state=SubmindState.QUARANTINED, reason="died 5 times in 60 s")
    world.report("environment", "environment", metrics={"limit_hits:live_traces": 4.0})
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


def test_a_question_is_answered_and_the_conversation_outlives_a_reload(world, read):
    world.perceive("Mags: the pump leaks since 11:40")
    page = read().open()
    page.wait_for_selector("#say-words")
    for question, told in (("what is wrong with the pump?", "Mags: the pump leaks"), ("since when?", "11:40")):
        page.fill("#say-words", question)
        page.click("#say-send")
        newest = page.locator("#conversation li").first
        expect(newest).to_contain_text(question)
        expect(newest).to_contain_text(told)
    page.reload()
    expect(page.locator("#conversation li")).to_have_count(2)
    page.fill("#say-words", "thanks, Mags")
    page.click("#say-send")
    expect(page.locator("#say-answer")).to_contain_text("Acknowledged")
    expect(page.locator("#say-send")).to_be_enabled()
    expect(page.locator("#conversation li")).to_have_count(2)


def test_a_models_words_take_the_place_of_the_rules_when_they_come(world, server, read):
    world.perceive("Mags: the pump leaks since 11:40")
    spoken = threading.Event()

    async def words(question, found):
        await asyncio.to_thread(spoken.wait, 60)
        return replace(found, text="It leaks, says Mags.", worded_by="small")

    server.stop()
    server.words = words
    server.start()
    page = read().open()
    page.fill("#say-words", "what is wrong with the pump?")
    page.click("#say-send")
    told = page.locator("#conversation li")
    expect(told).to_contain_text("Mags: the pump leaks")
    expect(told).to_contain_text("the model is slow")
    spoken.set()
    expect(told).to_contain_text("It leaks, says Mags.")
    expect(told.locator(".by")).to_have_text("in the words of small")
    assert "the pump leaks" not in told.inner_text()


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


def _heard(world):
    return finish(world.stores.perceptions.read(0, 100))


def test_a_mind_that_catches_up_with_the_past_tells_its_time_and_everything_by_it(world, server, read):
    server.behind = 6 * 3600.0
    world.conscious("said ten minutes ago", refs=[world.perceive("it", age=6 * 3600.0 + 600)])
    world.decide(GrowthKind.FROZEN, by="ann")
    page = read().open()
    page.wait_for_selector("#figures .fact >> text=mind time")
    assert page.inner_text("#feed > article .ago") == "10 min ago"
    ordered = page.inner_text("#growth-state .ago")  # by people, by the wall's
    assert ordered == "just now" or ordered.endswith("sec ago")
    page.keyboard.press("4")
    assert "catches up with the past" in page.inner_text("#health-content")


HEAR = """
    window.told = [];
    const announcer = document.getElementById('announcer');
    new MutationObserver(() => told.push(announcer.textContent)).observe(announcer, {childList: true});
"""


def test_a_mind_that_thinks_fast_is_told_of_together_and_not_while_paused(world, read):
    world.conscious("the first")
    reader = read()
    page = reader.open()
    page.evaluate(HEAR)
    world.conscious("at once")
    reader.until("told.length === 1 && told[0].includes('at once')")
    for number in range(12):
        world.conscious(f"thought {number}.")
    reader.until("told.at(-1).includes('new thoughts') && told.at(-1).includes('thought 11.')")
    told = page.evaluate("told.length")
    assert told < 6
    page.click("#pause")
    world.conscious("while nobody listens")
    reader.until("document.getElementById('pill').textContent === '1 new thought'")
    page.wait_for_timeout(500)
    assert page.evaluate("told.length") == told
    assert reader.numbers()[0] == 14
    page.click("#pause")
    page.wait_for_selector('article[data-seq="15"]')
