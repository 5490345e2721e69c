"""What an actor does for a perception, as spans: read off the events that its core handles and the effects it returns.

| span | of | within |
|---|---|---|
| ``perceive`` | a perceptual submind reads the perception | ``accept`` |
| ``think`` | a thought comes about, and is sent to the environment | ``perceive``, or ``hear`` or ``aware`` |
| ``leave`` | the environment makes it a trace, or a trace's next version | ``think`` |
| ``tell`` | a thought is sent along a connection | ``think``, or ``hear`` where it is passed on |
| ``hear`` | ... and taken in | ``tell`` |
| ``crawl`` | a submind asks the environment for memories, until it is answered | ``hear`` or ``aware`` |
| ``walk`` | ... the environment's part of that | ``crawl`` |
| ``generate`` | the substrate is asked, until it answered | ``hear``, ``aware`` or ``attend`` |
| ``attend`` | attention is offered a trace | ``leave`` |
| ``choose`` | ... and has it become conscious | ``attend`` |
| ``append`` | the stream holds, numbers and writes it | ``choose`` |
| ``aware`` | an actor is told that it is conscious | ``append`` |

A trace is that of the perception on which a thought focuses; what else the thought rests on is linked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from actors import events
from actors.effects import Commit, Effect, Generate, Note, Send
from actors.names import ATTENTION, ENVIRONMENT
from environment.identity import entry_id
from environment.latest import Latest
from environment.messages import EntryKind, PerceptionRef, StreamEntry, Thought, ThoughtKind
from environment.ports import WriteEntries
from orchestration.telemetry.tracing.ids import hex_span, hex_trace, span_id
from orchestration.telemetry.tracing.spans import MOST_LINKS, Kind, Nanoseconds, Recorder, Span, Value


@dataclass(frozen=True, slots=True)
class Place:
    """A span that others begin from."""

    trace: int
    span: int
    perception: str
    """That the trace is of."""
    since: Nanoseconds


class SpanRecorder:
    """The spans of one actor's life. It changes nothing that the actor does.

    What it adds to effects is for others to look at: a crawl of a traced thought names the perception, a note the
    span it was written in.
    """

    def __init__(self, actor: str, recorder: Recorder) -> None:
        self._actor = actor
        self._recorder = recorder
        most = recorder.settings.remembered
        self._heard = Latest[str, Place](most)  # by thought
        self._asked = Latest[str, Place](most)  # by token
        self._offered = Latest[str, Place](most)  # by what the entry will be called
        self._unsent: list[Span] = []
        self._began: Nanoseconds = 0
        self._reading: Nanoseconds = 0

    def reads(self) -> None:
        """The core was asked what is to be embedded of perceptions that it is about to be handed."""
        self._reading = self._recorder.clock()

    def handle(self, event: events.Event, work: Callable[[], list[Effect]]) -> list[Effect]:
        """Have the core do its work; what it asks for."""
        self._began = self._recorder.clock()
        effects = work()
        place = self._took(event, effects)
        return [self._made(effect, place) for effect in effects]

    def sent(self) -> None:
        """The step was committed: its first message leaves."""
        if self._unsent:
            end = self._recorder.clock()
            for span in self._unsent:
                self._recorder.record(replace(span, end=end))
            self._unsent.clear()

    # --- what it took in ---

    def _took(self, event: events.Event, effects: Sequence[Effect]) -> Place | None:
        match event:
            case events.Message(thought, sender):
                return self._hear("hear", thought, ("tell", thought.id, sender, self._actor), (thought.id, self._actor))
            case events.Broadcast(entry, focus) if focus is not None:
                mark = (entry.id, self._actor)
                return self._hear("aware", focus.thought, ("append", entry.id), mark, {"submind.entry": entry.seq})
            case events.Found(token, traces):
                return self._answered("crawl", token, {"submind.found": len(traces)})
            case events.Generated(token, generation):
                cost: dict[str, Value] = {"submind.tokens": generation.tokens_out}
                return self._answered("generate", token, {**cost, "submind.fallback": bool(generation.fallback)})
            case events.Perceived():
                self._perceive(event)
            case events.Crawl() if event.about:
                self._walk(event, effects)
            case events.Post(_, thoughts):
                for thought in thoughts:
                    self._leave(thought, thought.id, 1)
            case events.Revise(trace_id, base, _, thought):
                if not any(isinstance(effect, Send) and isinstance(effect.event, events.Refused) for effect in effects):
                    self._leave(thought, trace_id, base + 1)
            case events.Salient(traces, _, again) if not again:
                for trace in traces:
                    if self._actor == ATTENTION:
                        self._attend(trace.thought, trace.id, trace.version)
                    else:
                        self._follow(trace.thought, trace.id, trace.version)
            case events.Conscious(candidate):
                self._receive(candidate.focus.thought, candidate.id)
        return None

    def _hear(
        self,
        name: str,
        thought: Thought,
        parent: tuple[str, ...],
        mark: tuple[str, ...],
        figures: dict[str, Value] | None = None,
    ) -> Place | None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is None:
            return None
        place = Place(trace, span_id(trace, name, *mark), thought.perceptions[0].id, self._began)
        known = self._heard.get(thought.id)
        if known is None:
            self._heard[thought.id] = place
        self._tell(name, place, span_id(trace, *parent), Kind.CONSUMER, thought, figures)
        return place

    def _answered(self, name: str, token: str, figures: dict[str, Value]) -> Place | None:
        """An answer came; the span goes back to the question."""
        asked = self._asked.pop(f"{name} {token}", None)
        if asked is None:
            return None
        mark = span_id(asked.trace, name, self._actor, token)
        span = Span(name, asked.trace, mark, asked.span, asked.since, self._recorder.clock(), Kind.CLIENT)
        self._recorder.record(replace(span, attributes={"submind.actor": self._actor, **figures}))
        return asked

    def _perceive(self, event: events.Perceived) -> None:
        began = min(self._reading or self._began, self._began)
        self._reading = 0
        end = self._recorder.clock()
        for perception in event.perceptions:
            trace = self._recorder.ids.traced(perception.id)
            if trace is not None:
                mark = span_id(trace, "perceive", perception.id, self._actor)  # several may read it
                parent = span_id(trace, "accept", perception.id)
                told = {"submind.actor": self._actor, "submind.perception": perception.id}
                self._recorder.record(Span("perceive", trace, mark, parent, began, end, Kind.CONSUMER, told))

    def _walk(self, crawl: events.Crawl, effects: Sequence[Effect]) -> None:
        trace = self._recorder.ids.traced(crawl.about)
        if trace is None:
            return
        found = sum(len(e.event.traces) for e in effects if isinstance(e, Send) and isinstance(e.event, events.Found))
        asker = (crawl.sender, crawl.token)
        mark, parent = span_id(trace, "walk", *asker), span_id(trace, "crawl", *asker)
        told: dict[str, Value] = {
            "submind.actor": self._actor,
            "submind.crawl": crawl.kind.value,
            "submind.found": found,
        }
        end = self._recorder.clock()
        self._recorder.record(Span("walk", trace, mark, parent, self._began, end, Kind.SERVER, told))

    def _leave(self, thought: Thought, trace_id: str, version: int) -> None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is not None:
            place = self._at(trace, thought, "leave", trace_id, str(version))
            figures: dict[str, Value] = {"submind.trace": trace_id, "submind.version": version}
            self._tell("leave", place, span_id(trace, "think", thought.id), Kind.CONSUMER, thought, figures, late=True)

    def _attend(self, thought: Thought, trace_id: str, version: int) -> None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is not None:
            place = self._at(trace, thought, "attend", trace_id, str(version))
            self._offered[entry_id(trace_id, version)] = place
            parent = span_id(trace, "leave", trace_id, str(version))
            self._tell("attend", place, parent, Kind.CONSUMER, thought)

    def _follow(self, thought: Thought, trace_id: str, version: int) -> None:
        """Somebody who follows what is perceived may think of the perception later."""
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is not None:
            left = span_id(trace, "leave", trace_id, str(version))
            name = thought.perceptions[0].id
            self._heard[name] = Place(trace, left, name, self._began)

    def _receive(self, thought: Thought, entry: str) -> None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is not None and self._offered.get(entry) is None:
            self._offered[entry] = self._at(trace, thought, "append", entry)

    # --- what it made of it ---

    def _made(self, effect: Effect, place: Place | None) -> Effect:
        match effect:
            case Send(to, events.Message(thought, sender)):
                self._pass(thought, sender, to)
            case Send(_, events.Post(_, thoughts)):
                for thought in thoughts:
                    self._think(thought)
            case Send(_, events.Revise(_, _, _, thought)):
                self._think(thought)
            case Send(to, events.Crawl() as crawl) if to == ENVIRONMENT and place is not None:
                self._ask("crawl", crawl.token, place)
                return replace(effect, event=replace(crawl, about=place.perception))
            case Send(_, events.Conscious(candidate)):
                self._choose(candidate.focus.thought, candidate.focus.id, candidate.focus.version, candidate.id)
            case Generate(token):
                cause = place or self._offered.get(token)
                if cause is not None:
                    self._ask("generate", token, cause)
            case Commit(WriteEntries(entries)):
                for entry in entries:
                    self._append(entry)
            case Note() if place is not None:
                ids = {"trace_id": hex_trace(place.trace), "span_id": hex_span(place.span)}
                return replace(effect, fields={**effect.fields, **ids})
        return effect

    def _ask(self, name: str, token: str, cause: Place) -> None:
        self._asked[f"{name} {token}"] = replace(cause, since=self._recorder.clock())

    def _pass(self, thought: Thought, sender: str, to: str) -> None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is None:
            return
        heard = self._heard.get(thought.id)
        own = heard is None or thought.author == self._actor or heard.trace != trace
        parent = span_id(trace, "think", thought.id) if own or heard is None else heard.span
        place = self._at(trace, thought, "tell", thought.id, sender, to)
        self._tell("tell", place, parent, Kind.PRODUCER, thought, {"submind.to": to}, late=True)

    def _think(self, thought: Thought) -> None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is None:
            return
        place = self._at(trace, thought, "think", thought.id)
        first = thought.parents[0] if thought.parents else ""
        heard = self._heard.get(first)
        if thought.kind is ThoughtKind.PERCEPT:
            parent = span_id(trace, "perceive", thought.perceptions[0].id, self._actor)
        elif heard is not None and heard.trace == trace:
            place, parent = replace(place, since=heard.since), heard.span
        else:
            parent = span_id(trace, "think", first)
        self._tell("think", place, parent, Kind.PRODUCER, thought, {"submind.kind": thought.kind.value}, late=True)

    def _choose(self, thought: Thought, trace_id: str, version: int, entry: str) -> None:
        trace = self._recorder.trace_of(thought.perceptions)
        if trace is not None:
            offered = self._offered.get(entry)
            parent = offered.span if offered is not None else span_id(trace, "leave", trace_id, str(version))
            self._tell("choose", self._at(trace, thought, "choose", entry), parent, Kind.PRODUCER, thought, late=True)

    def _append(self, entry: StreamEntry) -> None:
        trace = self._recorder.trace_of(entry.perceptions)
        if trace is None or entry.kind is not EntryKind.THOUGHT:
            return
        received = self._offered.pop(entry.id, None)
        told: dict[str, Value] = {"submind.actor": self._actor, "submind.entry": entry.seq}
        self._unsent.append(
            Span(
                "append",
                trace,
                span_id(trace, "append", entry.id),
                span_id(trace, "choose", entry.id),
                received.since if received is not None else self._began,
                self._began,
                Kind.CONSUMER,
                told,
                self._links(entry.perceptions),
            )
        )

    # --- how it is told ---

    def _at(self, trace: int, thought: Thought, *mark: str) -> Place:
        return Place(trace, span_id(trace, *mark), thought.perceptions[0].id, self._began)

    def _tell(
        self,
        name: str,
        place: Place,
        parent: int,
        kind: Kind,
        thought: Thought,
        figures: dict[str, Value] | None = None,
        *,
        late: bool = False,
    ) -> None:
        """``late``: the span ends when the step's messages leave, after its commit."""
        told = {"submind.actor": self._actor, "submind.thought": thought.id, **(figures or {})}
        links = self._links(thought.perceptions) if name == "think" else ()
        span = Span(name, place.trace, place.span, parent, place.since, self._recorder.clock(), kind, told, links)
        if late:
            self._unsent.append(span)
        else:
            self._recorder.record(span)

    def _links(self, refs: Sequence[PerceptionRef]) -> tuple[tuple[int, int], ...]:
        """The beginnings of all that it rests on beside its focus, where they are traced."""
        found = ((self._recorder.ids.traced(ref.id), ref.id) for ref in refs[1:MOST_LINKS])
        return tuple((trace, span_id(trace, "accept", name)) for trace, name in found if trace is not None)
