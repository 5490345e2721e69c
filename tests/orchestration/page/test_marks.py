"""What people say of entries and matters, on the page: buttons, keys, what is muted, and undo."""

from actors.matters.matter import MATTERS, Matter, MatterLine, MatterState
from environment.marks import MARKS
from tests.orchestration.page.conftest import finish

HOSTILE = "nginx<img src=x onerror=alert(1)>"


def marks(world):
    kept = finish(MARKS.all_of(world.stores.collections)).values()
    return sorted(f"{mark.kind} {mark.value} {mark.undone}" for mark in kept)


def test_an_entry_and_a_matter_are_marked_by_buttons_and_keys_and_undone(world, read):
    ref = world.perceive("disk 7 is full", HOSTILE)
    (entry,) = world.conscious("disk 7 is full", refs=(ref,))
    line = MatterLine("t-1", "disk 7 is full", ref, 0.7)
    given = (world.now - 900, world.now - 60, 0.7, [line], 1, [HOSTILE], ["disk 7"], [entry.seq])
    finish(world.stores.commit([MATTERS.write("m-1", Matter("m-1", "disk 7", MatterState.NEW, *given))]))
    reader = read()
    reader.expected = ("422",)
    page = reader.open("/#seq-1")
    page.wait_for_selector("#panel .marks")
    page.keyboard.press("u")
    page.wait_for_selector("#panel .standing li:has-text('useful')")
    assert page.inner_text("#panel .standing").split() == ["useful", "Undo"]
    page.keyboard.press("m")
    page.fill("#panel .marking input", "soonish")
    page.keyboard.press("Enter")
    page.wait_for_selector("#panel .marks .error:has-text('is no time')")
    page.fill("#panel .marking input", "2h")
    page.click("#panel .marking button")
    page.wait_for_selector(f"#muted li:has-text({HOSTILE!r})")
    assert marks(world) == [f"mute {HOSTILE} False", "useful  False"]
    page.click("#muted button")
    page.wait_for_selector("#muted", state="hidden")
    page.keyboard.press("Escape")
    page.click('[data-matter="m-1"] summary')
    page.click('[data-matter="m-1"] [data-act="settled"]')
    page.wait_for_selector('[data-matter="m-1"][data-state="settled"]')
    assert marks(world) == [f"mute {HOSTILE} True", "settled  False", "useful  False"]
    page.set_viewport_size({"width": 390, "height": 800})
    assert reader.overflow() <= 0
