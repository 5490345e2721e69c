"""One mind process, as its host sees it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import orchestration
from orchestration.runtime.machines.cluster import ray_environment
from orchestration.runtime.orders import RunOrders
from orchestration.runtime.pipe import encode
from orchestration.runtime.processes import MARK
from orchestration.settings import SettingsUpdate

_LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a status line; the longest tells of nodes and who lives on them."""
_ROOT = Path(orchestration.__file__).parents[1]


class MindChild:
    """Starts a mind process, hears what it says, and stops it.

    It dies with this process, whatever happens to it: the kernel sees to that, and so does the pipe it reads.
    """

    def __init__(self, process: Process, say: Callable[[Mapping[str, Any]], None]) -> None:
        self._process = process
        self._say = say
        self._asked: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._numbers = count(1)
        self._hearing = asyncio.create_task(self._hear(), name="mind-status")

    @classmethod
    async def start(cls, orders: RunOrders, mark: str, say: Callable[[Mapping[str, Any]], None]) -> MindChild:
        """Start it with ``orders``; ``say`` is called with each of its status lines."""
        environ = {**os.environ, **ray_environment(orders.settings.runtime), MARK: mark}
        paths = [str(_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
        with (orders.data_dir / "mind.err").open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "orchestration.runtime", str(os.getpid())),
                stdin=PIPE,
                stdout=PIPE,
                stderr=errors,
                env=environ,
                limit=_LONGEST_LINE,
                start_new_session=True,
            )
        child = cls(process, say)
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.write(encode(orders))
                await process.stdin.drain()
        return child

    @property
    def pid(self) -> int:
        """The process id, also once it has ended."""
        return self._process.pid

    async def ended(self) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        code = await self._process.wait()
        await asyncio.wait([self._hearing])
        return code

    async def configure(self, event: SettingsUpdate) -> None:
        """Tell it that settings were changed."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(encode(event))
                await self._process.stdin.drain()

    async def ask(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Have it do something, and what came of it: ``error`` says why nothing did. Raises ``ConnectionError``.

        Whether something was done is not known then.
        """
        number = next(self._numbers)
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            if self._process.stdin is None or self._hearing.done():
                raise ConnectionResetError("the mind process has ended")
            self._process.stdin.write(encode({**request, "number": number}))
            await self._process.stdin.drain()
            return await answer
        finally:
            del self._asked[number]

    async def stop(self, within: float) -> bool:
        """Ask it to save and stop; kill it when it takes longer than ``within``. Whether it stopped by itself."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(encode(None))
                await self._process.stdin.drain()
        try:
            async with asyncio.timeout(within):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
            return False
        return self._process.returncode == 0

    def kill(self) -> None:
        """End it at once; what it started is left for a sweep."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def _hear(self) -> None:
        if self._process.stdout is None:
            return
        async for line in self._process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if not isinstance(said, dict):
                continue
            if "answer" not in said:
                self._say(said)
            elif (asked := self._asked.get(said["answer"])) is not None and not asked.done():
                asked.set_result(said)
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(ConnectionResetError("the mind process has ended"))
