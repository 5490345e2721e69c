"""A process in which one actor notes the numbers that it hears: `python -m tests.orchestration.links.hearer`.

The endpoint of the directory as JSON, its own place and the credentials of the run come on standard input; what it
heard goes to standard output, a line for each batch.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

from orchestration.links.addresses import Endpoint
from orchestration.links.links import Links
from tests.orchestration.links.processes import SETTINGS


class Hearer:
    def deliver(self, envelopes):
        sys.stdout.write(" ".join(event.trace_id for event, _ in envelopes) + "\n")
        sys.stdout.flush()
        return True

    def configure(self, event):
        pass

    def health(self):
        return {"born": 1.0}

    def stop(self):
        asyncio.get_running_loop().stop()


async def main():
    told = json.loads(sys.stdin.readline())
    links = Links(
        "peer",
        told["life"],
        Endpoint(**told["directory"]),
        Path(told["place"]),
        SETTINGS,
        random.Random(1),
        credentials=told["credentials"].encode(),
        host="127.0.0.1",
    )
    links.register("peer", Hearer())
    await links.open()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
