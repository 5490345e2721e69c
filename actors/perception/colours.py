"""Colours as people name them: nearest CSS3 name by CIEDE2000.

Hue angles are never averaged: the mean of red and blue is no colour of the image.
"""

import re
from functools import cache, lru_cache

import numpy as np
import webcolors
from numpy.typing import NDArray

Lab = NDArray[np.float64]
"""``(..., 3) float64``: L* 0..100, a*, b*."""

_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
"""Linear sRGB to XYZ, D65 (IEC 61966-2-1)."""
_WHITE = np.array([0.95047, 1.0, 1.08883])
_FIRST = (
    "alice antique blanched blue burly cadet corn cornflower dark deep dim dodger fire floral forest ghost goldenrod "
    "green hot indian lavender lawn lemon light lime medium midnight mint misty navajo old olive orange pale papaya "
    "peach powder rebecca rosy royal saddle sandy sea sky slate spring steel violet white yellow"
).split()
_SPLIT = re.compile(rf"^({'|'.join(sorted(_FIRST, key=len, reverse=True))})(?=[a-z]{{3}})")


def lab(rgb: NDArray[np.uint8]) -> Lab:
    """CIELAB (D65) of ``(..., 3) uint8`` sRGB."""
    value = rgb.astype(np.float64) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)  # noqa: PLR2004  # sRGB
    ratio = linear @ _TO_XYZ.T / _WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def ciede2000(one: Lab, other: Lab) -> NDArray[np.float64]:
    """Colour difference of broadcast Lab arrays (Sharma, Wu and Dalal, 2005; all weights 1)."""
    l1, a1, b1 = one[..., 0], one[..., 1], one[..., 2]
    l2, a2, b2 = other[..., 0], other[..., 1], other[..., 2]
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - np.sqrt(c7 / (c7 + 25.0**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    grey = c1 * c2 == 0
    dh = np.where(grey, 0.0, (h2 - h1 + 180) % 360 - 180)
    dh = np.where((dh == -180) & (h2 > h1), 180.0, dh)  # noqa: PLR2004  # opposite hues: the sign of the paper
    mean_h = np.where(
        grey,
        h1 + h2,
        np.where(np.abs(h1 - h2) <= 180, (h1 + h2) / 2, ((h1 + h2 + 360) / 2) % 360),  # noqa: PLR2004
    )
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    turn = (
        1
        - 0.17 * np.cos(np.radians(mean_h - 30))
        + 0.24 * np.cos(np.radians(2 * mean_h))
        + 0.32 * np.cos(np.radians(3 * mean_h + 6))
        - 0.20 * np.cos(np.radians(4 * mean_h - 63))
    )
    c7 = mean_c**7
    rotation = -np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2)))) * 2 * np.sqrt(c7 / (c7 + 25.0**7))
    light = (l2 - l1) / (1 + 0.015 * (mean_l - 50) ** 2 / np.sqrt(20 + (mean_l - 50) ** 2))
    chroma = (c2 - c1) / (1 + 0.045 * mean_c)
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(dh / 2)) / (1 + 0.015 * mean_c * turn)
    squared = light**2 + chroma**2 + hue**2 + rotation * chroma * hue
    return np.asarray(np.sqrt(np.maximum(squared, 0)))


@cache
def _palette() -> tuple[tuple[str, ...], Lab]:
    """Names, and ``(n, 3)`` Lab, one for each colour of CSS3."""
    by_rgb: dict[tuple[int, int, int], str] = {}
    for name in sorted(webcolors.names("css3")):
        by_rgb.setdefault(tuple(webcolors.name_to_rgb(name, "css3")), name)
    return tuple(_words(name) for name in by_rgb.values()), lab(np.array(list(by_rgb), np.uint8))


def _words(name: str) -> str:
    """``darkslategray`` in words."""
    words = []
    while (match := _SPLIT.match(name)) is not None:
        words.append(match[0])
        name = name[match.end() :]
    return " ".join([*words, name])


@lru_cache(maxsize=4096)
def named(red: int, green: int, blue: int) -> str:
    """The nearest CSS3 name of an sRGB colour, in words."""
    names, colours = _palette()
    return names[int(ciede2000(lab(np.array([red, green, blue], np.uint8)), colours).argmin())]
