"""Take the screenshots of the page that the documents show: ``python docs/screenshots.py [--url URL] [--out DIR]``.

Without ``--url`` it serves the example day from a store of its own (see ``pantrow.py``); with it, it looks at a mind
that runs. Needs ``chromium`` and the ``dev`` extra.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pantrow
import pantrow_mind
from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

from actors.substrate.embedding import WordLlamaEmbedder
from environment.messages import Instant
from environment.ports import Stores
from environment.stores.sqlite import open_stores
from orchestration.feed.app import create_app
from orchestration.feed.server import FeedServer
from orchestration.feed.settings import FeedSettings
from orchestration.gateway.intake import Intake
from orchestration.gateway.services import all_handlers
from orchestration.gateway.settings import IntakeSettings
from orchestration.growth.admin import GrowthAdmin
from orchestration.growth.settings import GrowthSettings
from orchestration.settings import MindSettings
from orchestration.view.mind import MindView
from orchestration.view.tail import StreamTail

LARGEST = 300_000
"""Bytes of a picture."""
_SETTLE_MS = 1500
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class Shot:
    """One picture."""

    name: str
    width: int
    height: int
    theme: str = "light"
    phone: bool = False
    lineage: bool = False
    """With the lineage open of the thought that rests on most."""
    network: bool = False
    """With the network large, and a connection open in it; on a phone without."""


SHOTS = (
    Shot("page-desktop", 1280, 880),
    Shot("page-dark", 1280, 880, theme="dark"),
    Shot("page-lineage", 1280, 880, lineage=True),
    Shot("page-network", 1280, 880, network=True),
    Shot("page-phone", 390, 844, phone=True),
    Shot("page-phone-network", 390, 844, phone=True, theme="dark", network=True),
)


@asynccontextmanager
async def example_day(now: Instant) -> AsyncIterator[tuple[str, Stores]]:
    """The address of a page over the example day, at ``now``, and what it is served from."""
    with tempfile.TemporaryDirectory() as folder:
        stores = await open_stores(Path(folder), "pantrow", synchronous="OFF")
        await pantrow.seed(stores, now)
        view = MindView(stores, WordLlamaEmbedder(), mind="pantrow", clock=lambda: now, wall=lambda: now)
        tail = StreamTail(stores.stream)
        intake = Intake(stores.perceptions, IntakeSettings(), lambda: now)
        settings = FeedSettings(listen="127.0.0.1:0", grace=1)
        configured = {submind.name: submind.role for submind in MindSettings().subminds}
        desk = GrowthAdmin(stores, GrowthSettings(), configured, lambda: now, runs=lambda: True)
        server = FeedServer(create_app(view, intake, all_handlers(view, tail, desk), settings), settings)
        await server.start()
        try:
            yield server.url, stores
        finally:
            await server.stop()
            await tail.close()
            await intake.close()
            await stores.close()


async def _open_lineage(page: Page) -> None:
    most = """() => [...document.querySelectorAll('article.thought')]
        .sort((a, b) => b.querySelectorAll('.source').length - a.querySelectorAll('.source').length)[0].dataset.seq"""
    seq = await page.evaluate(most)
    await page.click(f'article[data-seq="{seq}"] .words')
    await page.wait_for_selector('#panel [role="tree"]')
    await page.evaluate("document.activeElement.blur()")


async def _open_network(page: Page, shot: Shot) -> None:
    await page.keyboard.press("2")
    await page.wait_for_selector(".line", state="attached")
    if not shot.phone:
        strongest = """() => { const strong = [...document.querySelectorAll('.arc.ltp')]
            .sort((a, b) => b.getAttribute('stroke-width') - a.getAttribute('stroke-width'))[0].dataset;
            location.hash = `#line=${strong.owner}/${strong.peer}` }"""
        await page.evaluate(strongest)
        await page.wait_for_selector("#panel .life")
        await page.evaluate("document.activeElement.blur()")


async def take(browser: Browser, shot: Shot, url: str, now: Instant | None, stores: Stores | None = None) -> bytes:
    """One picture as PNG. With ``now`` the browser believes that it is then; with ``stores`` something flows."""
    context = await browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.theme == "dark" else "light",
        device_scale_factor=2 if shot.phone else 1,
        has_touch=shot.phone,
        is_mobile=shot.phone,
        timezone_id="UTC",
    )
    page = await context.new_page()
    if now is not None:
        await page.clock.set_fixed_time(now)
    await page.goto(url)
    await page.wait_for_selector("#feed > article")
    await page.wait_for_selector("#figures dd")
    if shot.network:
        await _open_network(page, shot)
    elif not shot.phone:
        await page.wait_for_selector(".line", state="attached")
    if stores is not None and (shot.network or not shot.phone):
        await pantrow_mind.use(stores, now or 0.0)
        await page.wait_for_selector(".arc.used", state="attached")
    if shot.lineage:
        await _open_lineage(page)
    await page.wait_for_timeout(_SETTLE_MS)
    picture = await page.screenshot()
    await context.close()
    return picture


def smaller(picture: bytes) -> bytes:
    """The same picture in fewer bytes: without transparency, and packed with patience."""
    out = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(out, "PNG", optimize=True)
    return out.getvalue()


async def take_all(out: Path, url: str | None) -> list[Path]:
    """Every picture, written to the folder ``out``. Raises ``RuntimeError`` where one is too large for a document."""
    now = None if url else pantrow.UNTIL_INSTANT
    written = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_FLAGS)
        for shot in SHOTS:
            if url:
                picture = await take(browser, shot, url, None)
            else:
                async with example_day(pantrow.UNTIL_INSTANT) as (served, stores):
                    picture = await take(browser, shot, served, now, stores)
            picture = smaller(picture)
            if len(picture) > LARGEST:
                raise RuntimeError(f"{shot.name} has {len(picture)} bytes, more than {LARGEST}")
            path = out / f"{shot.name}.png"
            path.write_bytes(picture)
            written.append(path)
        await browser.close()
    return written


def main() -> int:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(description="Take the screenshots that the documents show.")
    parser.add_argument("--url", help="a mind that runs; without it the example day is served")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "images", help="folder for the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for path in asyncio.run(take_all(options.out, options.url)):
        sys.stdout.write(f"{path} {path.stat().st_size}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
