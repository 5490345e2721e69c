"""What a mind perceived, read from its own log: for a replay of its own life."""

from __future__ import annotations

from pathlib import Path

from environment.messages import Instant, NewPerception
from orchestration.cli.failure import Failure
from orchestration.cli.times import moment
from orchestration.settings import Settings
from orchestration.store_factory import address_of, embedded_in, open_mind

_PAGE = 500


def instant(option: str, text: str | None, default: Instant) -> Instant:
    """A time that an option names. Raises ``Failure``."""
    return default if text is None else moment(option, text)


async def logged(settings: Settings, data_dir: Path, since: Instant, until: Instant) -> list[NewPerception]:
    """What the mind received from ``since`` on and before ``until``, as it was received, in the order of its log.

    The mind may be running. Raises ``Failure`` where there is none, or where it perceived nothing then.
    """
    directory = embedded_in(settings, data_dir)
    where = directory or str(address_of(settings, data_dir)).partition("?")[0]
    if directory is not None and not (directory / "perceptions.db").exists():
        raise Failure(f"there is no mind in {directory}")
    stores = await open_mind(settings, data_dir, "replay")
    found: list[NewPerception] = []
    try:
        after = 0
        while page := await stores.perceptions.read(after, _PAGE):
            found += [perception for perception in page if since <= perception.received < until]
            after = page[-1].seq
    finally:
        await stores.close()
    if not found:
        when = "" if (since, until) == (float("-inf"), float("inf")) else " in that time"
        raise Failure(f"{settings.mind.name} at {where} perceived nothing{when} that is still kept")
    return found
