"""Logging in to the page, staying logged in, and out again; in a real browser, with and without TLS."""

import json
import time
from datetime import UTC, datetime

import pytest
import trustme
from playwright.sync_api import expect

from orchestration.access.gate import Access
from orchestration.access.scopes import Scope
from orchestration.access.settings import AccessSettings
from orchestration.access.tokens import changing, new_token


@pytest.fixture
def tokens(tmp_path):
    """Makes a token; ``tokens.path`` is their file."""

    def make(name, *scopes):
        with changing(make.path) as known:
            token, known["pantrow", name] = new_token(name, "pantrow", scopes or Scope, now=datetime.now(UTC))
        return token

    make.path = tmp_path / "tokens.yaml"
    make("nobody", Scope.FORWARD)
    return make


@pytest.fixture
def guarded(server, tokens, tmp_path):
    """Starts the server anew with tokens required; ``guarded(**access settings)``."""

    def start(**settings):
        server.stop()
        given = {"tokens_file": tokens.path, "reload_every": 0.05, "session": {"slowest": 0.3}} | settings
        folder = tmp_path / "audit"
        folder.mkdir(exist_ok=True)
        server.access = Access(
            AccessSettings(**given), mind="pantrow", wall=time.time, operators=("operator", "operator-*"), folder=folder
        )
        if server.access.encrypted:
            server.url = server.url.replace("http://", "https://")
        server.start()
        return folder / "audit.log"

    return start


def log_in(page, token):
    page.wait_for_selector("#login[open]")
    page.fill("#login-token", token)
    page.keyboard.press("Enter")


def cookies(page):
    return {one["name"]: one for one in page.context.cookies()}


def audited(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_one_logs_in_once_and_stays_until_one_logs_out(world, guarded, tokens, read):
    token = tokens("ann")
    log = guarded()
    world.conscious("a first thought", "a second thought")
    world.report("concern", goal="Notice danger.")
    reader = read()
    reader.expected = ("401",)
    page = reader.page
    page.goto(reader.base)
    log_in(page, "submind_" + "a" * 43)
    expect(page.locator("#login-why")).to_contain_text("not known here")
    assert page.locator("#login").is_visible()
    log_in(page, token)
    page.wait_for_selector('article[data-seq="2"]')
    expect(page.locator("#login")).to_be_hidden()
    world.conscious("heard as it happens")
    page.wait_for_selector('article[data-seq="3"]')

    cookie = cookies(page)["submind-pantrow"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"], cookie["path"]) == (True, "Strict", False, "/")
    assert time.time() + 11 * 3600 < cookie["expires"] <= time.time() + 12 * 3600 + 60
    assert token not in cookie["value"]
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]

    page.reload()
    page.wait_for_selector('article[data-seq="3"]')
    other = page.context.new_page()
    other.goto(reader.base)
    other.wait_for_selector('article[data-seq="3"]')
    other.close()
    page.fill("#say-words", "who is there?")
    page.click("#say-send")
    expect(page.locator("#say-answer")).to_contain_text("Acknowledged")

    page.click("#log-out")
    page.wait_for_selector("#login[open]")
    assert cookies(page) == {}
    copied = page.context.request.get(
        f"{reader.base}/v1/status", headers={"Cookie": f"submind-pantrow={cookie['value']}"}
    )
    assert copied.status == 401
    told = [(line["action"], line["by"], line["outcome"].partition(":")[0]) for line in audited(log)]
    assert ("log in", "", "refused") in told
    for done in (("log in", "ann", "done"), ("say", "ann", "done"), ("log out", "ann", "done")):
        assert done in told
    assert token not in log.read_text()


def test_who_is_logged_in_is_out_when_the_token_is_revoked(world, guarded, tokens, read):
    token = tokens("ann")
    guarded()
    world.conscious("a thought")
    reader = read()
    reader.expected = ("401", "Failed to load resource", "net::")
    reader.page.goto(reader.base)
    log_in(reader.page, token)
    reader.page.wait_for_selector('article[data-seq="1"]')
    with changing(tokens.path) as known:
        del known["pantrow", "ann"]
    reader.page.wait_for_selector("#login[open]")


def test_a_token_that_may_only_watch_is_told_what_it_may_not(world, guarded, tokens, read):
    mute, watcher = tokens("mute", Scope.PERCEIVE), tokens("reader", Scope.WATCH, Scope.PERCEIVE)
    log = guarded()
    world.conscious("a thought")
    reader = read()
    reader.expected = ("401", "403")
    page = reader.page
    page.goto(reader.base)
    log_in(page, mute)
    expect(page.locator("#login-why")).to_contain_text("`watch`")
    log_in(page, watcher)
    page.wait_for_selector('article[data-seq="1"]')
    reader.until("document.body.dataset.orders === 'false'")
    page.fill("#say-words", "open the gate")
    page.click("#say-send")
    expect(page.locator("#say-answer")).to_contain_text("`operate`")
    page.fill("#say-name", "ann")
    page.click("#say-send")
    expect(page.locator("#say-answer")).to_contain_text("Acknowledged")
    assert any(line["by"] == "reader" and "`operate`" in line["outcome"] for line in audited(log))


def test_no_page_from_elsewhere_can_ask_in_ones_name(world, guarded, tokens, read, server):
    token = tokens("ann")
    guarded()
    reader = read()
    reader.expected = ("401", "403", "Failed to load resource", "CORS", "Cross-Origin", "ERR_FAILED")
    page = reader.page
    page.goto(reader.base)
    log_in(page, token)
    page.wait_for_selector('#connection[data-state="live"]')
    value = cookies(page)["submind-pantrow"]["value"]
    ask = page.context.request
    own = {"Cookie": f"submind-pantrow={value}"}
    assert ask.delete(f"{reader.base}/v1/session", headers={**own, "Origin": "http://attacker.example"}).status == 403
    assert ask.get(f"{reader.base}/v1/status", headers=own).status == 200
    # From another site of the same machine, in the very browser that is logged in.
    elsewhere = page.context.new_page()
    reader.elsewhere.clear()
    elsewhere.goto(reader.base.replace("127.0.0.1", "localhost"))
    sent = elsewhere.evaluate(
        "url => fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}'})"
        ".then((a) => a.type, (e) => 'refused')",
        f"{reader.base}/v1/growth/freeze",
    )
    assert sent == "refused"  # by the page's own policy; the server would by the origin
    elsewhere.close()
    assert world.audit == []


def test_over_tls_the_cookie_is_for_https_alone(world, guarded, tokens, read, tmp_path):
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "tls.crt")
    issued.private_key_pem.write_to_path(tmp_path / "tls.key")
    token = tokens("ann")
    guarded(tls={"certificate": tmp_path / "tls.crt", "key": tmp_path / "tls.key"})
    world.conscious("a thought")
    reader = read(trusting=True)
    reader.expected = ("401",)
    page = reader.page
    page.goto(reader.base)
    assert page.url.startswith("https://")
    log_in(page, token)
    page.wait_for_selector('article[data-seq="1"]')
    cookie = cookies(page)["__Host-submind-pantrow"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["secure"]) == (True, "Strict", True)
