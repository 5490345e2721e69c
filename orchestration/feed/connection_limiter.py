"""A bound on the connections of an HTTP server, and who has to go when somebody else comes."""

import contextlib
import socket
import struct
from collections import OrderedDict
from collections.abc import Callable
from itertools import islice

_LOOKED_AT = 64
_RECEIVED, _RECEIVED_AT = struct.Struct("=Q"), 128
"""``tcpi_bytes_received`` of Linux's ``struct tcp_info``."""


class ConnectionLimiter(socket.socket):
    """A listening socket with at most ``most`` connections at a time.

    Who comes beyond them takes the place of one with nothing under way: one that never sent a byte, if it can be, and
    of those the one that came first. This holds before TLS is spoken as well, which costs asyncio a quarter of a
    megabyte each. Where all are at work, who comes is hung up on.
    """

    def attend(self, most: int, limit_hit: Callable[[], None]) -> None:
        """Begin to count; before the first connection."""
        self._most = most
        self._limit_hit = limit_hit
        self._open: dict[int, _Accepted] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()

    def accept(self) -> tuple[socket.socket, object]:
        """As ``socket.accept``."""
        fd, address = self._accept()  # type: ignore[attr-defined]  # as the standard library's does
        made = _Accepted(self.family, self.type, self.proto, fileno=fd)
        made.limiter = self
        self._open[fd] = made
        self._idle[fd] = None
        if len(self._open) > self._most:
            self._limit_hit()
            one = self._least()
            self._idle.pop(one, None)
            with contextlib.suppress(OSError):  # it has gone by itself
                self._open[one].shutdown(socket.SHUT_RDWR)
        return made, address

    def _least(self) -> int:
        """Who is to go: of those idle for longest one that never said a word, else the first."""
        longest = list(islice(self._idle, _LOOKED_AT))
        return next((fd for fd in longest if self._open[fd].silent), longest[0])

    def works(self, fd: int) -> None:
        """Something is under way on this connection: it is not to be cut off."""
        self._idle.pop(fd, None)

    def rests(self, fd: int) -> None:
        """Nothing is under way on it."""
        if fd in self._open:
            self._idle.setdefault(fd, None)

    def gone(self, fd: int) -> None:
        """It is closed."""
        self._open.pop(fd, None)
        self._idle.pop(fd, None)


class _Accepted(socket.socket):
    """A connection that tells its limiter when it is closed."""

    limiter: ConnectionLimiter

    @property
    def silent(self) -> bool:
        """Whether not one byte ever came, read or not."""
        try:
            info = self.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED.size + _RECEIVED_AT)
            return _RECEIVED.unpack_from(info, _RECEIVED_AT)[0] == 0  # type: ignore[no-any-return]
        except (OSError, struct.error):  # it is gone, or the kernel is of before 2015
            return False

    def close(self) -> None:
        self.limiter.gone(self.fileno())
        super().close()
