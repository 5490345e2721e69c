"""Pictures that take long to look at delay the sense of images, and nothing else."""

import asyncio
import time

import pytest
from PIL import Image

from environment.messages import Image as Picture
from environment.messages import NewPerception
from orchestration.client import MindClient
from tests.actors.perception.perceiving import encoded
from tests.orchestration.living import LivingMind, submind_run

WITHIN = 90
SETTINGS = f"host: {{start_within: {WITHIN}}}\n"
HEAVY = 80
"""Each takes a few seconds: all of them longer than a mind has to start, and than an actor may be silent."""


@pytest.mark.timeout(600)
async def test_a_mind_starts_and_reads_while_pictures_wait(tmp_path):
    (tmp_path / "mind.yaml").write_text(SETTINGS)
    config = ("--mind", str(tmp_path / "mind.yaml"))
    heavy = encoded(Image.linear_gradient("L").resize((6200, 6400)).convert("RGB"), "WEBP", quality=20, method=0)
    with LivingMind(tmp_path / "data", lambda directory: submind_run(directory, *config)) as mind:
        mind.start()
        async with MindClient(mind.grpc) as client:
            now = time.time()
            for number in range(HEAVY):
                picture = Picture(heavy + bytes([number]), "image/webp")
                await client.perceive([NewPerception("camera", now, now, image=picture)])
            mind.kill("mind")
            mind.running(restarts=1, seconds=WITHIN)
            (told,) = await client.perceive([NewPerception("people", now, now, text="the pump in hall three leaks")])
            cursors = await read(client, told.seq)
            assert mind.report()["restarts"] == 1
            assert cursors["image"] < HEAVY, "there are no pictures left to wait for: make them heavier"
            await read(client, 3, "image")
            assert mind.report()["actors"] == {}, "nobody died of it"
        assert mind.stop() == 0


async def read(client, seq, sense="text", seconds=60.0):
    """How far each sense has read, once one has read that far."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        cursors = {one.name: one.metrics["cursor"] for one in await client.subminds() if "cursor" in one.metrics}
        if cursors.get(sense, 0) >= seq:
            return {"image": 0, **cursors}
        await asyncio.sleep(0.2)
    raise AssertionError(f"{sense} does not read: {cursors}")
