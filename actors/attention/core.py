"""Attention: candidates are held, the best of its surroundings wins, winners that stand out become conscious.

Source: the agentic design (attentional modulation of the global neuronal workspace). The rule was chosen by
measurement over unlike streams; ``benchmarks/coverage.py`` measures it.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import msgspec

from actors import events
from actors.attention.contest import Contest, Held, Loudness, SavedContest, origin_of
from actors.attention.inhibition import Inhibition, SavedInhibition
from actors.attention.judge import Judge, SavedJudge
from actors.attention.marks import StandingMutes
from actors.attention.pacing import Pace
from actors.attention.recent import RecentTraces
from actors.attention.settings import AttentionSettings
from actors.attention.threshold import Threshold
from actors.attention.weighing import Weighing
from actors.core import Description, Inward
from actors.effects import Count, Effect, Generate, Note, Send, WakeAt
from actors.growth import Born, Gone
from actors.names import ENVIRONMENT, STREAM
from actors.peers import PeerDirectory
from actors.snapshots import pack, unpack
from actors.submind.budget import Allowance
from actors.substrate.ports import Generation
from environment.decisions import Decision, Ground
from environment.goals import Pursued
from environment.identity import entry_id
from environment.messages import EntryKind, Instant, Modality, ThoughtKind, Trace, Vector
from environment.severity import Severity, salience_of, severity

_SURVEYED = 32
_JUDGED = 4096
"""Traces remembered as judged: one that was passed over is no news an hour later, unless it was revised."""
_RISES = 60.0
"""Seconds for which what has just come may rise by what others make of it, a matter that it joins say."""
_OWN = frozenset({ThoughtKind.RESULT, ThoughtKind.REFLECTION})
"""What the mind says of what it was told already: nothing new is to be alarmed at."""


@dataclass(slots=True)
class _Wording:
    """A thought that waits for the substrate to put it into words."""

    focus: Trace
    bound: tuple[Trace, ...]
    value: float
    at: Instant
    why: Decision


class AttentionCore(Inward):
    """The one attention of a mind.

    Guarantees: at most twice the target rate in any stretch, never more than a replay's budget; a trace becomes
    conscious at most once per version; a thought handed over stays here until the stream has numbered it. What a flood
    from other sources would drown is judged as if the flood had not come, and finds room.
    """

    def __init__(
        self,
        name: str,
        dim: int,
        pace: Pace,
        ceiling: Allowance | None,
        peers: PeerDirectory,
        goals: Sequence[Vector],
        settings: AttentionSettings,
        mutes: StandingMutes | None = None,
        pursued: Mapping[str, float] | None = None,
        judge: Judge | None = None,
    ) -> None:
        """``goals``: of the configuration; ``pursued``: as ``Pursued`` says."""
        self.name, self.saved = name, _Saved
        self._settings = settings
        self._all = Contest(pace, settings.memory)
        self._drowned = Contest(pace.again(), settings.memory)
        """Of those whom a flood would drown; it remembers what won while nobody was."""
        self._loudness = Loudness()
        self._ceiling = ceiling
        self._peers = peers
        self._inhibition = Inhibition(dim, settings)
        self._mutes = mutes or StandingMutes()
        self._weighing = Weighing(goals, self._mutes, self._inhibition, settings.memory)
        self._judge = judge or Judge(name, (), settings, self._mutes, model=False)
        self._pursue(pursued or {})
        self._judged: OrderedDict[str, int] = OrderedDict()
        self._recent = RecentTraces(settings)
        self._handed: OrderedDict[str, tuple[events.Candidate, Instant]] = OrderedDict()
        self._wording: dict[str, _Wording] = {}
        self._threshold, self._passing = Threshold(settings.bend), 0.0
        self._surveyed_at: Instant = 0.0

    def handle(self, event: events.Event, now: Instant) -> list[Effect]:
        match event:
            case events.Salient():
                return self._offered(event, now)
            case events.Tick():
                return [*self._decide_due(now), *self._tend(now)]
            case events.Generated():
                return self._rated(event, now) or self._worded(event, now)
            case events.Broadcast():
                self._handed.pop(event.entry.id, None)
                return []
            case events.Propose():
                return self._consider(event)
            case events.Marked() | events.Muted():
                return self._mutes.take(event)
            case Pursued():
                return self._pursue(event.goals)
            case Born():
                self._peers = self._peers.adding(event.peer)
                return []
            case Gone():
                self._peers = self._peers.without(event.name)
                return []
            case events.Configured(section=AttentionSettings() as settings):
                return self._configured(settings, now)
            case events.Started():
                self._surveyed_at = float("-inf")
                return [*self._decide_due(now), *self._tend(now)]
            case _:
                return []

    def _pursue(self, goals: Mapping[str, float]) -> list[Effect]:
        self._weighing.pursue(goals)
        self._judge.pursue(goals)
        return []

    def _configured(self, settings: AttentionSettings, now: Instant) -> list[Effect]:
        self._settings = settings
        self._threshold.bend = settings.bend
        self._judge.configure(settings, now)
        for contest in self._contests:
            contest.pace.configure(settings.per_hour, now)
        if self._ceiling is not None:
            self._ceiling.configure(settings.ceiling_per_hour, now, settings.ceiling_burst)
        self._inhibition.configure(settings)
        return [WakeAt(now)]  # what is held may have waited long enough

    def finish(self, now: Instant) -> list[Effect]:
        """Decide what is held, at the end of a replay."""
        ended = ((*self._overdue(contest, 0.0, now), *self._decide(contest, now)) for contest in self._contests)
        return list(chain.from_iterable(ended))

    @property
    def _contests(self) -> tuple[Contest, Contest]:
        return self._drowned, self._all

    def _offered(self, salient: events.Salient, now: Instant) -> list[Effect]:
        effects, offered = self._decide_due(now), salient.passed
        for source, times in salient.sources.items():
            self._loudness.hear(source, times)
        for trace in salient.traces:
            if not salient.again and self._recent.add(trace):
                offered += 1
                self._loudness.hear(origin_of(trace))
            judged = trace.version == self._judged.get(trace.id)
            if (judged and now - trace.thought.at > _RISES) or self._inhibition.suppressed(trace, now):
                continue
            self._judged[trace.id] = trace.version
            while len(self._judged) > _JUDGED:
                self._judged.popitem(last=False)
            value, parts = self._weighing.weigh(trace, now, self._settings, again=judged)
            effects += self._compete(Held(trace, value, now, parts))
        for contest in self._contests:
            contest.pace.offered += offered
        return effects

    def _compete(self, new: Held) -> list[Effect]:
        if self._mutes.hold_back(new.trace, new.at):
            return [Count("muted_total")]
        contest = self._drowned if self._loudness.drowns(origin_of(new.trace)) else self._all
        held, now = contest.held, new.at
        if held is not None:
            high, low = (held, new) if new.value <= held.value else (new, held)
            high.beat(low)
            if self._judge.listens(self._settings):
                contest.beaten(low)
            if high is held:
                return []
        contest.held = new
        if self._breaks_in(new):
            return self._decide(contest, now)
        if held is not None and held.trace.id in new.trace.thought.parents:  # about the same
            new.at = held.at
        return [WakeAt(now + contest.hold(self._settings))]

    def _breaks_in(self, held: Held) -> bool:
        return salience_of(held.value) >= self._settings.break_in

    def _decide_due(self, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for contest in self._contests:
            effects += self._overdue(contest, self._settings.judge_patience, now)
            if contest.held is not None:
                due = contest.held.at + contest.hold(self._settings)
                effects += self._close(contest, now) if due <= now else [WakeAt(due)]
        return effects

    def _close(self, contest: Contest, now: Instant) -> list[Effect]:
        """A moment is over: a model is asked first where its word could change who passes."""
        asked = self._judge.ask(contest, self._passing, self._settings, now)
        return asked if contest.held is None else [*asked, *self._decide(contest, now)]

    def _overdue(self, contest: Contest, patience: float, now: Instant) -> list[Effect]:
        """Who waited for a model in vain goes by the rule's order."""
        late = [self._settle(contest, best, now) for best in contest.overdue(patience, now)]
        return [Count("judgements_missing_total:late", len(late)), *chain.from_iterable(late)] if late else []

    def _rated(self, said: events.Generated, now: Instant) -> list[Effect]:
        for contest in self._contests:
            if asked := contest.asked.pop(said.token, None):
                best, effects = self._judge.heard(asked, said.generation, self._settings.judge)
                return [*effects, *self._settle(contest, best, now)]
        return []

    def _settle(self, contest: Contest, best: Held, now: Instant) -> list[Effect]:
        """Decide about the best of a moment that is over, beside who is held in the next one."""
        (waiting, others), (contest.held, contest.others) = (contest.held, contest.others), (best, [])
        effects = self._decide(contest, now)
        contest.others = others
        contest.rejoin(waiting)
        return effects

    def _decide(self, contest: Contest, now: Instant) -> list[Effect]:
        """The held candidate has won its surroundings: it passes when it stands out among winners."""
        held, drowned = contest.held, contest is self._drowned
        if held is None:
            return []
        if drowned and self._ceiling is not None and not self._ceiling.ready(now):
            held.at = now  # it waits: there may not be another one like it
            return [WakeAt(now + contest.hold(self._settings))]
        contest.held, contest.others = None, []
        if self._mutes.hold_back(held.trace, now):  # its matter was muted, or it joined one
            return [Count("muted_total")]
        if self._inhibition.suppressed(held.trace, now):  # it was told while it waited
            return []
        others = () if drowned or self._loudness.drowns() else (self._drowned,)
        for other in others:
            other.learn(held)
        rank, share = contest.learn(held)
        passing = max(0.0, 1.0 - share * self._threshold.share)
        if not drowned:
            self._passing = passing
        given = self._all.pace.ample or bool(held.trace.thought.evidence)  # of a small budget none for a young series
        first = given and not self._all.pace.picked and self._settings.welcome > 0
        welcome = rank < passing and (first or contest.newborn(self._settings))
        dull = salience_of(held.value) < self._settings.worth
        if dull or (rank < passing and not welcome) or self._all.pace.spent:
            return [Count("winners_passed_over_total")]
        if self._ceiling is not None and not self._ceiling.take(now, leave=0 if drowned or others else 1):
            return [Count("limit_hits:stream_rate")]
        for one in {contest, self._all, *others}:
            one.pace.picked += 1
        self._inhibition.remember(held.trace, now)
        self._judge.told(held.trace.thought)
        bound = self._recent.bind(held.trace, self._settings) if held.trace.thought.kind is ThoughtKind.PERCEPT else ()
        ground = Ground.WELCOME if welcome else Ground.BROKE_IN if self._breaks_in(held) else Ground.STOOD_OUT
        why = held.decided(ground, rank, passing, len(contest), self._settings.worth)
        wording = _Wording(held.trace, bound, held.value, now, why)
        if not bound:
            return self._hand_over(self._candidate(wording), now)
        self._wording[token := entry_id(held.trace.id, held.trace.version)] = wording
        return [
            Generate(token, self._recent.request(self.name, held.trace, bound)),
            WakeAt(now + self._settings.resend_after),
        ]

    def _worded(self, generated: events.Generated, now: Instant) -> list[Effect]:
        wording = self._wording.pop(generated.token, None)
        if wording is None:
            return []
        return self._hand_over(self._candidate(wording, generated.generation), now)

    def _candidate(self, wording: _Wording, found: Generation | None = None) -> events.Candidate:
        """In the words that the substrate found, or in those of its focus."""
        focus, bound, own = wording.focus, wording.bound, wording.focus.thought
        salience = salience_of(wording.value)
        quoted = not found and own.author == Modality.TEXT and not own.insights  # which are put beside what was said
        return events.Candidate(
            id=entry_id(focus.id, focus.version),
            kind=EntryKind.THOUGHT,
            text=found.text if found else own.text,
            time=own.time,
            salience=salience,
            confidence=own.confidence,
            trust=min([own.trust, *(t.thought.trust for t in bound)]),
            focus=focus,
            bound=bound,
            concerns=self._concerns(focus, bound),
            links=self._recent.links(focus, bound),
            worded_by=found.model if found else own.worded_by,
            severity=Severity.NOTABLE if own.kind in _OWN else severity(salience, own.evidence),
            why=replace(wording.why, quoted=quoted),
        )

    def _hand_over(self, candidate: events.Candidate, now: Instant) -> list[Effect]:
        self._handed[candidate.id] = (candidate, now)
        return [
            Send(STREAM, events.Conscious(candidate), 1.0),
            Count("thoughts_conscious_total"),
            Count(f"severity_total:{candidate.severity}"),
            WakeAt(now + self._settings.resend_after),
        ]

    def _concerns(self, focus: Trace, bound: Sequence[Trace]) -> tuple[str, ...]:
        authors = [a for t in (focus, *bound) for a in t.authors or (t.thought.author,)]
        near = self._peers.apart(focus.thought.vector, self._settings.concerned)
        return tuple(dict.fromkeys([*authors, *(peer.name for peer in near)]))

    def _consider(self, event: events.Propose) -> list[Effect]:
        self._threshold.consider(event.proposal)
        self._inhibition.widen(self._threshold.breadth)
        fields = {"proposal": event.proposal.value, "by": event.sender, "reason": event.reason}
        return [Note("attention changed", "info", fields), Count("proposals_total")]

    def _tend(self, now: Instant) -> list[Effect]:
        effects: list[Effect] = []
        for key, (candidate, at) in list(self._handed.items()):
            if now - at >= self._settings.resend_after:
                self._handed[key] = (candidate, now)
                effects.append(Send(STREAM, events.Conscious(candidate), 1.0))
        for token, wording in list(self._wording.items()):
            if now - wording.at >= self._settings.wording_patience:  # its own words will do
                del self._wording[token]
                effects += self._hand_over(self._candidate(wording), now)
        if self._handed or self._wording:
            effects.append(WakeAt(now + self._settings.resend_after))
        if now - self._surveyed_at >= self._settings.survey_every:
            self._surveyed_at = now
            effects.append(Send(ENVIRONMENT, events.Survey(self.name, _SURVEYED)))
        return [*effects, WakeAt(self._surveyed_at + self._settings.survey_every)]

    def describe(self) -> Description:
        figures = {"threshold_bend": self._threshold.share, "attention_threshold": self._passing}
        figures["judge_weight"] = self._judge.weight
        figures |= {"handed_over": float(len(self._handed)), "offered_total": float(self._all.pace.offered)}
        return Description("attention", "lift the few traces that matter into the stream of consciousness", (), figures)

    def snapshot(self) -> bytes:
        return pack(
            _Saved(
                contests=[contest.dump() for contest in self._contests],
                loudness=self._loudness.dump(),
                relevance=self._weighing.relevance.dump(),
                inhibition=self._inhibition.dump(),
                recent=list(self._recent.traces),
                rarity=self._recent.rarity.dump(),
                judged=list(self._judged.items()),
                steps=self._threshold.dump(),
                ceiling=(self._ceiling.left, self._ceiling.at) if self._ceiling else None,
                handed=[candidate for candidate, _ in self._handed.values()],
                wording=list(self._wording.values()),
                judge=self._judge.dump(),
            )
        )

    def restore(self, state: bytes) -> None:
        saved = unpack(state, _Saved)
        for contest, before in zip(self._contests, saved.contests, strict=True):
            contest.load(before)
        self._loudness.load(saved.loudness)
        self._weighing.relevance.load(saved.relevance)
        self._inhibition.load(saved.inhibition)
        self._recent.traces.extend(saved.recent)
        self._recent.rarity.load(saved.rarity)
        self._judged.update(saved.judged)
        self._threshold.load(saved.steps)
        self._judge.load(saved.judge)
        self._inhibition.widen(self._threshold.breadth)
        if self._ceiling and saved.ceiling:
            self._ceiling.left, self._ceiling.at = saved.ceiling
        # the answers to requests under way are lost: those thoughts go with the words of their focus
        unworded = [self._candidate(wording) for wording in saved.wording]
        self._handed = OrderedDict((c.id, (c, float("-inf"))) for c in [*saved.handed, *unworded])


class _Saved(msgspec.Struct):
    contests: list[SavedContest]
    loudness: dict[str, int]
    relevance: list[float]
    inhibition: SavedInhibition
    recent: list[Trace]
    rarity: dict[str, int]
    judged: list[tuple[str, int]]
    steps: tuple[int, int]
    ceiling: tuple[float, Instant | None] | None
    handed: list[events.Candidate]
    wording: list[_Wording]
    judge: SavedJudge = msgspec.field(default_factory=SavedJudge)
