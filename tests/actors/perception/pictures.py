"""Pictures drawn for tests: nothing is read from a file."""

import zlib

import numpy as np
from PIL import Image, ImageDraw

from tests.actors.perception.perceiving import encoded


def photo(seed: int = 1, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """Soft coloured shapes, never two neighbouring pixels alike."""
    chance = np.random.default_rng(seed)
    rough = Image.fromarray(chance.integers(0, 255, (9, 12, 3), dtype=np.uint8))
    soft = np.asarray(rough.resize(size, Image.Resampling.BICUBIC)).astype(int)
    return Image.fromarray((soft + chance.integers(-2, 3, soft.shape)).clip(0, 255).astype(np.uint8))


def screen() -> Image.Image:
    """A window with a title bar and lines of text."""
    picture = Image.new("RGB", (640, 400), "white")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, 640, 40), fill="navy")
    for line in range(18):
        pen.text((20, 60 + 18 * line), "all systems are running as they should " * 2, fill="black")
    return picture


def plain(colour: str, size: tuple[int, int] = (64, 48)) -> bytes:
    """One colour."""
    return encoded(Image.new("RGB", size, colour))


def bomb(width: int, height: int) -> bytes:
    """A small PNG that claims to be huge."""
    data = bytearray(plain("red", (8, 8)))
    data[16:24] = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    data[29:33] = zlib.crc32(bytes(data[12:29])).to_bytes(4, "big")
    return bytes(data)
