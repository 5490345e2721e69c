"""What useful and not useful, said of entries, make of salience: bounded log odds by source, form and subject.

An online logistic regression with a Gaussian prior around "no opinion" and a variance for each weight (the diagonal
Laplace step of Chapelle and Li, 2011): a few marks move a source a little, many move it more. What all marked entries
have in common is left out, so that a severe reader does not silence the mind.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from actors.perception.wording import read, template
from environment.marks import FeedbackMark, MarkKind
from environment.messages import Thought

_SAID = {MarkKind.USEFUL: 1.0, MarkKind.NOT_USEFUL: 0.0, MarkKind.WRONG: 0.0}
_ALL = "all"
_PRIOR, _OPEN = 1 / 1.2**2, 0.1
"""Precision of the prior of a weight, and of what all have in common."""
_TEMPLATE = 1000
"""Characters of a template by which it is known."""
_SUBJECTS = 8


def template_of(text: str) -> str:
    """What a text has in common with others of its form."""
    return template(text)[:_TEMPLATE]


def _features(source: str, text: str, subjects: Sequence[str]) -> dict[str, float]:
    found = {f"source {source}": 1.0, f"form {template_of(text)}": 1.0}
    few = subjects[:_SUBJECTS]
    return found | {f"subject {subject}": 1 / math.sqrt(len(few)) for subject in few}


def opinions(marks: Iterable[FeedbackMark]) -> list[tuple[FeedbackMark, float]]:
    """What people found useful, 1, or not, 0, in the order in which they said so."""
    said = (mark for mark in marks if mark.kind in _SAID and not mark.undone)
    return [(mark, _SAID[mark.kind]) for mark in sorted(said, key=lambda mark: (mark.at, mark.id))]


class Taste:
    """The same marks say the same, whenever they were read."""

    def __init__(self, marks: Iterable[FeedbackMark] = ()) -> None:
        said = opinions(marks)
        self._weights: dict[str, float] = {}
        precisions: dict[str, float] = {}
        inputs = [
            {_ALL: 1.0} | _features(m.sources[0] if m.sources else "", m.text, read(m.text).terms) for m, _ in said
        ]
        for (_, wanted), features in zip(said, inputs, strict=True):
            expected = 1 / (1 + math.exp(-self._opinion(features)))
            wrong = wanted - expected
            for name, x in features.items():
                before = precisions.get(name, _OPEN if name == _ALL else _PRIOR)
                precisions[name] = before + expected * (1 - expected) * x * x
                self._weights[name] = self._weights.get(name, 0.0) + wrong * x / precisions[name]

    def _opinion(self, features: Mapping[str, float]) -> float:
        return sum(self._weights.get(name, 0.0) * x for name, x in features.items())

    def shift(self, thought: Thought, bound: float) -> float:
        """Log odds that the marks add to a thought or take from it, at most ``bound``."""
        if not self._weights or not thought.perceptions:
            return 0.0
        features = _features(thought.perceptions[0].source, thought.text, thought.associations)
        return max(-bound, min(bound, self._opinion(features)))
