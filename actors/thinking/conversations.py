"""What the mind owes those who ask it something: an answer each, in the stream, whatever else it thinks of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from actors.effects import Count, Effect, Generate, Send, WakeAt
from actors.events import Generated, Utterance
from actors.names import STREAM
from actors.perception.percept import ref
from actors.submind.budget import Allowance
from actors.submind.composing import clock_time
from actors.substrate.ports import Act, Depth, Material, Request, Role
from actors.thinking.settings import ThinkingSettings
from environment.episodes.question import addressed, asked_by, asks
from environment.identity import answer_id
from environment.messages import EntryKind, Instant, Perception, PerceptionRef, StreamEntry, Thought

_AGAIN = 2.0
"""Seconds after which what was not answered, or not confirmed, is begun again."""
_MOST = 256
"""Questions that wait at a time."""
_SPEAKERS, _EARLIER = 32, 4
"""Who is remembered to have asked, and how many of their questions."""
_SALIENCE = 0.97


@dataclass(slots=True)
class _Asked:
    question: PerceptionRef
    seq: int
    text: str
    trust: float
    earlier: tuple[str, ...]
    sent: Instant
    answer: StreamEntry | None = None


class Conversations:
    """Questions of those who speak to the mind, from the perception log to the stream.

    Guarantees: each that is not older than ``answer_within`` is answered once, unless more come than
    ``answers_per_hour``; an answer is trusted as the least of the question and what it quotes.
    """

    def __init__(self, owner: str, interlocutors: Sequence[str], settings: ThinkingSettings) -> None:
        self._owner = owner
        self._interlocutors = tuple(interlocutors)
        self._settings = settings
        self._allowance = Allowance(settings.answers_per_hour)
        self._asked: OrderedDict[str, _Asked] = OrderedDict()
        self._talks: OrderedDict[str, list[str]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._asked)

    def configure(self, settings: ThinkingSettings, now: Instant) -> None:
        """From ``now`` on these hold."""
        self._settings = settings
        self._allowance.configure(settings.answers_per_hour, now)

    def answers(self, thought: Thought) -> bool:
        """Whether a thought is what somebody asks: it has its answer, and is not thought about besides."""
        source = thought.perceptions[0].source if thought.perceptions else ""
        return addressed(source, self._interlocutors) and asks(thought.text)

    def hear(self, perception: Perception, now: Instant) -> list[Effect]:
        """Look for what answers a perception, where it asks for anything and is not history."""
        if not asked_by(perception, self._interlocutors) or now - perception.time > self._settings.answer_within:
            return []
        if len(self._asked) >= _MOST or not self._allowance.take(now):
            return [Count("limit_hits:answers")]
        text, talk = perception.text or "", self._talks.pop(perception.source, [])
        asked = _Asked(ref(perception), perception.seq, text, perception.trust, tuple(talk), now)
        self._asked[answer_id(perception.id)] = asked
        self._talks[perception.source] = [*talk, text][-_EARLIER:]
        while len(self._talks) > _SPEAKERS:
            self._talks.popitem(last=False)
        return [self._seek(answer_id(perception.id), asked), WakeAt(now + _AGAIN)]

    def found(self, generated: Generated, now: Instant) -> list[Effect]:
        """Say what was found; nothing where that is no answer to a question, or was said already."""
        asked, found = self._asked.get(generated.token), generated.generation
        if asked is None or asked.answer is not None:
            return []
        refs = {each.id: each for each in (asked.question, *found.perceptions)}
        asked.sent = now
        asked.answer = StreamEntry(
            seq=0,
            id=generated.token,
            kind=EntryKind.ANSWER,
            text=found.text,
            time=asked.question.time,
            at=now,
            salience=_SALIENCE,
            confidence=found.confidence,
            trust=min(asked.trust, found.trust),
            perceptions=tuple(refs.values()),
            lineage=tuple(refs),
            author=self._owner,
            vector=generated.vector,
            worded_by=found.model,
        )
        return [Send(STREAM, Utterance(asked.answer), 1.0), WakeAt(now + _AGAIN)]

    def said(self, entry: StreamEntry) -> None:
        """The stream has it."""
        self._asked.pop(entry.id, None)

    def tend(self, now: Instant) -> list[Effect]:
        """Begin again what has waited too long; to be called on every tick."""
        effects: list[Effect] = []
        for key, asked in self._asked.items():
            if now - asked.sent >= _AGAIN:
                asked.sent = now
                again = Send(STREAM, Utterance(asked.answer), 1.0) if asked.answer else self._seek(key, asked)
                effects.append(again)
        return [*effects, WakeAt(now + _AGAIN)] if self._asked else []

    def _seek(self, key: str, asked: _Asked) -> Effect:
        when = clock_time(asked.question.time)
        texts = (asked.text, *asked.earlier)
        materials = tuple(Material(Role.EVENT, text, asked.question.source, when) for text in texts)
        return Generate(key, Request(Act.REPLY, self._owner, materials, Depth.DEEP, before=asked.seq))

    def dump(self) -> SavedConversations:
        """For a snapshot."""
        return SavedConversations(
            left=self._allowance.left,
            at=self._allowance.at,
            asked=list(self._asked.items()),
            talks=list(self._talks.items()),
        )

    def load(self, saved: SavedConversations) -> None:
        """From a snapshot: what was on its way is begun again."""
        self._allowance.left, self._allowance.at = saved.left, saved.at
        self._asked.update(saved.asked)
        self._talks.update(saved.talks)


class SavedConversations(msgspec.Struct):
    """What survives a crash of ``Conversations``."""

    left: float
    at: Instant | None
    asked: list[tuple[str, _Asked]]
    talks: list[tuple[str, list[str]]]
