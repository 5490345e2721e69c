"""What was salient of late: what belongs to a focus, what is asked about both, and why they belong together."""

from collections import deque
from collections.abc import Sequence

from actors.attention.settings import AttentionSettings
from actors.submind.composing import apart, clock_time, material
from actors.submind.linking import Rarity, kin, spoken_to, tie
from actors.substrate.ports import Act, Request, Role
from environment.messages import ThoughtKind, Trace
from environment.relations import Relation


class RecentTraces:
    """Remembers a bounded number of traces, and how rare the names in them are."""

    def __init__(self, settings: AttentionSettings) -> None:
        self.traces: deque[Trace] = deque(maxlen=settings.recent)
        self.rarity = Rarity()

    def add(self, trace: Trace) -> bool:
        """Whether it is a new perception; what is made of one names the same again, and makes no name less rare."""
        new = trace.version == 1 and trace.level.at == trace.thought.at and trace.thought.kind is ThoughtKind.PERCEPT
        if new:
            self.rarity.learn(trace.thought.associations)
        self.traces.append(trace)
        return new

    def bind(self, focus: Trace, settings: AttentionSettings) -> tuple[Trace, ...]:
        """The traces about the same thing as the focus that rest on something else, surest and latest first."""
        percepts = [t for t in self.traces if t.thought.kind is ThoughtKind.PERCEPT]
        return kin(focus, percepts, self.rarity, settings.bind_above)[: settings.bind]

    def request(self, author: str, focus: Trace, bound: Sequence[Trace]) -> Request:
        """What is asked of the substrate about these."""
        time = focus.thought.time
        memories = (material(Role.MEMORY, t.thought, apart(t.thought.time, time)) for t in bound)
        return Request(Act.BIND, author, (material(Role.EVENT, focus.thought, clock_time(time)), *memories))

    def links(self, focus: Trace, bound: Sequence[Trace]) -> tuple[Relation, ...]:
        """Why the focus belongs to each of ``bound``."""
        known = spoken_to(t.thought for t in self.traces)
        ties = [(t.id, tie(focus.thought, t.thought, self.rarity, known)) for t in bound]
        return tuple(tied.to(name) for name, tied in ties if tied is not None)
