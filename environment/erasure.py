"""Forgetting on request: what is meant, told without naming it; what matches; and cleaning what was made of it.

A record of what was forgotten must not say what that was. So names are kept as keyed digests of their words, and all
that is read is compared by the digests of its words: the record alone is enough to go on after a crash, or to do it
again in a mind that was restored from an older backup. Who holds a record can try names on it, and learn no others.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import msgspec

from environment.collections import RESERVED, Collection
from environment.identity import perception_seq
from environment.messages import Instant, Perception

GONE = "[forgotten]"
"""What stands in the place of words that were forgotten."""
_WORD = re.compile(r"[^\W_]+")
SHORT = 3
"""Letters below which a word is no sign of where it comes from."""
_RESTS_ON = frozenset({"perceptions", "parents", "lineage", "facts"})
"""Fields that list what something was made of: it goes with any of these."""
_SHOWN_BY = ("evidence", "lines")
"""Fields that list what shows something: it goes with the last of these."""
_ASIDE = frozenset({"why"})
"""Fields that tell of something else."""
_REFERENCE = {"id", "time", "source"}


class ScopeKind(StrEnum):
    """What is to be forgotten, or held."""

    PERSON = "person"
    """All that somebody said, or in which a name of theirs stands."""
    SOURCE = "source"
    """All that came from a source."""
    RANGE = "range"
    """All of a stretch of time, by event time."""
    PERCEPTION = "perception"
    """One thing that was perceived."""


@dataclass(frozen=True, slots=True)
class ForgetScope:
    """What is meant; names as digests."""

    kind: ScopeKind
    salt: str
    names: tuple[tuple[int, str, str], ...] = ()
    """Of each name how many words it has, and the digests of the first and of all; 0 words: of a whole source."""
    since: Instant | None = None
    until: Instant | None = None
    """Event times of a range: ``since <= time < until``; None has no end on that side."""
    perception: str = ""
    """An id."""


def scope_of(kind: ScopeKind, names: Iterable[str], salt: str, **more: Any) -> ForgetScope:
    """A scope that knows ``names`` again. Raises ``ValueError`` where a name of a person has no word of two letters."""
    kept: dict[tuple[int, str, str], None] = {}
    for name in names:
        words = words_of(name)
        if kind is ScopeKind.SOURCE:
            kept[0, "", _digest(salt, name)] = None
        elif sum(map(len, words)) > 1:
            kept[len(words), _digest(salt, words[0]), _digest(salt, " ".join(words))] = None
    if kind in {ScopeKind.PERSON, ScopeKind.SOURCE} and not kept:
        raise ValueError("a name needs a word of two letters at least")
    return ForgetScope(kind, salt, tuple(kept), **more)


def words_of(text: str) -> list[str]:
    """Words as they are compared."""
    return _WORD.findall(text.casefold())


def _digest(salt: str, text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), key=salt.encode(), digest_size=16).hexdigest()


class ScopeMatcher:
    """Tells what a scope means."""

    def __init__(self, scope: ForgetScope) -> None:
        self.scope = scope
        self._whole = {digest for length, _, digest in scope.names if not length}
        self._begun: dict[str, list[tuple[int, str]]] = {}
        for length, first, digest in scope.names:
            self._begun.setdefault(first, []).append((length, digest))
        self._digest = lru_cache(maxsize=1 << 16)(lambda text: _digest(scope.salt, text))
        self._seen = lru_cache(maxsize=1 << 14)(self._names)

    def names(self, text: str) -> bool:
        """Whether a name stands in a text, or a source is the one that is meant."""
        return self._seen(text)

    def _names(self, text: str) -> bool:
        if not self._begun or self._whole:
            return bool(self._whole) and self._digest(text) in self._whole
        words = words_of(text)
        return any(
            self._digest(" ".join(words[at : at + length])) == digest
            for at, word in enumerate(words)
            for length, digest in self._begun.get(self._digest(word), ())
        )

    def means(self, one: Perception) -> bool:
        """Whether a perception is meant."""
        scope = self.scope
        match scope.kind:
            case ScopeKind.PERSON:
                return any(map(self.names, said_in(one)))
            case ScopeKind.SOURCE:
                return self.names(one.source)
            case ScopeKind.RANGE:
                since, until = scope.since, scope.until
                return (since is None or since <= one.time) and (until is None or one.time < until)
            case ScopeKind.PERCEPTION:
                return one.id == scope.perception


def said_in(one: Perception) -> Iterator[str]:
    """All texts of a perception."""
    yield from (one.source, one.text or "", one.key or "", *(one.telemetry or ()))
    for name, value in one.labels.items():
        yield from (name, value)


class ForgetState(StrEnum):
    """How far a request is."""

    ASKED = "asked"
    RUNNING = "running"
    SWEEPING = "sweeping"
    """Nothing of it is found any more; what was deleted is being wiped from the files."""
    DONE = "done"
    REFUSED = "refused"
    """A hold came before it."""


@dataclass(frozen=True, slots=True)
class ForgetRecord:
    """A request to forget, and the report of it: kept for good, since it says nothing of what was forgotten."""

    id: str
    """``f-`` and 20 hexadecimal digits."""
    scope: ForgetScope
    at: Instant
    """Wall time."""
    by: str
    state: ForgetState = ForgetState.ASKED
    done: Instant | None = None
    removed: Mapping[str, int] = field(default_factory=dict)
    """How many went, by table."""
    redacted: Mapping[str, int] = field(default_factory=dict)
    """How many stayed without the words, by table."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LegalHold:
    """What may not be forgotten, on request or by age, until it is released."""

    id: str
    """``h-`` and 20 hexadecimal digits."""
    scope: ForgetScope
    title: str
    """What is held, in words."""
    reason: str
    at: Instant
    by: str
    first: int
    """Sequence number of the first perception that is held; of the next one where none was there yet."""
    since: Instant
    """Nothing that it rests on is older: event or reception time."""


