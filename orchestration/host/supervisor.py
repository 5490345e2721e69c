"""Keeping a mind process running: started, watched, started again, stopped."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from environment.messages import Instant
from orchestration.backoff import backoff
from orchestration.clock import Clock
from orchestration.host import directories
from orchestration.host.child import MindChild
from orchestration.host.clock_file import write_json
from orchestration.links.credentials import new_credentials
from orchestration.membership.tunables import settings_update
from orchestration.placement.errors import PlacementError
from orchestration.runtime import processes
from orchestration.runtime.orders import RunOrders
from orchestration.runtime.pipe import Exit
from orchestration.settings import Settings
from orchestration.view.status import MindState, ProcessState

_log = structlog.get_logger(__name__)

_WHY = {
    Exit.FAILED: "it could not start",
    Exit.ORPHANED: "it lost its host",
    Exit.FALLEN: "a part of Ray died",
    Exit.FENCED_OUT: "another run leads this mind",
}


@dataclass
class RuntimeReport:
    """What has happened to a mind's processes since the host started; ``runtime.json`` in the data directory."""

    path: Path
    host_pid: int
    mind_pid: int = 0
    state: str = MindState.STARTING.value
    since: Instant = 0.0
    restarts: int = 0
    reason: str = ""
    actors: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Those that were restarted or quarantined: ``{"restarts": n, "quarantined": reason}``."""
    addresses: dict[str, str] = field(default_factory=dict)
    """Where the host listens: ``grpc``, ``http``."""
    nodes: list[dict[str, Any]] = field(default_factory=list)
    """Nodes of the cluster that the mind lives on, as ``Placement.described`` has them; none on a Ray of its own."""
    unschedulable: dict[str, str] = field(default_factory=dict)
    """Actors without a place there, and why."""
    standing_by: str = ""
    """Why this host does not lead; empty while it does."""

    def write(self) -> None:
        """Write it where others find it. A full disk is no reason to stop."""
        fields = {key: value for key, value in vars(self).items() if key != "path"}
        with suppress(OSError):
            write_json(self.path, fields)


class MindSupervisor:
    """Runs mind processes one after the other from ``start`` to ``halt``, as often as one likes, until ``stop``.

    Guarantees: never two at a time; before each start whatever an earlier one left behind is gone. A process that
    dies, or does not get its actors going in time, is replaced after a pause that grows while it keeps happening.
    """

    def __init__(
        self, settings: Settings, data_dir: Path, clock: Clock, wall: Callable[[], Instant], wiring: str
    ) -> None:
        self._settings = settings
        self._version = 0
        self._data_dir = data_dir
        self._clock = clock
        self._wall = wall
        self._wiring = wiring
        self._mark = processes.mark_of(data_dir)
        self._base = directories.run_base(self._mark)
        self._chance = random.SystemRandom()
        self._child: MindChild | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._running = asyncio.Event()
        self._next_token: Callable[[], Awaitable[int | None]] | None = None
        self.fenced_out: Callable[[str], None] | None = None
        """Called with the reason when a mind process ended because another run leads."""
        self.report = RuntimeReport(data_dir / "runtime.json", os.getpid(), since=wall())
        self.growth: Mapping[str, float] = {}
        """What growth was granted and refused since the mind process began, by metric name."""
        self.outlived = 0
        """Processes of actors that were heard of again, since the mind process began, once others had replaced them."""

    def start(self, token: Callable[[], Awaitable[int | None]] | None = None) -> None:
        """Begin; returns at once. ``token`` gives each process the epoch that it is to lead under."""
        self._stopping.clear()
        self._next_token = token
        self._task = asyncio.create_task(self._supervise(), name="mind-supervisor")

    async def configure(self, settings: Settings, version: int) -> None:
        """Live settings were changed: tell the mind process, and start the next one with them."""
        self._settings, self._version = settings, version
        if self._child is not None:
            await self._child.configure(settings_update(settings, version))

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have the mind process do something; what it answers. Raises ``PlacementError`` with why it does not."""
        if self._child is None:
            raise PlacementError("the mind does not run now: ask again when it does")
        try:
            answer = await self._child.ask(request)
        except ConnectionError as error:
            raise PlacementError(f"{error}: ask again when it runs") from None
        if "error" in answer:
            raise PlacementError(str(answer["error"]))
        return answer

    def state(self) -> ProcessState:
        """How the mind process is."""
        report = self.report
        return ProcessState(MindState(report.state), report.since, report.restarts, report.reason)

    async def halt(self, *, in_order: bool = True) -> None:
        """Stop the mind process, or kill it when that takes too long, or at once; ``start`` may follow."""
        self._stopping.set()
        child = self._child
        if child is not None and not in_order:
            child.kill()
        elif child is not None and not await child.stop(self._settings.host.stop_within):
            _log.warning("mind_killed", reason="it did not stop in time")
        if self._task is not None:
            await asyncio.wait([self._task])
        await asyncio.to_thread(self._sweep)
        self._is(MindState.DOWN, "stopped")

    @asynccontextmanager
    async def resting(self, why: str) -> AsyncIterator[int | None]:
        """No mind process runs within it, and one is started after it; perceptions are taken in all the same.

        Gives the epoch under which to write meanwhile; None: any newer one.
        """
        await self.halt()
        self._is(MindState.DOWN, why)
        try:
            token = await self._next_token() if self._next_token is not None else None
            yield token
        except Exception:
            self.start(self._next_token)
            raise
        self.start(self._next_token)  # who is cancelled leads no more, and starts nothing

    async def stop(self) -> None:
        """Stop the mind process in good order and leave nothing."""
        await self.halt()
        with suppress(OSError):
            self._base.rmdir()

    def kill(self) -> None:
        """End everything below this process now."""
        if self._child is not None:
            self._child.kill()
        self._sweep()

    async def _supervise(self) -> None:
        bad_starts = 0
        while not self._stopping.is_set():
            began = asyncio.get_running_loop().time()
            try:
                why = await self._run_once()
            except Exception as error:  # noqa: BLE001 - said, and tried again
                _log.exception("mind_not_started")
                why = f"{type(error).__name__}: {error}"
            if self._stopping.is_set():
                return
            steady = asyncio.get_running_loop().time() - began >= self._settings.host.steady_after
            bad_starts = 0 if steady else bad_starts
            pause = backoff(bad_starts, self._settings.host.restart, self._settings.host.restart_most, self._chance)
            bad_starts += 1
            self.report.restarts += 1
            self._is(MindState.DOWN, why)
            _log.error("mind_restarts", reason=why, after=round(pause, 2), restarts=self.report.restarts)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()

    async def _run_once(self) -> str:
        """One mind process from start to end; why it ended."""
        left = await asyncio.to_thread(self._sweep)
        if left:
            _log.warning("leftovers_ended", processes=left)
        if self._stopping.is_set():
            return "stopped"
        run_dir = directories.new_run_dir(self._base)
        seed = self._chance.getrandbits(63)
        token = await self._next_token() if self._next_token is not None else None
        settings, version = self._settings, self._version
        credentials = new_credentials() if settings.runtime.cluster.address else b""
        orders = RunOrders(
            settings, self._data_dir, run_dir, self._clock, seed, self._wiring, version, token, credentials
        )
        self._running.clear()
        self.report.actors.clear()
        self.report.nodes, self.report.unschedulable = [], {}
        self._is(MindState.STARTING, "")
        said: list[str] = []
        self._child = await MindChild.start(orders, self._mark, lambda line: self._heard(line, said))
        if self._stopping.is_set():  # asked to stop while it was being started: nobody else tells this child
            self._child.kill()
        if self._version != version:  # changed while it was being started
            await self._child.configure(settings_update(self._settings, self._version))
        self.report.mind_pid = self._child.pid
        self.report.write()
        slow = asyncio.create_task(self._give_up(self._child, said))
        try:
            code = await self._child.ended()
        finally:
            slow.cancel()
            self._child = None
            self.report.mind_pid = 0
            await asyncio.to_thread(self._sweep)
        if code == Exit.FENCED_OUT and self.fenced_out is not None:
            self.fenced_out(_WHY[Exit.FENCED_OUT])
        if said:
            return f"the mind process ended: {said[-1]}"
        why = (
            f"signal {-code}" if code < 0 else _WHY.get(Exit(code), str(code)) if code in set(Exit) else f"code {code}"
        )
        return f"the mind process ended: {why}"

    async def _give_up(self, child: MindChild, said: list[str]) -> None:
        """Kill a process that does not get going."""
        within = self._settings.host.start_within
        try:
            async with asyncio.timeout(within):
                await self._running.wait()
        except TimeoutError:
            said.append(f"its actors were not born within {within:.0f} s")
            child.kill()

    def _heard(self, line: Mapping[str, Any], said: list[str]) -> None:
        """Take in a status line of the mind process."""
        if line.get("state") == "running":
            self._running.set()
            self._is(MindState.RUNNING, "")
        elif line.get("state") == "down":
            said.append(str(line.get("reason", "")))
        elif "outlived" in line:
            self.outlived = int(line["outlived"])
        elif "growth" in line:
            self.growth = line["growth"]
        elif "nodes" in line:
            self.report.nodes, self.report.unschedulable = line["nodes"], line["unschedulable"]
            self.report.write()
        elif "actor" in line:
            name, quarantined = str(line["actor"]), str(line.get("quarantined", ""))
            self.report.actors[name] = {"restarts": line.get("restarts", 0), "quarantined": quarantined}
            self.report.write()
            if quarantined:
                _log.error("actor_quarantined", submind=name, reason=quarantined)

    def _is(self, state: MindState, reason: str) -> None:
        self.report.state, self.report.reason, self.report.since = state.value, reason, self._wall()
        self.report.write()

    def _sweep(self) -> int:
        """End and remove what runs of this mind left behind."""
        count = processes.sweep(self._mark, self._base)
        directories.clear_run_dirs(self._base)
        return count
