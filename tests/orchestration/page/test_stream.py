"""The stream as it happens: live, while reading back, over restarts, bounded."""

import pytest

from environment.messages import EntryKind


def test_shows_what_there_is_and_what_comes(world, read):
    world.conscious(*(f"thought {n}" for n in range(1, 6)), salience=0.2)
    reader = read()
    page = reader.open()
    page.wait_for_selector('article[data-seq="5"]')
    assert reader.numbers() == [5, 4, 3, 2, 1]
    world.conscious("from one thing to another", kind=EntryKind.SEGUE)
    world.conscious("a seventh thought", salience=0.9)
    page.wait_for_selector('article[data-seq="7"]')
    assert reader.numbers() == [7, 6, 5, 4, 3, 2, 1]
    assert page.inner_text('article[data-seq="7"] .words') == "a seventh thought"
    assert "segue" in page.get_attribute('article[data-seq="6"]', "class")
    assert page.locator('article[data-seq="7"] .source').first.inner_text() == "chat"
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    strong, faint = (page.locator(f'[data-seq="{seq}"] .words').evaluate(size) for seq in (7, 1))
    assert strong > faint, "salience shows in size"
    reader.until("document.getElementById('announcer').textContent.includes('a seventh thought')")


def test_nothing_moves_under_who_reads_further_down(world, read):
    world.conscious(*(f"thought {n} " + "and so on " * 20 for n in range(1, 61)))
    reader = read(height=700)
    page = reader.open()
    page.wait_for_selector('article[data-seq="60"]')
    page.evaluate("window.scrollTo(0, 1500)")
    reader.until("window.scrollY === 1500")
    where = "document.querySelector('article[data-seq=\"45\"]').getBoundingClientRect().top"
    before = page.evaluate(where)
    world.conscious("new one")
    world.conscious("new two")
    reader.until("document.getElementById('pill').textContent === '2 new thoughts'")
    assert page.locator("#pill").is_visible()
    assert page.evaluate(where) == before
    assert reader.numbers()[0] == 60
    page.click("#pill")
    reader.until("window.scrollY === 0")
    assert reader.numbers()[:3] == [62, 61, 60]
    assert page.evaluate("document.activeElement.dataset.seq") == "62"
    assert page.locator("#pill").is_hidden()


@pytest.mark.parametrize("absent", [7, 230])
def test_a_restart_leaves_neither_gap_nor_repeat(world, server, read, absent):
    world.conscious("one", "two", "three")
    reader = read()
    reader.expected = ("net::ERR", "Failed to load resource")
    page = reader.open()
    page.wait_for_selector('article[data-seq="3"]')
    for _ in range(2):
        server.stop()
        page.wait_for_selector('#connection[data-state="waiting"]')
        world.conscious(*(f"meanwhile {n}" for n in range(absent)))
        server.start()
        page.wait_for_selector(f'article[data-seq="{world.head}"]')
        page.wait_for_selector('#connection[data-state="live"]')
        world.conscious("and on")
        page.wait_for_selector(f'article[data-seq="{world.head}"]')
    _read_to_the_first(reader)
    assert reader.numbers() == list(range(world.head, 0, -1))


def test_a_mind_begun_anew_replaces_what_is_shown(world, server, read):
    world.conscious(*(f"old {n}" for n in range(9)))
    reader = read()
    reader.expected = ("net::ERR", "Failed to load resource")
    page = reader.open()
    page.wait_for_selector('article[data-seq="9"]')
    server.stop()
    server.directory = world.directory.with_name("other")
    other = type(world)(server.directory)
    other.conscious("a first thought again")
    server.start()
    reader.until("document.querySelectorAll('#feed > article').length === 1")
    assert page.inner_text("#feed .words") == "a first thought again"
    other.conscious("a second")
    page.wait_for_selector('article[data-seq="2"]')
    other.close()


def _read_to_the_first(reader):
    page = reader.page
    for _ in range(40):
        oldest = page.eval_on_selector("#feed > article:last-child", "a => Number(a.dataset.seq)")
        if oldest == 1:
            return
        for _ in range(100):  # as people scroll: a little back where nothing comes, and on
            page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
            page.wait_for_timeout(100)
            if page.eval_on_selector("#feed > article:last-child", "a => Number(a.dataset.seq)") < oldest:
                break
            page.evaluate("window.scrollBy(0, -300)")
            page.wait_for_timeout(30)
    raise AssertionError("never reached the first")


def test_the_document_stays_bounded_and_the_newest_is_one_press_away(world, read):
    world.conscious(*(f"thought {n}" for n in range(1, 641)))
    reader = read()
    page = reader.open()
    page.wait_for_selector('article[data-seq="640"]')
    _read_to_the_first(reader)
    reader.until("document.querySelectorAll('#feed > article').length === 500")
    assert reader.numbers() == list(range(500, 0, -1))
    world.conscious("the latest")
    reader.until("document.getElementById('pill').textContent === '141 new thoughts'")
    page.keyboard.press("n")
    page.wait_for_selector('article[data-seq="641"]')
    assert reader.numbers()[0] == 641
    assert page.evaluate("document.querySelectorAll('#feed > article').length") <= 500


def test_what_comes_while_the_newest_are_read_leaves_no_gap(world, read):
    world.conscious(*(f"thought {n}" for n in range(1, 601)))
    reader = read()
    page = reader.open("/#seq-20")
    page.wait_for_selector('article[data-seq="20"]')
    reader.until("!document.getElementById('pill').hidden")
    came = []

    def late(route):
        answer = route.fetch()
        if not came:
            came.append(world.conscious("in between"))
            reader.until("document.getElementById('announcer').textContent.includes('in between')")
        route.fulfill(response=answer)

    page.route("**/v1/stream?*", late)
    page.click("#pill")
    page.wait_for_selector('article[data-seq="601"]')
    world.conscious("and after")
    page.wait_for_selector('article[data-seq="602"]')
    assert reader.numbers()[:3] == [602, 601, 600]


def test_an_empty_mind_says_how_to_begin(world, read):
    page = read().open()
    page.wait_for_selector("#empty:not([hidden])")
    assert "submind perceive -" in page.inner_text("#empty")
    world.perceive("the first thing")
    page.wait_for_selector("#empty-arrived:not([hidden])")
    world.conscious("at last")
    page.wait_for_selector("article")
    assert page.locator("#empty").is_hidden()


def test_a_reader_who_stays_at_the_end_is_brought_older_ones_that_failed_to_come(world, read):
    world.conscious(*[f"thought number {number}" for number in range(1, 181)])
    reader = read()
    reader.expected = ("net::ERR",)
    refused = []

    def once(route):
        if "from=61&" in route.request.url and not refused:
            refused.append(route.request.url)
            route.abort()
        else:
            route.fallback()

    page = reader.page
    page.route("**/v1/stream?*", once)
    reader.open()
    page.wait_for_selector('article[data-seq="180"]')
    page.evaluate("setInterval(() => scrollTo(0, document.documentElement.scrollHeight), 5)")
    reader.until("document.querySelector('article[data-seq=\"1\"]') !== null")
    assert len(refused) == 1
    assert reader.numbers() == list(range(180, 0, -1))
