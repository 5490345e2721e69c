"""What the process of an actor has to do with the population, beside its core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from actors.effects import Divide, Retire, Settled
from actors.growth import Gone
from orchestration.links.links import Links
from orchestration.links.words import POPULATION, HasSettled, ProposedDivision, ProposedEnd, Share, Shared, Word


class InPopulation:
    """The word that one actor has with the population, beside its core."""

    def __init__(
        self, name: str, links: Links, shared: Callable[[str, Share, Callable[[], None]], None] | None = None
    ) -> None:
        """``shared`` is told what the actor of that name has of a configured submind's budgets, and calls back."""
        self.heir = ""
        """To whom it leaves what it has: it has been retired; empty while it lives."""
        self._name = name
        self._links = links
        self._shared = shared
        self._heirs: dict[str, str] = {}

    def takes(self, event: object) -> bool:
        """Whether something is said to the process rather than to the core; it is done at once."""
        match event:
            case Share(value):
                confirm = partial(self.say, Shared(self._name, value))
                if self._shared is None:
                    confirm()
                else:
                    self._shared(self._name, event, confirm)
                return True
            case Gone(name, heir) if name == self._name:
                self.heir = heir
                return True
            case Gone(name, heir):
                self._heirs[name] = heir
        return False

    def present(self, name: str) -> str:
        """Who has the mail of a name: what is for one that ended is its heir's."""
        passed: set[str] = set()
        while name in self._heirs and name not in passed:
            passed.add(name)
            name = self._heirs[name]
        return name

    def propose(self, owner: str, effect: Divide | Retire | Settled) -> None:
        """Pass on what a core proposes."""
        match effect:
            case Divide():
                self.say(ProposedDivision(owner, effect))
            case Retire():
                self.say(ProposedEnd(owner, effect))
            case Settled(name):
                self.say(HasSettled(owner, name))

    def say(self, word: Word) -> None:
        """Tell the population."""
        self._links.outboxes.put(POPULATION, word, 1.0)  # type: ignore[arg-type]  # no core ever sees it
