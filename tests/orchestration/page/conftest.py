"""The page in a real browser, served by the real application over a real store that the tests write to."""

import asyncio
import shutil
import threading
import time
from collections.abc import Coroutine
from itertools import count
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

from actors.substrate.embedding import WordLlamaEmbedder
from environment.decisions import Decision, Ground
from environment.identity import entry_id, thought_id
from environment.messages import (
    Connection,
    ConnectionChange,
    EntryKind,
    Level,
    NewPerception,
    PerceptionRef,
    StreamEntry,
    SubmindReport,
    SubmindState,
    Thought,
    ThoughtKind,
    Trace,
)
from environment.population import GrowthEvent, GrowthKind, Member, read_growth, write_growth, write_member
from environment.ports import WriteConnections, WriteEntries, WriteReport, WriteTrace
from environment.severity import salience_of, severity
from environment.stores.sqlite import open_stores
from orchestration.feed.app import create_app
from orchestration.feed.server import FeedServer
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.gateway.services import all_handlers
from orchestration.gateway.settings import IntakeSettings
from orchestration.growth.admin import GrowthAdmin
from orchestration.growth.settings import Approval, GrowthSettings
from orchestration.view.mind import MindView, ViewContext
from orchestration.view.tail import StreamTail
from tests.servers.process import free_ports

expect.set_options(timeout=60_000)

CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

WATCH = """
window.refused = [];
addEventListener('securitypolicyviolation', (event) => refused.push(event.violatedDirective + ' ' + event.blockedURI));
"""


def finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never suspends, as those of an inline store do not."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the coroutine suspended")


class World:
    """What a mind would have left in its stores; each call is one commit, seen by the server at once."""

    def __init__(self, directory) -> None:
        self.directory = directory
        self.stores = finish(open_stores(directory, "pantrow", inline=True, synchronous="OFF"))
        self.now = time.time()
        self.number = count(1)
        self.head = finish(self.stores.stream.head())
        self.audited = 0

    def perceive(self, text, source="chat", age=600.0):
        new = NewPerception(
            source=source, time=self.now - age, received=self.now, text=text, key=f"k{next(self.number)}"
        )
        (receipt,) = finish(self.stores.perceptions.append([new]))
        return PerceptionRef(receipt.id, new.time, source)

    def think(
        self,
        text,
        refs=None,
        *,
        author="association",
        salience=0.8,
        parents=None,
        half_life=3600.0,
        evidence=None,
        worded_by="",
    ):
        refs = tuple(refs or (self.perceive(f"heard of {text[:40]}"),))
        parents = tuple(parents or (ref.id for ref in refs))
        vector = np.zeros(256, dtype=np.float32)
        vector[next(self.number) % 256] = 1.0
        thought = Thought(
            id=thought_id(author, parents, str(next(self.number))),
            author=author,
            kind=ThoughtKind.INSIGHT,
            text=text,
            time=refs[0].time,
            at=self.now - 300,
            vector=vector,
            salience=salience,
            evidence=evidence or {},
            confidence=0.7,
            trust=0.4,
            perceptions=refs,
            parents=parents,
            worded_by=worded_by,
        )
        trace = Trace(thought, 1, Level(salience, self.now - 300, half_life), authors=(author,))
        finish(self.stores.commit([WriteTrace(trace)]))
        return trace

    def entry(self, trace, seq, kind=EntryKind.THOUGHT, age=None):
        thought = trace.thought
        return StreamEntry(
            seq=seq,
            id=entry_id(trace.id, seq),
            kind=kind,
            text=thought.text,
            time=thought.time if age is None else self.now - age,
            at=self.now,
            salience=salience_of(thought.salience),
            severity=severity(salience_of(thought.salience), thought.evidence),
            why=Decision(
                Ground.STOOD_OUT, thought.evidence, 0.9, 0.8, 64, 0.5, beaten="t-1", beaten_text="<b>lunch</b>"
            ),
            confidence=thought.confidence,
            trust=thought.trust,
            perceptions=thought.perceptions,
            lineage=(trace.id,),
            focus=trace.id if kind is EntryKind.THOUGHT else "",
            author=thought.author,
            worded_by=thought.worded_by,
        )

    def conscious(self, *texts, trace=None, kind=EntryKind.THOUGHT, **options):
        """Append thoughts to the stream, all resting on one trace unless they need their own."""
        trace = trace or self.think(texts[0], **options)
        entries = []
        for text in texts:
            self.head += 1
            entry = self.entry(trace, self.head, kind)
            entries.append(StreamEntry(**{**{f: getattr(entry, f) for f in entry.__slots__}, "text": text}))
        finish(self.stores.commit([WriteEntries(tuple(entries))]))
        return entries

    def report(self, name, role="cognitive", goal="To notice.", state=SubmindState.RUNNING, **more):
        finish(self.stores.commit([WriteReport(SubmindReport(name, role, goal, state, time.time(), **more))]))

    def connect(self, owner, peer, weight, *, label="room 2", uses=12, changes=()):
        link = Connection(
            owner, label, label, peer, weight, weight >= 0.6, uses, 9, self.now, ((self.now, "credited"),)
        )
        told = tuple(ConnectionChange(owner, label, peer, self.now + at, *rest, label) for at, *rest in changes)
        finish(self.stores.commit([WriteConnections(owner, (link,), (), told)]))

    def decide(self, kind, **more):
        """The next entry of the audit log of growth; a division comes with its child, who reports."""
        self.audited += 1
        event = GrowthEvent(self.audited, time.time(), kind, more.pop("by", "guard"), **more)
        writes = [write_growth(event)]
        if kind is GrowthKind.DIVIDED:
            child = Member(
                event.other, "cognitive", ("To notice.",), event.submind, 1, event.seq, event.at, 0.5, event.topics
            )
            writes += [write_member(child)]
            self.report(event.other)
        finish(self.stores.commit(writes))
        return event

    @property
    def audit(self):
        return finish(read_growth(self.stores.collections, 0, 100))

    def many(self, count, peers):
        """So many cognitive subminds, each connected with so many others, at all weights."""
        names = [f"scout-{index:03}" for index in range(count)]
        writes = []
        for index, name in enumerate(names):
            report = SubmindReport(name, "cognitive", "To scout.", SubmindState.RUNNING, time.time())
            others = [(names[(index * 7 + step * 31 + 1) % count], step) for step in range(peers)]
            links = tuple(
                Connection(name, "room", "room", peer, weight, weight >= 0.6, 12, 9, self.now, ())
                for peer, step in others
                if peer != name
                for weight in (0.05 + 0.9 * ((index + step) % 17) / 17,)
            )
            writes += [WriteReport(report), WriteConnections(name, links, (), ())]
        finish(self.stores.commit(writes))

    def close(self):
        finish(self.stores.close())