FORGOTTEN = Collection(f"{RESERVED}forgotten", ForgetRecord)
"""By id."""
HOLDS = Collection(f"{RESERVED}holds", LegalHold)
"""By id."""


class Redactor:
    """Cleans trees of plain values, as msgpack has them, of whatever names or rests on what is forgotten.

    Text in which a name stands becomes ``GONE``; in a list of things the thing goes that says so or rests on it; a key
    that says so goes with its value; vectors beside such a text become zeros. Types of fields do not change.
    """

    def __init__(self, matcher: ScopeMatcher, seqs: set[int]) -> None:
        self._matcher = matcher
        self.seqs = seqs
        """Numbers of the perceptions that go."""
        self.ids: set[str] = set()
        """Of whatever else goes."""
        self.words: set[str] = set()
        """Words that nothing else said; looked for where ``everywhere`` is asked for."""

    def clean(self, tree: Any, *, everywhere: bool = False) -> tuple[Any, bool]:
        """The tree without it, and whether the whole of it says so or rests on it."""
        match tree:
            case str():
                return self._text(tree, everywhere=everywhere)
            case dict():
                return self._map(tree, everywhere)
            case list():
                cleaned = [self.clean(one, everywhere=everywhere) for one in tree]
                going = _alike(tree)
                return [new for new, hit in cleaned if not (hit and going)], any(hit for _, hit in cleaned)
            case bytes() if (inner := _unpacked(tree)) is not None:
                new, hit = self.clean(inner, everywhere=everywhere)
                return (msgspec.msgpack.encode(new) if new != inner else tree), hit
        return tree, False

    def _text(self, text: str, *, everywhere: bool) -> tuple[str, bool]:
        if text.startswith("{") and (inner := _parsed(text)) is not None:  # settings as they were at work
            new, hit = self.clean(inner, everywhere=everywhere)
            return (json.dumps(new) if new != inner else text), hit
        if self._matcher.names(text) or (everywhere and not self.words.isdisjoint(words_of(text))):
            return GONE, True
        return text, text in self.ids or perception_seq(text) in self.seqs

    def _map(self, tree: dict[Any, Any], everywhere: bool) -> tuple[dict[Any, Any], bool]:
        new: dict[Any, Any] = {}
        hit = False
        lost: list[Any] = []
        for key, value in tree.items():
            if isinstance(key, str) and self._text(key, everywhere=everywhere)[1]:
                continue
            new[key], its = self.clean(value, everywhere=everywhere)
            if its and isinstance(value, dict) and value.keys() == _REFERENCE:
                lost.append(key)
            elif its and key not in _ASIDE:
                hit = hit or isinstance(value, str) or key in _RESTS_ON
                hit = hit or (isinstance(value, dict) and str(key).isidentifier())
            hit = hit or (key in _SHOWN_BY and bool(value) and not new[key])
        if lost:  # one that stays takes their place
            there = [key for key, value in tree.items() if isinstance(value, dict) and value.keys() == _REFERENCE]
            stays = next((new[key] for key in there if key not in lost), None)
            hit = hit or stays is None
            new.update(dict.fromkeys(lost, stays) if stays else {})
        if hit:
            new = {key: _blank(value) for key, value in new.items()}
        return new, hit


def _blank(value: Any) -> Any:
    """A value of a thing that goes, where the thing itself must stay: neither its words nor its vector."""
    if isinstance(value, bytes):
        return bytes(len(value))
    return GONE if isinstance(value, str) and " " in value else value


def _alike(values: Sequence[Any]) -> bool:
    """Whether they are a list of things, and not the fields of one thing."""
    if all(isinstance(one, dict) and one for one in values):
        return len({next(iter(one)) for one in values}) <= 1
    return all(isinstance(one, list) for one in values) and len({len(one) for one in values}) <= 1


def _parsed(text: str) -> Any:
    """What JSON says; None where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _unpacked(data: bytes) -> Any:
    """What is packed within; None where that is a vector or the like."""
    try:
        inner = msgspec.msgpack.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return inner if isinstance(inner, dict | list) else None
