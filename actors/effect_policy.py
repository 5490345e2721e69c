"""What no core may ask for: who lives, what each may spend, and what another one keeps is not for a submind to say."""

from collections.abc import Collection
from typing import get_args

from actors.effects import Commit, Effect, Send
from actors.events import Configured, Event, FacultyEvent
from actors.growth import Born, Divided, Gone, GrowthRefused, Inherited, Permitted
from environment.collections import Document, RemoveDocument, WriteDocument
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteState, WriteTrace

_SAID = frozenset(get_args(Event)) - {Born, Configured, Divided, Gone, GrowthRefused, Inherited, Permitted}
"""What cores tell each other. The rest is the word of the population and of the configuration."""


class EffectForbidden(Exception):
    """A core asked for what is not its to decide: propose growth with ``Divide`` or ``Retire``, and write what is own.

    It ends that life; nothing of the step is written or sent.
    """


def check(owner: str, effect: Effect, collections: Collection[str] = ()) -> None:
    """Raise ``EffectForbidden`` for what would pass the guard by, or change what is another's.

    ``collections``: those that are its faculty's own.
    """
    match effect:
        case Send(to, event) if type(event) not in _SAID and not isinstance(event, FacultyEvent):
            raise EffectForbidden(
                f"{owner} may not tell {to} {type(event).__name__}: that is for the mind process to say"
            )
        case Commit(WriteTrace() | WriteLevel() | WriteEntries()):
            return
        case Commit(WriteDocument(Document(collection)) | RemoveDocument(collection)) if collection in collections:
            return
        case Commit(WriteState(name) | WriteConnections(name)):
            if name != owner:
                raise EffectForbidden(f"{owner} may not write what {name} keeps, only its own")
        case Commit(write):
            raise EffectForbidden(
                f"{owner} may not commit {type(write).__name__}: that is for the mind process to write"
            )
