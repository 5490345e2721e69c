"""Who can use the page: with a token, in the dark, without a mouse, with a screen reader, on a phone."""

import pytest

_CONTRAST = """
(selector) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const part = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (node) => {
    for (let up = node; up; up = up.parentElement) {
      const colour = rgb(getComputedStyle(up).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  return [...document.querySelectorAll(selector)].map((node) => {
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  });
}
"""

_NAMELESS = """
() => [...document.querySelectorAll('a, button, input, textarea, select, summary, [tabindex="0"], [role=tree]')]
  .filter((node) => node.checkVisibility())
  .filter((node) => {
    const ids = (node.getAttribute('aria-labelledby') || '').split(' ');
    const labelled = ids.map((id) => document.getElementById(id)?.textContent || '').join('');
    const labels = [...(node.labels || [])].map((label) => label.textContent).join('');
    const name = node.getAttribute('aria-label') || labelled || labels || node.textContent;
    return !name.trim();
  })
  .map((node) => node.outerHTML.slice(0, 120))
"""


_WHERE = """
() => {
  const at = document.activeElement;
  return at.closest('article')?.dataset.seq || at.closest('aside, form, header')?.id;
}
"""


@pytest.fixture
def some(world):
    world.conscious("a salient thing", salience=0.9, evidence={"alarm": 2.0})
    world.conscious("a faint thing", salience=0.1)
    world.report("text", "perceptual", "Hear.")
    world.report("concern", goal="Notice danger.", mailbox=2)
    world.connect("text", "concern", 0.8)
    return world


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(some, read, theme):
    page = read(theme=theme).open()
    page.wait_for_selector(".arc")
    main = page.evaluate(_CONTRAST, '.thought[data-heat="3"] .words bdi, .fact dd, h1, .spot .name, .traces a')
    soft = page.evaluate(
        _CONTRAST,
        ".words bdi, .meta, .meta *, .when *, .fact dt, .quiet, .spot .load, .captions text, .change *, a, button, "
        "#connection",
    )
    assert main
    assert min(main) >= 7
    assert min(soft) >= 4.5


def test_the_theme_follows_the_system_and_can_be_chosen(some, read):
    page = read(theme="dark").open()
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    assert page.get_attribute("html", "data-theme") == "light"
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    assert page.evaluate(ground) == light
    page.keyboard.press("t")
    assert page.evaluate(ground) == dark


def test_every_control_has_a_name_and_every_part_its_place(some, read):
    page = read().open()
    page.wait_for_selector(".arc")
    page.click('article[data-seq="1"] .words')
    page.wait_for_selector('#panel [role="tree"]')
    assert page.evaluate(_NAMELESS) == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.evaluate(_NAMELESS) == []
    assert page.locator("main").count() == page.locator("h1").count() == page.locator('[role="search"]').count() == 1
    assert page.get_attribute("html", "lang") == "en"
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((n) => n.id)")
    assert len(ids) == len(set(ids))
    assert page.locator("#help").evaluate("d => d.matches(':modal')")
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()


def test_tab_leads_past_the_stream_in_few_steps(some, read):
    some.conscious(*(f"thought {n}" for n in range(50)))
    page = read().open()
    page.wait_for_selector(".arc")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("getComputedStyle(document.activeElement).top") == "0px"
    passed = []
    for _ in range(16):
        page.keyboard.press("Tab")
        passed.append(page.evaluate(_WHERE))
    assert passed.count("52") == 1
    assert "instruments" in passed


def test_focus_is_seen(some, read):
    page = read().open()
    page.wait_for_selector("article")
    page.keyboard.press("j")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_a_phone_has_the_instruments_behind_tabs(some, read):
    reader = read(width=360, height=740, touch=True)
    page = reader.open()
    page.wait_for_selector("article")
    assert page.locator("#instruments").is_hidden()
    assert reader.overflow() <= 0
    for view, part in (("Salience", "#curves svg"), ("Network", ".line"), ("Health", "#health-content")):
        page.tap(f'#views button:text("{view}")')
        page.locator(part).first.wait_for(state="attached")
        assert page.locator("#instruments").is_visible()
        assert page.locator("#main").is_hidden()
        assert reader.overflow() <= 0
    small = page.evaluate(
        "[...document.querySelectorAll('#views button')].map((b) => b.getBoundingClientRect().height)"
    )
    assert min(small) >= 44
