"""Images are looked at in a process of its own, in bounds of time and memory."""

import asyncio
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest
from PIL import Image

from actors.image_features import TOO_LONG, TOO_MUCH, UNSEEN, digest
from actors.perception.image_decoding import look
from environment.messages import Image as Picture
from environment.messages import Perception
from orchestration.runtime.settings import ImageDecodingSettings
from orchestration.runtime.worker import image_decoder as module
from orchestration.runtime.worker.image_decoder import ImageDecoder
from tests.actors.perception.perceiving import encoded
from tests.actors.perception.pictures import photo, plain
from tests.orchestration.until import until

MOST = 40_000_000


def shown(number, data):
    picture = Picture(data, "image/png")
    return Perception(source="camera", time=1.0, received=1.0, image=picture, id=f"p-{number}", seq=number)


@pytest.fixture
async def eyes():
    opened = []

    def opening(pixels=MOST, **bounds):
        opened.append(ImageDecoder(ImageDecodingSettings(**bounds), pixels))
        return opened[-1]

    yield opening
    for one in opened:
        one.close()
    await until(lambda: not decoders())
    await asyncio.sleep(0.1)  # the loop hears of their end from another thread


@pytest.fixture(scope="module")
def heavy():
    """Allowed: a hundred kilobytes, fewer than forty million pixels. Seconds to look at."""
    return encoded(Image.linear_gradient("L").resize((6200, 6400)).convert("RGB"), "WEBP", quality=20, method=0)


def decoders():
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            found += [child] * ("orchestration.runtime.worker.image_decoder_process" in child.cmdline())
    return found


async def problem(decoder, data):
    await decoder.see([shown(1, data)])
    return decoder.looks[digest(data)].problem


async def test_it_sees_what_looking_sees(eyes):
    decoder = eyes(pixels=100_000)
    pictures = [encoded(photo()), plain("red"), encoded(photo(2, (400, 300))), b"no picture"]
    waiting, looks = [shown(number, data) for number, data in enumerate(pictures)], {}
    while waiting:
        seen = await decoder.see(waiting)
        assert seen == waiting[: len(seen)]
        waiting, looks = waiting[len(seen) :], looks | decoder.looks
    assert looks == {digest(data): look(data, 100_000) for data in pictures}


async def test_what_takes_too_long_is_said_and_passed(eyes, heavy):
    decoder = eyes(seconds=0.3)
    assert await problem(decoder, heavy) == TOO_LONG
    assert await problem(decoder, plain("red")) == ""


async def test_what_takes_too_much_memory_is_said_and_passed(eyes):
    decoder = eyes(memory_bytes=64 * 2**20)
    large = encoded(Image.new("RGB", (6200, 6400)), "PNG")
    assert await problem(decoder, large) == TOO_MUCH
    assert await problem(decoder, plain("red")) == ""


async def test_a_process_that_is_killed_takes_one_image_with_it(eyes, heavy):
    decoder = eyes()
    seeing = asyncio.create_task(problem(decoder, heavy))
    await until(decoders)
    decoders()[0].kill()
    assert await seeing == UNSEEN
    assert await problem(decoder, plain("red")) == ""


async def test_nobody_waits_for_all_of_them(eyes, heavy):
    waiting = [shown(number, heavy + bytes([number])) for number in range(5)]
    decoder = eyes()
    first = await decoder.see(waiting)
    assert 0 < len(first) < len(waiting)
    assert set(decoder.looks) == {digest(one.image.data) for one in first}


async def test_there_is_no_process_while_no_images_come(eyes, monkeypatch):
    monkeypatch.setattr(module, "_IDLE", 0.05)
    decoder = eyes()
    await decoder.see([replace(shown(1, b""), image=None, text="a line")])
    assert not decoders()
    assert await problem(decoder, plain("red")) == ""
    await until(lambda: not decoders())
    assert await problem(decoder, plain("blue")) == ""
