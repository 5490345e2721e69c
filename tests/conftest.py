"""Fixtures that every room's tests may ask for."""

import os
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from environment.ports import Stores
from environment.stores.sqlite import open_stores

pytest_plugins = ["tests.servers.fixtures", "tests.targets"]

# That a busy machine is slow to draw an example, or to run it, is no fault of what is tested.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

_LONG = Path(__file__).parent / "orchestration"
_LONGEST = ("test_nodes", "test_living", "test_simulation", "test_flood", "test_crashes")
"""Files that take minutes, the longest first; after them what else is under ``_LONG``, where whole minds are."""
_FAILED = pytest.StashKey[bool]()


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    """Stores of a mind named ``mind`` that has just begun."""
    opened = await open_stores(tmp_path, "mind", synchronous="OFF")
    yield opened
    await opened.close()


@pytest.fixture
async def inline_stores(tmp_path: Path) -> AsyncIterator[Stores]:
    """The same, in this thread: nobody who asks them waits, as in the simulator."""
    opened = await open_stores(tmp_path, "mind", inline=True, synchronous="OFF")
    yield opened
    await opened.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first: where several run at once, nobody is left alone with a long one at the end."""
    items.sort(key=lambda item: (_rank(item.path), not item.path.is_relative_to(_LONG)))


def _rank(path: Path) -> int:
    return _LONGEST.index(path.stem) if path.stem in _LONGEST else len(_LONGEST)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep whether it failed, for its teardown. What CI selects must run: there a test that is skipped has failed."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"skipped: {report.longrepr}"
    item.stash[_FAILED] = report.failed or (call.when != "setup" and item.stash.get(_FAILED, False))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End what a module's tests share when one of them failed: another attempt, and the next test, have it anew.

    A server that was killed and not started again, or a mind that lost a node, would fail them for certain. Only what
    the whole run shares, which no test may break, is kept, and what tests are about that go by ``in_order``.
    """
    if item.stash.get(_FAILED, False) and item.get_closest_marker("in_order") is None:
        item.session._setupstate.teardown_exact(item.session)  # of which only the chain is read
