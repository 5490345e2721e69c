"""What a host and its mind process say to each other, on the pipes that only they hold."""

from __future__ import annotations

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
STOP, CONFIGURE, ASK = b"s", b"c", b"a"
"""What a host writes after the orders: stop; settings were changed; do something and answer."""


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


def encode_orders(orders: RunOrders) -> bytes:
    """What a mind process is to do, as its host writes it to its standard input."""
    body = pickle.dumps(orders)
    return _LENGTH.pack(len(body)) + body


def encode_configured(event: SettingsUpdate) -> bytes:
    """What a host writes later, when settings were changed."""
    body = pickle.dumps(event)
    return CONFIGURE + _LENGTH.pack(len(body)) + body


def encode_request(number: int, request: Mapping[str, Any]) -> bytes:
    """What a host writes to have something done; the status line with that ``answer`` says what came of it."""
    body = json.dumps({**request, "number": number}).encode()
    return ASK + _LENGTH.pack(len(body)) + body


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


async def read_body(reader: asyncio.StreamReader) -> bytes:
    """What follows a word of the host's. Raises ``asyncio.IncompleteReadError`` when it went away before that."""
    (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
    return await reader.readexactly(length)


async def read_configured(reader: asyncio.StreamReader) -> SettingsUpdate:
    """What was configured; raises as ``read_body``."""
    event = pickle.loads(await read_body(reader))  # noqa: S301 - this process's own parent wrote it
    if not isinstance(event, SettingsUpdate):
        raise TypeError(f"settings are {type(event).__name__}")
    return event
