"""What a host and its mind process say to each other, on the pipes that only they hold."""

import asyncio
import json
import os
import pickle
import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, BinaryIO

from orchestration.runtime.orders import RunOrders
from orchestration.settings import SettingsUpdate

_LENGTH = struct.Struct("!I")


class Exit(IntEnum):
    """How the mind process ended."""

    STOPPED = 0
    """It was told to, and everybody saved."""
    FAILED = 1
    """It could not start; the last status line says why."""
    ORPHANED = 2
    """Its host is gone."""
    FALLEN = 3
    """The raylet or the GCS died."""
    FENCED_OUT = 4
    """Another run leads this mind."""


def encode(message: RunOrders | SettingsUpdate | Mapping[str, Any] | None) -> bytes:
    """What a host writes to its child: orders first; later settings that changed, what is to be done, or None: stop.

    What is to be done has a ``number``; the status line with that as its ``answer`` says what came of it.
    """
    body = pickle.dumps(message)
    return _LENGTH.pack(len(body)) + body


def read_orders(pipe: BinaryIO) -> RunOrders:
    """What the host wrote. Raises ``EOFError`` when it went away before that was done."""
    (length,) = _LENGTH.unpack(_read_whole(pipe, _LENGTH.size))
    body = _read_whole(pipe, length)
    orders = pickle.loads(body)  # noqa: S301 - this process's own parent wrote it
    if not isinstance(orders, RunOrders):
        raise TypeError(f"orders are {type(orders).__name__}")
    return orders


def _read_whole(pipe: BinaryIO, length: int) -> bytes:
    """So many bytes; a pipe hands over some tens of kilobytes at a time, and many subminds take more."""
    body = b""
    while len(body) < length:
        more = pipe.read(length - len(body))
        if not more:
            raise EOFError
        body += more
    return body


class Report:
    """Status lines for the host: one JSON object a line, on what was standard output."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def tell(self, **fields: object) -> None:
        """Write a line. A host that is gone is noticed elsewhere."""
        try:
            os.write(self._fd, json.dumps(fields).encode() + b"\n")
        except OSError:
            return

    def close(self) -> None:
        """Write no more."""
        os.close(self._fd)


async def read_later(reader: asyncio.StreamReader) -> SettingsUpdate | Mapping[str, Any] | None:
    """What the host wrote after its orders. Raises ``asyncio.IncompleteReadError`` when it went away."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    message: SettingsUpdate | Mapping[str, Any] | None = pickle.loads(await reader.readexactly(length))  # noqa: S301 - as above
    return message
