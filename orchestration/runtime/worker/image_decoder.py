"""Looking at images in a process of its own, so that no image can hold up or end the actor that perceives it."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

import msgspec
import structlog

from actors.image_features import TOO_LONG, UNSEEN, ImageFeatures, digest, said, unseen
from environment.messages import Perception
from orchestration.runtime.settings import ImageDecodingSettings
from orchestration.runtime.worker.image_decoder_process import LENGTH

_log = structlog.get_logger(__name__)
_SLICE = 1.0
"""Seconds after which what was seen so far is handed on."""
_IDLE = 30.0
"""Seconds without an image after which the process is ended: the next one begins another."""
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


class ImageDecoder:
    """Looks at images one after the other.

    Guarantees: each takes at most ``seconds``, and about ``memory_bytes`` beyond what the process needs anyway; one
    that would take more, or ends the process, is said to be so and is not looked at again. There is no process while
    no images come.
    """

    def __init__(self, settings: ImageDecodingSettings, pixels: int) -> None:
        self._settings = settings
        self._pixels = pixels
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.TimerHandle | None = None
        self.looks: dict[bytes, ImageFeatures] = {}
        """What was seen of the images that ``see`` was handed last, by digest of their bytes."""

    async def see(self, perceptions: Sequence[Perception]) -> list[Perception]:
        """Look at the images among them; the first of them, at least one, all of whose images were looked at.

        The rest is to be handed again. Cancelled, it may be called again.
        """
        self._stay()
        loop = asyncio.get_running_loop()
        until = loop.time() + _SLICE
        looks: dict[bytes, ImageFeatures] = {}
        seen: list[Perception] = []
        for perception in perceptions:
            if seen and loop.time() >= until:
                break
            if perception.image is not None:
                data = perception.image.data
                key = digest(data)
                if key not in looks:
                    looks[key] = self.looks.get(key) or await self._look(data)
            seen.append(perception)
        self.looks = looks
        self._ending = loop.call_later(_IDLE, self.close)
        return seen

    def close(self) -> None:
        """End the process, if there is one. ``see`` may follow."""
        self._stay()
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()

    def _stay(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    async def _look(self, data: bytes) -> ImageFeatures:
        try:
            return msgspec.msgpack.decode(await _ask(self._process or await self._begin(), data), type=ImageFeatures)
        except (OSError, EOFError) as error:
            process, self._process = self._process, None
            ended = await process.wait() if process is not None else str(error)
            problem = TOO_LONG if ended == -signal.SIGALRM else UNSEEN
            _log.warning("image_not_looked_at", reason=problem, ended=ended, size=len(data))
            return unseen(said(len(data)), problem)
        except BaseException:  # half an answer may be on its way
            self.close()
            raise

    async def _begin(self) -> asyncio.subprocess.Process:
        settings = self._settings
        bounds = (str(self._pixels), str(settings.seconds), str(settings.memory_bytes))
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "orchestration.runtime.worker.image_decoder_process", *bounds),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, **dict.fromkeys(_THREADS, "1")},
        )
        return self._process


async def _ask(process: asyncio.subprocess.Process, data: bytes) -> bytes:
    """Raises ``OSError`` or ``EOFError`` when the process ends before it has answered."""
    if process.stdin is None or process.stdout is None:
        raise BrokenPipeError
    process.stdin.writelines((LENGTH.pack(len(data)), data))
    await process.stdin.drain()
    (size,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    return await process.stdout.readexactly(size)
