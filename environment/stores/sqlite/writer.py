"""The process that writes a perception log: ``python -m environment.stores.sqlite.writer``, from ``apart.py`` only."""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection
from pathlib import Path

from environment.stores.sqlite.apart import serve
from environment.stores.sqlite.lane import Lane
from environment.stores.sqlite.perceptions import SqlitePerceptions


def main(fd: str, path: str, mind: str, synchronous: str, busy_timeout: str) -> None:
    """Serve on the pipe ``fd``."""
    lane = Lane(
        Path(path),
        inline=True,
        synchronous="OFF" if synchronous == "OFF" else "FULL",
        busy_timeout=float(busy_timeout),
    )
    with Connection(int(fd)) as pipe:
        serve(pipe, SqlitePerceptions(lane, mind))


if __name__ == "__main__":
    main(*sys.argv[1:])
