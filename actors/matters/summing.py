"""Which matters are summed up in a model's words, and when: those that became conscious, once they rest for a while."""

from __future__ import annotations

from collections.abc import Mapping

from actors.effects import Effect, Generate, WakeAt
from actors.events import Event, Generated
from actors.matters.matter import Matter, MatterLine, most_salient, title_of
from actors.matters.settings import MattersSettings
from actors.submind.budget import Allowance
from actors.submind.composing import clock_time
from actors.substrate.ports import Act, Material, Request, Role
from environment.messages import Instant

_FEWEST, _MOST = 3, 8
"""Lines of a matter that is summed up, and those that a model is shown: the latest, beside its most salient one."""
_REST = 60.0
"""Seconds after a line in which more of it may come."""


class Summaries:
    """What is to be summed up. It is not saved: a matter is summed up again with its next line."""

    def __init__(self, name: str, settings: MattersSettings, *, model: bool) -> None:
        """``model``: whether there is one; a rule's words are those of a matter's lines, and nobody asks for them."""
        self._name = name
        self._model = model
        self._due: dict[str, tuple[Instant, Matter]] = {}
        self._allowance = Allowance(settings.summaries_per_hour)

    def configure(self, settings: MattersSettings, now: Instant) -> None:
        """From now on so many an hour."""
        self._allowance.configure(settings.summaries_per_hour, now)

    def touch(self, matter: Matter, now: Instant) -> list[Effect]:
        """A line was added to a matter."""
        if not self._model or not matter.entries or len(matter.lines) < _FEWEST:
            return []
        self._due[matter.id] = now + _REST, matter
        return [WakeAt(now + _REST)]

    def tend(self, now: Instant) -> list[Effect]:
        """Ask for those that are due, as far as there is room; others wait."""
        effects: list[Effect] = []
        for key, (due, matter) in list(self._due.items()):
            if due <= now and self._allowance.take(now):
                del self._due[key]
                effects.append(Generate(key, self._request(matter)))
        return [*effects, WakeAt(max(now + _REST, min(due for due, _ in self._due.values())))] if self._due else effects

    def heard(self, event: Event, matters: Mapping[str, Matter]) -> Matter | None:
        """The matter that a model gives its summary and title; one that fell back to the rule says nothing new."""
        if not isinstance(event, Generated) or event.token not in matters or not event.generation.by_model:
            return None
        matter = matters[event.token]
        matter.summary, matter.title = event.generation.text, title_of(event.generation.text)
        return matter

    def _request(self, matter: Matter) -> Request:
        worst = most_salient(matter.lines)
        others = [line for line in matter.lines if line is not worst][-_MOST:]
        memories = (self._material(Role.MEMORY, line, matter) for line in others)
        return Request(Act.SUM_UP, self._name, (self._material(Role.EVENT, worst, matter), *memories))

    def _material(self, role: Role, line: MatterLine, matter: Matter) -> Material:
        said = line.perception
        return Material(role, line.text, said.source, clock_time(said.time), tuple(matter.terms))
