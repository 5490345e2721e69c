"""A gateway and a feed in a process of their own, to be attacked: ``python -m ... DIR`` with DIR/access.json."""

import asyncio
import json
import sys
from pathlib import Path

from orchestration.access.settings import AccessSettings
from orchestration.serving import more_files
from tests.orchestration.access.conftest import serving


def say(what):
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


async def stand(directory):
    given = json.loads((directory / "access.json").read_text())
    settings = AccessSettings.model_validate(given["access"])
    async with serving(
        directory / "mind", settings, feed=given["feed"], gateway=given["gateway"], verify=False
    ) as served:
        say({"grpc": served.port, "http": served.feed.port})
        while sys.stdin.isatty() or await asyncio.to_thread(sys.stdin.readline):
            say({**served.access.figures(), **served.feed._app.state.feed.figures.limit_hits})


if __name__ == "__main__":
    more_files()
    asyncio.run(stand(Path(sys.argv[1])))
