"""The curves that benchmarks draw for the documents: what is written in them can be read."""

import importlib
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
curves = importlib.import_module("curves")

TEXT = re.compile(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')
LINE = 12.0
"""Pixels of the font."""


def names(svg):
    """Names of the curves, right of the plot, with their heights."""
    return {text: float(y) for x, y, text in TEXT.findall(svg) if float(x) > 600 and not text.endswith(" h")}


@pytest.mark.parametrize("picture", ["routing-credited.svg", "routing-spent.svg"])
def test_no_name_in_a_picture_of_the_documents_lies_on_another(picture):
    found = names((ROOT / "docs" / "images" / picture).read_text("utf-8"))
    assert set(found) == {"learned", "random", "all-to-all"}
    assert all(below - above >= LINE for above, below in pairwise(sorted(found.values()))), found


@pytest.mark.parametrize("ends", [(0.01, 0.011, 0.012), (0.5, 0.5, 0.5), (0.0, 0.0, 0.4), (0.3, 0.1, 0.2)])
def test_names_are_apart_in_the_order_of_their_curves_and_within_the_picture(ends):
    made = [curves.Curve(f"c{i}", [0.3, end], [0.2, end], [0.4, end]) for i, end in enumerate(ends)]
    found = names(curves.draw("Share", made, 11.5, ("here", 0.5)))
    heights = sorted(found.values())
    assert len(found) == len(ends)
    assert all(below - above >= LINE for above, below in pairwise(heights))
    assert heights[-1] < 300
    for one, other in pairwise(sorted(range(len(ends)), key=lambda i: ends[i])):
        assert ends[one] == ends[other] or found[f"c{one}"] > found[f"c{other}"]


@pytest.mark.parametrize(
    ("most", "wanted"),
    [
        (0.42, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (186.0, [0, 50, 100, 150, 200]),
        (11.5, [0, 2, 4, 6, 8, 10, 12]),
        (0.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
)
def test_values_at_the_axes_are_round(most, wanted):
    assert curves.marks(most) == pytest.approx(wanted)
