"""Which lines are read: one that its source says over and over, or too fast for anybody to mean it, is passed over."""

from collections import OrderedDict

from actors.knowledge.settings import KnowledgeSettings
from actors.perception.folding import mark
from actors.perception.wording import template
from environment.messages import Perception

_SOURCES = 64
"""Sources whose lines of this second are counted: those that spoke last."""


class Hearing:
    """Remembers, bounded, how many lines a source has said this second and what it said that told nothing."""

    def __init__(self, settings: KnowledgeSettings, pace: dict[str, tuple[int, int]]) -> None:
        """``pace``: by source the second of its last line, and its lines in that second; it is written to."""
        self.settings = settings
        self.pace = pace
        self._told_nothing: OrderedDict[tuple[str, str], None] = OrderedDict()
        self.passed = 0
        """Lines beyond the pace, since it was last set to 0."""

    def hears(self, one: Perception) -> str | None:
        """The mark of its template, by which the line is remembered; None where its source is in too much haste."""
        second = int(one.time)
        then, count = self.pace.pop(one.source, (second, 0))
        count = count + 1 if then == second else 1
        self.pace[one.source] = second, count
        if len(self.pace) > _SOURCES:
            del self.pace[next(iter(self.pace))]
        if count > self.settings.pace:
            self.passed += 1
            return None
        return mark(template((one.text or "")[: self.settings.longest]))

    def to_read(self, one: Perception, known: str) -> bool:
        """Whether it may tell something: it did, or was not said yet."""
        if (one.source, known) not in self._told_nothing:
            return True
        self._told_nothing.move_to_end((one.source, known))
        return False

    def told_nothing(self, one: Perception, known: str) -> None:
        """Nothing was in it: the same with other numbers is not read again while it is remembered."""
        self._told_nothing[one.source, known] = None
        if len(self._told_nothing) > self.settings.templates:
            self._told_nothing.popitem(last=False)
