"""Forgetting on request, in any store: everything of a scope, while no mind process runs.

Nothing is deleted in a way of its own: traces and documents are dated back to the beginning of time and go as they do
by age; states, reports, connections and entries are written again without the words. What tells what is to go, the
perceptions, goes last: so whoever is interrupted begins anew, with the same scope, and misses nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf
from typing import Any

import msgspec

from environment.collections import RESERVED, Document, RemoveDocument, WriteDocument, scanned
from environment.configuration import CONFIGURATIONS
from environment.erasure import (
    FORGOTTEN,
    GONE,
    HOLDS,
    SHORT,
    ForgetScope,
    LegalHold,
    Redactor,
    ScopeMatcher,
    said_in,
    words_of,
)
from environment.errors import SubliminalError
from environment.marks import MARKS
from environment.messages import Connection, ConnectionChange, Instant, Level, StreamEntry
from environment.packs import INNATE, PACKS
from environment.ports import Write, WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState
from environment.stores.codec import decode_entry, decode_report, encode
from environment.stores.movable import Movable, SavedState, each_of
from environment.stores.paging import perceptions_after

_LONG_AGO = -4e9
"""Before anything that a mind can know of: whatever expired then goes as soon as it is asked for."""
_REMOVED = 1.0
"""Before this lies what was removed without a time: nothing needs to be told of that any more."""
_BATCH = 500
_KEPT = {FORGOTTEN.name, HOLDS.name}
"""What is kept of forgetting itself."""


class UnderHold(SubliminalError):
    """A legal hold forbids to forget that: release it first."""

    def __init__(self, hold: str, why: str) -> None:
        super().__init__(hold, why)
        self.hold, self.why = hold, why

    def __str__(self) -> str:
        return f"{self.hold} holds some of it ({self.why}): it is not forgotten while that stands"


@dataclass(slots=True)
class ScopeSurvey:
    """What a scope means among the perceptions up to a number."""

    up_to: int
    seqs: set[int] = field(default_factory=set)
    first: int = 0
    """The lowest of them; 0 where there is none."""
    since: Instant = 0.0
    """The earliest of their times."""
    words: set[str] = field(default_factory=set)
    """Said in them and in no other."""


async def survey(
    stores: Movable, scope: ForgetScope, holds: Sequence[LegalHold] = (), *, words: bool = False
) -> ScopeSurvey:
    """Look at all that was perceived. Raises ``UnderHold`` where one of ``holds`` means some of it as well."""
    matcher, held = ScopeMatcher(scope), [(hold, ScopeMatcher(hold.scope)) for hold in holds]
    found = ScopeSurvey(await stores.perceptions.head())
    async for page in perceptions_after(stores.perceptions, 0, found.up_to):
        for one in filter(matcher.means, page):
            for hold, its in held:
                if its.means(one):
                    raise UnderHold(hold.id, hold.reason)
            at = min(one.time, one.received)
            found.first, found.since = found.first or one.seq, min(found.since, at) if found.seqs else at
            found.seqs.add(one.seq)
            if words:
                found.words.update(word for text in said_in(one) for word in words_of(text) if len(word) >= SHORT)
    if found.words:
        async for page in perceptions_after(stores.perceptions, 0, found.up_to):
            for one in page:
                if one.seq not in found.seqs:
                    found.words.difference_update(*map(words_of, said_in(one)))
    return found


@dataclass
class Eraser:
    """Takes everything of a scope out of ``stores``, under an epoch that nobody else writes under.

    Guarantees: may be repeated, and has to be where it was interrupted. Afterwards nothing that is read names it, rests
    on it or, where it is not known what it rests on, has a word that nothing else had said.
    """

    stores: Movable
    scope: ForgetScope
    fence: int = 0
    dry: bool = False
    """Whether nothing is to be changed, and all is only counted."""
    removed: Counter[str] = field(default_factory=Counter)
    """How many went, by table."""
    redacted: Counter[str] = field(default_factory=Counter)
    """How many stay without the words."""

    async def run(self, holds: Sequence[LegalHold] = ()) -> None:
        """Raises ``UnderHold``, and then nothing has changed; ``StoreUnavailable`` and ``FencedOut``."""
        found = await survey(self.stores, self.scope, holds, words=True)
        self.redactor = Redactor(ScopeMatcher(self.scope), found.seqs)
        self.redactor.words = found.words - await self._own_words()
        await self._find_traces()
        going = [name for name in self.redactor.ids if name.startswith("t-")]
        self.removed["traces"] += len(going)
        await self._entries()
        await self._documents()
        await self._registry()
        if self.dry:
            self.removed["perceptions"] += len(found.seqs)
            return
        gone = Level(0.0, _LONG_AGO, 1.0)
        await self._commit([WriteLevel(name, gone, live=False, conscious=None) for name in going])
        for forget, before in ((self.stores.traces.forget, _LONG_AGO + 1), (self.stores.collections.forget, _REMOVED)):
            while await forget(before, _BATCH) >= _BATCH:
                pass
        seqs = sorted(found.seqs)
        for at in range(0, len(seqs), _BATCH):
            self.removed["perceptions"] += await self.stores.perceptions.erase(seqs[at : at + _BATCH])

    async def _own_words(self) -> set[str]:
        """Words of the mind itself: who lives in it, what its messages say by one word, what it was given to know."""
        reports = await self.stores.registry.reports()
        texts = [text for report in reports for text in (report.name, report.role, report.goal, *report.metrics)]
        kinds = [kind for kind in StrEnum.__subclasses__() if kind.__module__.startswith(("actors.", "environment."))]
        texts += [one.value for kind in kinds for one in kind]
        for name in (PACKS.name, CONFIGURATIONS.name):
            async for each in scanned(self.stores.collections, name):
                texts.append(str(_unpacked(each.body)).replace("\\n", " "))
        return {word for text in texts for word in words_of(text)}

    async def _commit(self, writes: Sequence[Write]) -> None:
        for at in range(0, 0 if self.dry else len(writes), _BATCH):
            await self.stores.commit(writes[at : at + _BATCH], self.fence)

    async def _find_traces(self) -> None:
        """Traces that name it or rest on it, and what rests on those, however far."""
        ids = self.redactor.ids
        before = -1
        while before < len(ids):
            before = len(ids)
            async for moved in each_of(self.stores.moving, "traces"):
                for tree in (_tree(each.thought) for each in moved.revisions):
                    new, hit = self.redactor.clean(tree)
                    if hit or new != tree:
                        ids.add(moved.standing.id)

    async def _entries(self) -> None:
        made = [new async for each in each_of(self.stores.moving, "entries") if (new := self._entry(each)) is not None]
        self.redacted["entries"] += len(made)
        await self._commit([WriteEntries((each,), redacted=True) for each in made])

    def _entry(self, entry: StreamEntry) -> StreamEntry | None:
        """The entry as it is to stand; None where it stays."""
        tree = _tree(entry)
        new, hit = self.redactor.clean(tree)
        if hit:
            self.redactor.ids.add(entry.id)
            bare = replace(entry, text=GONE, perceptions=(), lineage=(), focus="", vector=None, links=(), why=None)
            return None if entry == bare else bare
        return decode_entry(encode(new)) if new != tree else None

    async def _documents(self) -> None:
        """Until none goes any more: a document may rest on one that went."""
        touched: dict[tuple[str, str], bool] = {}
        before = -1
        while before < len(self.redactor.ids):
            before = len(self.redactor.ids)
            writes: list[Write] = []
            async for each in each_of(self.stores.moving, "documents"):
                if (write := self._document(each)) is not None:
                    touched[each.collection, each.key] = isinstance(write, RemoveDocument)
                    writes.append(write)
            await self._commit(writes)
        for (collection, _), gone in touched.items():
            (self.removed if gone else self.redacted)[collection] += 1

    def _document(self, document: Document) -> Write | None:
        tree = _unpacked(document.body)
        if tree is None or document.collection in _KEPT:
            return None
        new, hit = self.redactor.clean(tree)
        its_key = self.redactor.clean(document.key)[1]
        if (hit or its_key) and (document.collection == MARKS.name or not document.collection.startswith(RESERVED)):
            named = [tree.get("id"), tree.get("key")] if isinstance(tree, dict) else []
            self.redactor.ids.update(name for name in (document.key, *named) if isinstance(name, str) and "-" in name)
            return RemoveDocument(document.collection, document.key, time=_LONG_AGO)
        if new != tree or not _refers(tree):
            new, _ = self.redactor.clean(new, everywhere=True)
        return WriteDocument(replace(document, body=encode(new), version=0)) if new != tree else None

    async def _registry(self) -> None:
        """Connections, their history, states and reports, which do not say what they rest on."""
        writes: list[Write] = []
        latest = -inf
        for kind in ("connections", "changes", "states", "reports"):
            async for each in each_of(self.stores.moving, kind):
                tree = _unpacked(each.state) if kind == "states" else _tree(each)
                new, _ = self.redactor.clean(tree, everywhere=True)
                if new == tree:
                    continue
                (self.redacted if kind in {"states", "reports"} else self.removed)[kind] += 1
                match each:
                    case Connection():
                        writes.append(WriteConnections(each.owner, (), ((each.topic, each.peer),), ()))
                    case ConnectionChange():
                        latest = max(latest, each.at)
                    case SavedState():
                        writes.append(WriteState(each.name, encode(new)))
                    case _:
                        writes.append(WriteReport(decode_report(encode(new))))
        await self._commit(writes)
        while latest > -inf and not self.dry and await self.stores.registry.forget(latest + 1e-3, _BATCH):
            pass  # as by age: those that say so, and all before them


def _tree(message: Any) -> Any:
    return msgspec.msgpack.decode(encode(message))


def _unpacked(body: bytes) -> Any:
    """None where nobody can read it."""
    try:
        return msgspec.msgpack.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _refers(tree: Any) -> bool:
    """Whether a document says what it rests on: a perception, a trace, or what the mind was given."""
    match tree:
        case dict():
            return any(map(_refers, tree.values()))
        case list():
            return any(map(_refers, tree))
    return isinstance(tree, str) and tree.startswith(("p-", "t-", INNATE))