class Server:
    """The feed over stores of its own, in a thread with an event loop of its own; it may be stopped and started."""

    def __init__(self, directory, port, access=None) -> None:
        self.directory, self.port, self.access = directory, port, access
        self.words = None
        self.behind = 0.0  # seconds that mind time is behind the wall's
        self.url = f"http://127.0.0.1:{port}"
        self.thread = None

    def _mind_time(self):
        return time.time() - self.behind

    def start(self):
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.thread.start()
        assert self.ready.wait(60), "the server did not start"

    def stop(self):
        if self.thread is not None:
            self.loop.call_soon_threadsafe(self.ending.set)
            self.thread.join(60)
            self.thread = None

    async def _serve(self):
        self.loop, self.ending = asyncio.get_running_loop(), asyncio.Event()
        stores = await open_stores(self.directory, "pantrow")
        view = MindView(
            stores,
            WordLlamaEmbedder(),
            mind="pantrow",
            clock=lambda: time.time() - self.behind,
            wall=time.time,
            surroundings=ViewContext(words=self.words, goals=("Say once what matters.",)),
        )
        tail = StreamTail(stores.stream)
        intake = Intake(stores.perceptions, IntakeSettings(), time.time)
        settings = FeedSettings(listen=f"127.0.0.1:{self.port}", grace=1)
        bounds = GrowthSettings(approval=Approval.DIVISIONS)
        desk = GrowthAdmin(stores, bounds, {"concern": "cognitive"}, time.time, runs=lambda: True)
        app = create_app(view, intake, all_handlers(view, tail, desk), settings, access=self.access, version="test")
        server = FeedServer(app, settings)
        await server.start()
        keeping = asyncio.create_task(self.access.keep()) if self.access else None
        self.ready.set()
        await self.ending.wait()
        if keeping:
            keeping.cancel()
        await server.stop()
        await tail.close()
        await intake.close()
        await stores.close()


class Reader:
    """A browser page that remembers everything that should not have happened."""

    def __init__(self, page, base):
        self.page, self.base = page, base
        self.errors, self.elsewhere = [], []
        self.expected = ()
        page.on("pageerror", lambda error: self.errors.append(f"error {error}"))
        page.on("console", lambda message: message.type in {"error", "warning"} and self.errors.append(message.text))
        page.on("request", lambda request: self._asked(request.url))
        page.add_init_script(WATCH)

    def _asked(self, url):
        if not url.startswith(self.base) and not url.startswith(("data:", "blob:")):
            self.elsewhere.append(url)

    def open(self, path="/"):
        self.page.goto(self.base + path)
        self.page.wait_for_selector('#connection[data-state="live"]')
        return self.page

    def until(self, expression, seconds=60.0):
        """Wait until an expression is true; the page's policy forbids evaluating it inside."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"never came true: {expression}"
            self.page.wait_for_timeout(30)

    def numbers(self):
        return self.page.eval_on_selector_all("#feed > article", "all => all.map((a) => Number(a.dataset.seq))")

    def overflow(self):
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def check(self):
        """Nothing but what was expected went wrong, nothing was asked of another host, nothing was refused."""
        unexpected = [e for e in self.errors if not any(known in e for known in self.expected)]
        assert unexpected == []
        assert self.elsewhere == []
        assert self.page.evaluate("window.refused") == []
        assert self.page.evaluate("window.pwned") is None


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM)
        yield browser
        browser.close()


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.close()


@pytest.fixture
def port():
    return free_ports(1)[0]


@pytest.fixture
def server(world, port):
    server = Server(world.directory, port)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def read(browser, server):
    """Opens readers: ``read(width=360, theme="dark", ...)``; each is checked when the test ends."""
    opened = []

    def reader(*, width=1280, height=900, theme="light", motion="no-preference", touch=False, trusting=False):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            reduced_motion=motion,
            has_touch=touch,
            timezone_id="UTC",
            locale="en-GB",
            ignore_https_errors=trusting,
        )
        context.set_default_timeout(60_000)
        opened.append((context, Reader(context.new_page(), server.url)))
        return opened[-1][1]

    yield reader
    for context, one in opened:
        one.check()
        context.close()
