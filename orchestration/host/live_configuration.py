"""Following the live configuration, and keeping a record of what a mind worked with."""

import asyncio
import getpass
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from environment.configuration import Configuration, read_configurations, write_configuration
from environment.errors import SubliminalError
from environment.messages import Instant
from environment.ports import Stores
from orchestration.host.supervisor import MindSupervisor
from orchestration.membership.errors import ConfigurationRefused
from orchestration.membership.ports import ConfigurationVersion, LiveConfiguration
from orchestration.membership.tunables import tuned
from orchestration.settings import Settings

_log = structlog.get_logger(__name__)


ChangeListener = Callable[[str, int, Sequence[str]], None]


@dataclass(eq=False, repr=False)
class LiveConfigurationFollower:
    """The configuration a mind works with: file and environment, and over them what was changed since.

    Guarantees: a change that does not hold here (another host has another file, or another version of the software)
    is said and left out, never half of it; each that is put to work by a leader leaves a snapshot in the store.

    ``told`` is called with who made a change, its number and its settings, once it is at work here.
    """

    _base: Settings
    _live: LiveConfiguration
    _supervisor: MindSupervisor
    _stores: Stores
    _told: ChangeListener = lambda *_: None

    def __post_init__(self) -> None:
        self._changed = asyncio.Event()
        self.settings = self._base
        """File and environment, with what holds of the newest version over them."""
        self.by, self.version = _operator(), 0

    async def follow(self) -> None:
        """Put each change to work as it comes, until cancelled."""
        async for change in self._live.watch():
            await self.apply(change)

    async def apply(self, change: ConfigurationVersion) -> None:
        """Put one version to work."""
        if change.version <= self.version:
            return
        try:
            settings = tuned(self._base, change.values)
        except ConfigurationRefused as error:
            _log.error("configuration_left_out", version=change.version, reason=str(error))
            return
        self.settings, self.version, self.by = settings, change.version, change.by
        _log.info("configuration_changed", version=change.version, by=change.by, changed=list(change.changed))
        self._told(change.by, change.version, change.changed)
        await self._supervisor.configure(settings, change.version)
        self._changed.set()

    async def record(self, wall: Callable[[], Instant]) -> None:
        """Leave a snapshot of what is at work, now and whenever it changes, until cancelled: a leader's duty."""
        while True:
            self._changed.clear()
            try:
                await self._snapshot(wall())
            except SubliminalError as error:
                _log.warning("configuration_not_recorded", reason=str(error))
                await asyncio.sleep(getattr(error, "retry_after", 1.0))
                continue
            await self._changed.wait()

    async def _snapshot(self, at: Instant) -> None:
        """Unless the last one says the same."""
        body = self.settings.model_dump_json()
        last = await read_configurations(self._stores.collections, 1)
        if last and last[0].body == body:
            return
        number = last[0].version + 1 if last else 1
        await self._stores.commit([write_configuration(Configuration(number, at, self.by, body))])


def _operator() -> str:
    """Who started this process, and where."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "somebody"
    return f"{user}@{socket.gethostname()}"
