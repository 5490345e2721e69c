"""What the process of an actor has to do with the population, beside its core."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from actors.effects import Divide, Retire, Settled
from actors.growth import Gone
from environment.latest import Latest
from orchestration.links import control
from orchestration.links.links import Links


class ForwardingTable:
    """Who has the mail of those who ended: of the latest ``most``. One for all actors of a process."""

    def __init__(self, most: int = 4096) -> None:
        self._forwarding = Latest[str, str](most)

    def __len__(self) -> int:
        return len(self._forwarding)

    def add(self, name: str, heir: str) -> None:
        """Somebody ended; may be said as often as there are actors."""
        if self._forwarding.get(name) == heir:
            return
        for gone in [gone for gone, to in self._forwarding.items() if to == name]:
            self._forwarding[gone] = heir  # so that no line is lost when one of it is forgotten
        self._forwarding[name] = heir

    def present(self, name: str) -> str:
        """Who has the mail of a name."""
        passed: set[str] = set()
        while name in self._forwarding and name not in passed:
            passed.add(name)
            name = self._forwarding[name]
        return name


@dataclass(eq=False, repr=False)
class InPopulation:
    """The word that one actor has with the population, beside its core.

    ``shared`` is told what the actor of that name has of a configured submind's budgets, and calls back.
    ``forwarding``: what the actors of a process have in common.
    """

    _name: str
    _links: Links
    _shared: Callable[[str, control.Share, Callable[[], None]], None] | None = None
    _forwarding: ForwardingTable = field(default_factory=ForwardingTable)

    def __post_init__(self) -> None:
        self.heir = ""
        """To whom it leaves what it has: it has been retired; empty while it lives."""

    def takes(self, event: object) -> bool:
        """Whether something is said to the process rather than to the core; it is done at once."""
        match event:
            case control.Share(value):
                confirm = partial(self.say, control.Shared(self._name, value))
                if self._shared is None:
                    confirm()
                else:
                    self._shared(self._name, event, confirm)
                return True
            case Gone(name, heir) if name == self._name:
                self.heir = heir
                return True
            case Gone(name, heir):
                self._forwarding.add(name, heir)
        return False

    def present(self, name: str) -> str:
        """Who has the mail of a name: what is for one that ended is its heir's."""
        return self._forwarding.present(name)

    def propose(self, owner: str, effect: Divide | Retire | Settled) -> None:
        """Pass on what a core proposes."""
        match effect:
            case Divide():
                self.say(control.ProposedDivision(owner, effect))
            case Retire():
                self.say(control.ProposedEnd(owner, effect))
            case Settled(name):
                self.say(control.HasSettled(owner, name))

    def say(self, word: control.ControlMessage) -> None:
        """Tell the population."""
        self._links.outboxes.put(control.POPULATION, word, 1.0)  # type: ignore[arg-type]  # no core ever sees it
