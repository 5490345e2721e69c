"""What is going on, on the page: open matters first, what is owed, and the course of each."""

from actors.matters.matter import LOOPS, MATTERS, Matter, MatterLine, MatterState, OpenLoop
from tests.orchestration.page.conftest import finish

HOSTILE = "<img src=x onerror=alert(1)>"


def test_shows_matters_their_course_and_what_is_owed(world, read):
    (entry,) = world.conscious("the compressor of room 2 clicks")
    refs = [world.perceive(text, source) for text, source in (("it clicks", "mags"), (f"9.3 A {HOSTILE}", "coldstore"))]
    lines = [
        MatterLine("t-1", "it clicks like a beetle", refs[0], 0.7),
        MatterLine("t-2", f"9.3 A {HOSTILE}", refs[1], 0.6, link="both name room 2"),
    ]
    growing = Matter(
        "m-1", f"room 2: the box clicks {HOSTILE}", MatterState.GROWING, world.now - 900, world.now - 60, 0.7,
        lines, 5,
        ["mags", "coldstore"], ["room 2"], [entry.seq],
    )  # fmt: skip
    over = Matter(
        "m-2", "lag of the database", MatterState.SETTLED, world.now, world.now, 0.9,
        lines[:1], 1, ["oncall"], [],
        settled_by=lines[0],
    )  # fmt: skip
    loop = OpenLoop("l-1", "i'll put the pages back after lunch", refs[0], world.now + 7200, asked=False)
    writes = [MATTERS.write(one.id, one) for one in (over, growing)]
    page = read().open()
    page.wait_for_selector('article[data-seq="1"]')
    assert page.locator("#matters").is_hidden()
    finish(world.stores.commit([*writes, LOOPS.write(loop.id, loop)]))
    page.wait_for_selector('[data-matter="m-1"]')
    assert page.locator("#matters .matter .state").all_inner_texts() == ["growing", "settled"]
    assert page.inner_text("#matters-count") == "1"
    assert "i'll put the pages back after lunch" in page.inner_text("#owed")
    page.click('[data-matter="m-1"] summary')
    page.wait_for_selector('[data-matter="m-1"] .course li:nth-child(2)')
    course = page.inner_text('[data-matter="m-1"]')
    assert HOSTILE in course
    assert "both name room 2" in course
    assert "and 3 more that are not kept" in course
    assert page.get_attribute('[data-matter="m-1"] a', "href") == f"#seq-{entry.seq}"
    assert page.evaluate("document.querySelectorAll('#matters img').length") == 0
    loud = Matter(**{f: getattr(growing, f) for f in growing.__slots__} | {"state": MatterState.REOPENED})
    finish(world.stores.commit([MATTERS.write(loud.id, loud)]))
    page.wait_for_selector('[data-matter="m-1"][data-state="reopened"][open] .course')
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
