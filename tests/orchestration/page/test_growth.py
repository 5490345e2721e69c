"""Who is born and who ends, who permits it, and the switch that stops it all."""

import pytest

from environment.population import GrowthKind

HARM = "<img src=x onerror='window.pwned = 1'>"


@pytest.fixture
def grown(world):
    world.report("concern", goal="Notice danger.")
    world.report("text", "perceptual", "Hear what is said.")
    world.connect("text", "concern", 0.82)
    return world


@pytest.fixture
def asked(grown):
    grown.decide(
        GrowthKind.PROPOSED,
        submind="concern",
        act="divide",
        topics=("payments", HARM),
        growth="concern:1",
        reason="mailbox 86 % for 5 min",
    )
    return grown


def kinds(world):
    return [event.kind.value for event in world.audit]


def test_a_child_appears_below_its_parent_and_is_told_of(grown, read):
    reader = read()
    page = reader.open()
    page.wait_for_selector(".line", state="attached")
    before = page.evaluate("document.querySelector('.spot[data-name=\"concern\"]').style.translate")
    grown.report("alarm", goal="Between the two by name.")
    grown.decide(
        GrowthKind.DIVIDED,
        submind="concern",
        other="concern-2",
        act="divide",
        topics=("payments", HARM),
        reason="mailbox 86 % for 5 min",
    )
    page.wait_for_selector('.spot.born[data-name="concern-2"]')
    reader.until("document.querySelectorAll('.spots > .spot').length === 4")
    down = page.eval_on_selector_all(".spots > .spot", "all => all.map((s) => [s.dataset.name, s.style.translate])")
    row = {name: float(place.split()[1].removesuffix("px")) for name, place in down}
    assert row["alarm"] < row["concern"] < row["concern-2"]
    assert before != dict(down)["concern"]
    reader.until("document.querySelectorAll('#changes .divided').length === 1")
    told = page.inner_text("#changes .divided p")
    assert told == f"concern divided: concern-2 took ‘payments’, ‘{HARM}’ — mailbox 86 % for 5 min"
    reader.until("document.getElementById('announcer').textContent.startsWith('concern divided')")
    page.click('.spot[data-name="concern-2"]')
    page.wait_for_selector("#panel .particulars")
    assert "of concern" in page.inner_text("#panel .particulars")


def test_a_family_that_is_too_large_is_folded_and_opens_into_its_members(grown, read):
    for number in range(2, 42):
        grown.decide(GrowthKind.DIVIDED, submind="concern", other=f"concern-{number}", act="divide", topics=("room 2",))
    reader = read(height=700)
    page = reader.open()
    page.wait_for_selector('.spot[data-name="concern"][data-fold="folded"]')
    assert "+40" in page.inner_text('.spot[data-name="concern"]')
    page.click('.spot[data-name="concern"]')
    page.wait_for_selector("#panel .names")
    assert page.locator("#panel .names a").count() == 41
    assert page.locator(".spots > .spot:not(.leaving)").count() == 2
    page.click("#panel button.more")
    reader.until("document.querySelectorAll('.spots > .spot').length > 20")
    page.click("#panel button.more")
    page.wait_for_selector('.spot[data-name="concern"][data-fold="folded"]')


def test_what_waits_is_approved_once_and_by_whom(asked, read):
    reader = read()
    page = reader.open()
    page.fill("#say-name", "mags")
    page.wait_for_selector("#waiting li")
    told = page.inner_text("#waiting li p")
    assert told.startswith(f"concern asks to divide: a child would take ‘payments’, ‘{HARM}’ — mailbox 86 % for 5 min")
    reader.until("document.querySelector('#figures').innerText.includes('1 to approve')")
    bounds = "1 of at most 24 subminds; 0 of 4 births in the last hour. Births wait for an approval."
    assert page.inner_text("#growth-state") == bounds
    page.click('#waiting button[data-act="approve"]')
    page.wait_for_selector("#waiting", state="hidden")
    assert "Approved" in page.inner_text("#growth-answer")
    assert kinds(asked) == ["proposed", "approved"]
    assert asked.audit[-1].by == "mags"
    reader.until("!document.querySelector('#figures').innerText.includes('to approve')")


def test_what_waits_may_be_rejected_and_a_late_answer_says_why_it_is_too_late(asked, read):
    first, second = read(), read()
    second.expected = ("409",)
    for reader in (first, second):
        reader.open().wait_for_selector("#waiting li")
    second.page.route("**/v1/growth", lambda route: route.abort() if route.request.method == "GET" else None)
    second.expected += ("net::ERR",)
    first.page.click('#waiting button[data-act="reject"]')
    first.page.wait_for_selector("#waiting", state="hidden")
    second.page.click('#waiting button[data-act="approve"]')
    second.page.wait_for_selector("#growth-answer.error")
    assert "g-1" in second.page.inner_text("#growth-answer")
    assert kinds(asked) == ["proposed", "rejected"]


def test_growth_is_frozen_only_after_a_second_word_and_everybody_sees_it(asked, read):
    reader, other = read(), read(width=360, height=740, touch=True)
    page, phone = reader.open(), other.open()
    page.click("#freeze")
    page.click("#confirm-cancel")
    assert kinds(asked) == ["proposed"]
    page.click("#freeze")
    page.fill("#confirm-reason", "looking into it")
    page.keyboard.press("Enter")
    page.wait_for_selector("#growth.frozen")
    assert "looking into it" in page.inner_text("#growth-state")
    assert (asked.audit[-1].kind, asked.audit[-1].reason) == (GrowthKind.FROZEN, "looking into it")
    assert page.locator('#waiting button[data-act="approve"]').is_disabled()
    other.until("document.getElementById('figures').textContent.startsWith('Growth frozen')")
    assert other.overflow() <= 0
    assert phone.locator("#figures .fact >> nth=0").is_visible()
    page.click("#freeze")
    assert page.inner_text("#confirm-title") == "Thaw growth?"
    page.click("#confirm-do")
    page.wait_for_selector("#growth:not(.frozen)")
    assert kinds(asked) == ["proposed", "frozen", "thawed"]
