"""From a thought down to what was perceived: by mouse, by keyboard, by address; and search."""

import pytest


@pytest.fixture
def story(world):
    """Two perceptions, a thought of each, an insight of both, conscious as number 1."""
    warm = world.perceive("room 2 smells of warm metal", "radio", age=3600)
    amps = world.perceive("compressor 9.4 A", "coldstore", age=1800)
    first = world.think("Somebody smells warm metal", [warm], author="text", salience=0.4)
    second = world.think("The compressor draws more than ever", [amps], author="telemetry", salience=0.5)
    told = "The compressor of room 2 is failing"
    both = world.think(told, [warm, amps], parents=(first.id, second.id), salience=0.9, worded_by="small-model")
    world.conscious(both.thought.text, trace=both)
    world.conscious("something else")
    return both


def test_a_click_opens_the_lineage_down_to_the_perceptions(story, read):
    reader = read()
    page = reader.open()
    page.click('article[data-seq="1"] .words')
    page.wait_for_selector('#panel [role="tree"]')
    assert page.evaluate("location.hash") == "#seq-1"
    perceived = page.locator("#panel .of-perception > .content .words").all_inner_texts()
    assert sorted(set(perceived)) == ["compressor 9.4 A", "room 2 smells of warm metal"]
    assert "words small-model" in page.inner_text('article[data-seq="1"] .meta')
    words = page.locator("#panel .origin").all_inner_texts()
    assert sum("words small-model" in each for each in words) == 2, "of the entry and of its trace"
    assert "2 perceptions from 2 sources" in page.inner_text("#panel .rests")
    assert page.locator("#panel .strip li").count() == 2
    why = page.locator("#panel .of-entry > .content > .why").inner_text()
    assert "Why now: stood at 0.90 among the last 64 winners, 0.80 was needed, and a salience of 0.50" in why
    assert "it beat “<b>lunch</b>”" in why
    assert page.get_attribute('article[data-seq="1"]', "aria-current") == "true"
    page.click("#panel-close")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("location.hash") == ""


def test_the_keyboard_alone_suffices(story, read):
    page = read().open()
    page.wait_for_selector('article[data-seq="2"]')
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.dataset.seq") == "1"
    page.keyboard.press("Enter")
    page.wait_for_selector('#panel [role="treeitem"]:focus')
    level = "Number(document.activeElement.getAttribute('aria-level'))"
    opened = "document.activeElement.getAttribute('aria-expanded')"
    assert page.evaluate(level) == 1
    page.keyboard.press("ArrowRight")
    assert page.evaluate(level) == 2
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(opened) == "false"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(level) == 1
    page.keyboard.press("End")
    assert page.evaluate(level) == 2
    page.keyboard.press("Enter")
    assert page.evaluate(opened) == "true"
    page.keyboard.press("End")
    assert "of-perception" in page.evaluate("document.activeElement.className")
    page.keyboard.press("Home")
    assert page.evaluate(level) == 1
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.dataset.seq") == "1"


def test_an_address_leads_to_a_thought_far_back(world, story, read):
    world.conscious(*(f"thought {n}" for n in range(200)))
    reader = read()
    page = reader.open("/#seq-1")
    page.wait_for_selector('#panel [role="tree"]')
    page.wait_for_selector('article[data-seq="1"][aria-current]')
    reader.until("document.querySelector('article[data-seq=\"1\"]').getBoundingClientRect().top < innerHeight")
    assert reader.numbers() == sorted(reader.numbers(), reverse=True)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.wait_for_selector(f'article[data-seq="{world.head}"]')


def test_search_finds_and_leads_on(story, world, read):
    world.think(story.thought.text, story.thought.perceptions, author="concern", salience=0.3)
    page = read().open()
    page.keyboard.press("/")
    page.keyboard.type("compressor")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .hits")
    assert "The compressor of room 2 is failing" in page.locator("#panel .hits .words").all_inner_texts()
    assert ", also 1 other" in page.locator("#panel .hits li", has_text="is failing").inner_text()
    page.locator("#panel .hits li", has_text="is failing").locator("a").click()
    page.wait_for_selector('#panel [role="tree"]')
    assert page.locator("#panel .of-perception").count() == 2
    page.go_back()
    page.wait_for_selector("#panel .hits")
