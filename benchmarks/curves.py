"""Curves over time as SVG, without a library: lines, the range behind them, and a mark where something happens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

_COLOURS = ("#1f6f8b", "#c05a2b", "#7a7f87")
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 720, 300, 56, 40, 110, 36
_LINE = 15.0
"""Between two lines of text."""


@dataclass(frozen=True)
class Curve:
    """Values at even distances, with the range of the runs behind them."""

    name: str
    mean: Sequence[float]
    least: Sequence[float]
    most: Sequence[float]


def draw(title: str, curves: Sequence[Curve], hours: float, mark: tuple[str, float]) -> str:
    """An SVG document. ``mark``: a text and where it stands, 0..1 of the time."""
    values = marks(max(max(curve.most) for curve in curves))
    top = values[-1]
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(i: int, of: int, value: float) -> str:
        return f"{_LEFT + wide * (i + 0.5) / of:.1f},{_TOP + high * (1 - value / top):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>text {{ font: 12px sans-serif }}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-size="15" fill="#222222">{escape(title)}</text>',
    ]
    for value in values:
        y = _TOP + high * (1 - value / top)
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{value:.3g}</text>')
    for hour in (hour for hour in marks(hours) if hour <= hours):
        x = _LEFT + wide * hour / hours
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 14}" text-anchor="middle" fill="#555555">{hour:.3g} h</text>')
    at = _LEFT + wide * mark[1]
    parts.append(f'<line x1="{at}" x2="{at}" y1="{_TOP}" y2="{_TOP + high}" stroke="#555555" stroke-dasharray="4 3"/>')
    parts.append(f'<text x="{at + 5}" y="{_TOP + 12}" fill="#555555">{escape(mark[0])}</text>')
    ends = apart([_TOP + high * (1 - curve.mean[-1] / top) for curve in curves], _TOP + high)
    for curve, colour, end in zip(curves, _COLOURS, ends, strict=True):
        n = len(curve.mean)
        there = [place(i, n, v) for i, v in enumerate(curve.most)]
        back = [place(i, n, v) for i, v in reversed(list(enumerate(curve.least)))]
        parts.append(f'<polygon points="{" ".join(there + back)}" fill="{colour}" fill-opacity="0.15"/>')
        line = " ".join(place(i, n, v) for i, v in enumerate(curve.mean))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_LEFT + wide + 6}" y="{end + 4:.1f}" fill="{colour}">{escape(curve.name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def marks(most: float) -> list[float]:
    """Round values at even distances from 0 to beyond ``most``, some five of them."""
    rough = (most or 1.0) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return [step * i for i in range(math.ceil((most or 1.0) / step - 1e-9) + 1)]


def apart(places: Sequence[float], lowest: float) -> list[float]:
    """The heights of some names, each near its own and no two on one line; none below ``lowest``."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    found = list(places)
    for above, below in pairwise(order):
        found[below] = max(found[below], found[above] + _LINE)
    floor = lowest
    for i in reversed(order):
        found[i] = min(found[i], floor)
        floor = found[i] - _LINE
    return found
