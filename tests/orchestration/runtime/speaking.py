"""The smallest mind that speaks: what it is told goes into its stream, through the real core of the stream.

A wiring module: `python -m tests.orchestration.runtime.speaking DATA_DIR` runs it under a real host and a real Ray.
"""

from actors.core import Description
from actors.effects import Commit, Send
from actors.events import Candidate, Configured, Conscious, Post, Posted
from actors.shell import ActorShell
from actors.stream.core import StreamCore
from environment.messages import EntryKind, Level, Trace
from environment.ports import WriteTrace
from orchestration.loading import load_settings
from orchestration.wiring import ActorPlan
from tests.orchestration.runtime.tiny import VECTOR, Counter, Keeper, live
from tests.orchestration.runtime.tiny import settings as tiny_settings


class Speaker(Keeper):
    """Makes traces of what is posted, with the half-life that is configured, and hands each to the stream."""

    def __init__(self, half_life):
        super().__init__()
        self.half_life = half_life

    def handle(self, event, now):
        if isinstance(event, Configured):
            self.half_life = event.section.half_life.percept
        if not isinstance(event, Post):
            return []
        self.kept += len(event.thoughts)
        traces = [Trace(t, 1, Level(0.5, now, self.half_life), authors=(t.author,)) for t in event.thoughts]
        return [
            *(Commit(WriteTrace(trace)) for trace in traces),
            *(Send("stream", Conscious(candidate(trace))) for trace in traces),
            Send(event.sender, Posted(event.token, tuple(t.id for t in event.thoughts))),
        ]

    def describe(self):
        return Description("environment", "keep", (), {"kept": float(self.kept), "half_life": self.half_life})


def candidate(trace):
    thought = trace.thought
    return Candidate(
        id=f"c-{thought.id.removeprefix('t-')}",
        kind=EntryKind.THOUGHT,
        text=thought.text,
        time=thought.time,
        salience=0.5,
        confidence=0.5,
        trust=thought.trust,
        focus=trace,
        bound=(),
        concerns=(),
    )


def plan(settings, members=()):
    roles = {"text": "perceptual", "environment": "environment", "stream": "stream"}
    return tuple(ActorPlan(name, role, ("a goal",)) for name, role in roles.items())


async def build_shell(actor, settings, stores, driver, embedder, *, fence=0, seed=0):
    match actor.name:
        case "text":
            core = Counter()
        case "environment":
            core = Speaker(settings.environment.half_life.percept)
        case _:
            tail = await stores.stream.read(max(1, await stores.stream.head() - 4095), 4096)
            core = StreamCore("stream", len(VECTOR), tail, settings.stream)
    return ActorShell(core, stores, driver, settings.shell, embedder=embedder, fence=fence)


def settings():
    """As the tiny mind's; hardly any waiting for earlier thoughts."""
    stream = {"reorder": 0.05}
    given = tiny_settings().model_dump(
        include={"gateway": {"listen", "drain"}, "feed": {"listen"}, "shell": {"save_every"}}
    )
    more = {"host": {"restart": 0.1}, "runtime": {"supervision": {"ping_every": 0.5}}}
    sections = {**given, **more, "stream": stream}
    return load_settings(flags={section: (section, values) for section, values in sections.items()})


if __name__ == "__main__":
    live(settings(), "tests.orchestration.runtime.speaking")
