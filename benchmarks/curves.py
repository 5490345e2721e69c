"""Curves over time as SVG, without a library: lines, the range behind them, and a mark where something happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_COLOURS = ("#1f6f8b", "#c05a2b", "#7a7f87")
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 720, 300, 56, 40, 110, 36


@dataclass(frozen=True)
class Curve:
    """Values at even distances, with the range of the runs behind them."""

    name: str
    mean: Sequence[float]
    least: Sequence[float]
    most: Sequence[float]


def draw(title: str, curves: Sequence[Curve], hours: float, mark: tuple[str, float]) -> str:
    """An SVG document. ``mark``: a text and where it stands, 0..1 of the time."""
    top = max(max(curve.most) for curve in curves) * 1.05 or 1.0
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(i: int, of: int, value: float) -> str:
        return f"{_LEFT + wide * (i + 0.5) / of:.1f},{_TOP + high * (1 - value / top):.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>text {{ font: 12px sans-serif }}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-size="15" fill="#222222">{escape(title)}</text>',
    ]
    for step in range(5):
        y, value = _TOP + high * (1 - step / 4), top * step / 4
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{value:.3g}</text>')
    for step in range(5):
        x = _LEFT + wide * step / 4
        hour = f"{hours * step / 4:.3g} h"
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - 14}" text-anchor="middle" fill="#555555">{hour}</text>')
    at = _LEFT + wide * mark[1]
    parts.append(f'<line x1="{at}" x2="{at}" y1="{_TOP}" y2="{_TOP + high}" stroke="#555555" stroke-dasharray="4 3"/>')
    parts.append(f'<text x="{at + 5}" y="{_TOP + 12}" fill="#555555">{escape(mark[0])}</text>')
    for curve, colour in zip(curves, _COLOURS, strict=True):
        n = len(curve.mean)
        there = [place(i, n, v) for i, v in enumerate(curve.most)]
        back = [place(i, n, v) for i, v in reversed(list(enumerate(curve.least)))]
        parts.append(f'<polygon points="{" ".join(there + back)}" fill="{colour}" fill-opacity="0.15"/>')
        line = " ".join(place(i, n, v) for i, v in enumerate(curve.mean))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        end = float(place(n - 1, n, curve.mean[-1]).split(",")[1])
        parts.append(f'<text x="{_LEFT + wide + 6}" y="{end + 4:.1f}" fill="{colour}">{escape(curve.name)}</text>')
    return "\n".join([*parts, "</svg>", ""])
