"""A process that looks at images, one after the other, and that may be killed: ``python -m`` it with its bounds.

Each image comes on standard input as its length (four bytes, big-endian) and its bytes; what was seen goes the same way
to standard output, as msgpack. The kernel ends the process when an image takes longer than it may.
"""

import os
import resource
import signal
import struct
import sys

LENGTH = struct.Struct("!I")


def main(pixels: int, seconds: float, memory: int) -> None:
    """Look until there is nothing more; ``memory`` is what that may take beyond what the process has by now."""
    import msgspec  # noqa: PLC0415 - whoever starts this process needs nothing of it

    from actors.perception.image_decoding import look  # noqa: PLC0415

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - pathlib is not needed for that
        most = int(statm.read().split()[0]) * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what decoders print is no answer
    while head := source.read(LENGTH.size):
        (size,) = LENGTH.unpack(head)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        seen = msgspec.msgpack.encode(look(source.read(size), pixels))
        signal.setitimer(signal.ITIMER_REAL, 0)
        told.write(LENGTH.pack(len(seen)) + seen)
        told.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
