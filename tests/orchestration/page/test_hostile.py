"""Text that means harm: it is shown, it does nothing, and nothing breaks."""

import pytest

from environment.messages import ChangeKind

SCRIPTS = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>",
    '"><svg onload="window.pwned = 1"></svg><a href="javascript:window.pwned=1">press</a>',
    "</bdi></article><iframe src='http://192.0.2.1/'></iframe><style>*{display:none}</style>",
    "<link rel=stylesheet href=http://192.0.2.1/x.css><meta http-equiv=refresh content='0;url=http://192.0.2.1/'>",
)
TURNED = "pay \u202egnihton yap\u202c now \u2066hidden\u2069 \u200bzero\ufeff"
CONTROLS = "bell\x07 null\x00 escape\x1b[31m red \x9b backspace\x08"
PILED = "h" + "\u0301" * 400 + "i"
LONG = "w" * 1_000_000
SOURCE = "<b>" + "s" * 300 + "\u202e"


@pytest.fixture
def harm(world):
    for text in (*SCRIPTS, TURNED, CONTROLS, PILED):
        world.conscious(text, refs=[world.perceive(text, SOURCE[:200])], salience=0.9)
    world.conscious(LONG, refs=[world.perceive(LONG, "flood")], salience=0.85)
    world.report("<i>anomaly</i>" + "x" * 200, goal=SCRIPTS[0], topics=(TURNED, LONG[:5000]))
    world.report("text", "perceptual")
    why = (1.0, ChangeKind.PROMOTED, 0.9, SCRIPTS[0])
    world.connect("text", "<i>anomaly</i>" + "x" * 200, 0.9, label=SCRIPTS[0], changes=[why])
    return world


@pytest.mark.parametrize("width", [360, 1280])
def test_it_neither_runs_nor_breaks_the_page(harm, read, width):
    reader = read(width=width, height=740)
    page = reader.open()
    page.wait_for_selector('article[data-seq="8"]')
    assert page.inner_text('article[data-seq="1"] .words') == SCRIPTS[0]
    assert page.locator("#feed script, #feed iframe, #feed img, #feed style, #feed link").count() == 0
    assert reader.overflow() <= 0
    for view, part in (("2", ".spot"), ("3", "#traces li"), ("4", "#health-content dl")):
        page.keyboard.press(view)
        page.wait_for_selector(part)
        assert reader.overflow() <= 0
    page.keyboard.press("1")
    for seq in (1, 5, 8):
        page.evaluate(f"location.hash = '#seq-{seq}'")
        page.wait_for_selector('#panel [role="tree"]')
        assert page.evaluate("document.getElementById('panel').matches(':modal')") is (width == 360)
        assert reader.overflow() <= 0
        inside = "(() => { const p = document.getElementById('panel'); return p.scrollWidth - p.clientWidth })()"
        assert page.evaluate(inside) <= 0
        page.keyboard.press("Escape")


@pytest.mark.parametrize("width", [360, 1280])
def test_a_submind_that_means_harm_is_shown_and_does_nothing(harm, read, width):
    name = "<i>anomaly</i>" + "x" * 200
    reader = read(width=width, height=740)
    page = reader.open()
    page.keyboard.press("2")
    page.wait_for_selector(".line", state="attached")
    page.locator('.spot[data-name^="<i>"]').click()
    page.wait_for_selector("#panel .topics")
    assert page.inner_text("#panel .goal") == SCRIPTS[0]
    assert "‹RLO›" in page.inner_text("#panel .topics")
    page.evaluate("(name) => { location.hash = '#line=text/' + encodeURIComponent(name) }", name)
    page.wait_for_selector("#panel table")
    assert "<script>" in page.inner_text("#panel table")
    assert "<script>" in page.inner_text("#panel .life")
    assert reader.overflow() <= 0
    assert page.locator("#network script, #network img, #panel script, #panel img, #panel i i").count() == 0


def test_what_hides_is_made_visible_and_turns_nothing_else(harm, read):
    page = read().open()
    page.wait_for_selector('article[data-seq="5"]')
    turned = page.inner_text('article[data-seq="5"] .words')
    assert turned == "pay ‹RLO›gnihton yap‹PDF› now ‹LRI›hidden‹PDI› ‹ZWSP›zero‹BOM›"
    assert page.inner_text('article[data-seq="6"] .words') == "bell␇ null␀ escape␛[31m red ‹009B› backspace␈"
    assert len(page.inner_text('article[data-seq="7"] .words')) < 12


def test_a_megabyte_without_a_space_is_shown_in_portions(harm, read):
    reader = read(width=360, height=740)
    page = reader.open()
    words = page.locator('article[data-seq="8"] .words')
    words.wait_for()
    assert len(words.locator("bdi").inner_text()) < 1000
    more = words.locator("button")
    assert "1,000,000" in more.inner_text()
    more.click()
    assert 20_000 < len(words.locator("bdi").inner_text()) < 30_000
    assert page.locator("#panel").is_hidden()
    assert reader.overflow() <= 0


def test_words_in_the_address_are_only_words(harm, read):
    reader = read()
    reader.expected = ("404",)
    page = reader.open("/#id=%3Cimg%20src=x%20onerror=window.pwned=1%3E")
    page.wait_for_selector("#panel .error")
    page.evaluate("location.hash = '#find=%3Cimg%20src%3Dx%20onerror%3Dwindow.pwned%3D1%3E'")
    page.wait_for_selector("#panel .hits, #panel .quiet")
    assert "<img" in page.inner_text("#panel-title")
