"""Replay: what would this mind have noticed? A history run through the simulator as fast as it can be computed."""

import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from inspect import isasyncgenfunction
from itertools import groupby, islice
from pathlib import Path
from typing import Any, cast

from actors.answering.episodes import EpisodeFollower
from actors.answering.substrate import AnsweringSubstrate
from actors.attention.pacing import Budget
from actors.core import Finishing
from actors.knowledge.pack_files import read_packs
from actors.names import STREAM
from actors.peers import PeerDirectory
from actors.submind.routing import LEARNED, Routing
from actors.substrate.build import build_embedder, build_substrate
from environment.collections import Collections
from environment.messages import Instant, NewPerception, Perception, StreamEntry
from environment.packs import keep_packs
from environment.ports import RegistryStore, Stores, StreamLog, TraceStore, Write
from environment.stores.forwarding import ForwardingStores
from environment.stores.sqlite import open_stores
from orchestration.settings import Settings
from orchestration.simulation.faults import NONE, Faults
from orchestration.simulation.population import SimulatedPopulation
from orchestration.simulation.world import Pace, Prefetched, Veil, Watch, World
from orchestration.wiring import build_directory, build_shell, peer_of

_CHUNK = 512
_TAIL = 600.0
_MOST = 2048


def fields(perception: NewPerception) -> dict[str, object]:
    """The fields of a perception, by name."""
    return {name: getattr(perception, name) for name in NewPerception.__slots__}


@dataclass(eq=False, repr=False)
class Replay:
    """A mind in virtual time, its stores in a directory of their own.

    Mind time is the watermark of what has arrived. With the same seed and input the stream is the same, byte for byte.

    ``routing``, ``watch`` and ``veil`` are for measurements: see ``MessageRouter`` and ``World``.
    """

    _settings: Settings
    _stores: Stores
    _: KW_ONLY
    seed: int = 0
    budget: Budget | None = None
    faults: Faults = NONE
    finish: bool = True
    pace: Pace | None = None
    routing: Routing = LEARNED
    watch: Watch | None = None
    veil: Veil | None = None

    def __post_init__(self) -> None:
        self._embedder = Prefetched(build_embedder(self._settings.substrate, lambda: self.world.now))
        episodes = EpisodeFollower(self._stores, self._settings.view.episodes, self._settings.perception.interlocutors)
        thinking = build_substrate(self._settings.substrate, lambda: self.world.now)
        model = self._settings.substrate.has_model
        substrate = AnsweringSubstrate(thinking, episodes, lambda: self.world.now, model=model, patience=None)
        self.world = World(
            self._stores,
            substrate,
            self._embedder,
            self._be_born,
            self.seed,
            self.faults,
            self.pace,
            self.watch,
            self.veil,
        )
        self.population = SimulatedPopulation(self._settings, self._stores, self.world)
        self._configured: PeerDirectory | None = None
        self._born = False
        self._shown = 0

    async def _be_born(self, name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
        if self._configured is None:
            self._configured = await build_directory(self._settings, self._embedder)
        directory = self._configured  # and whoever is said to live by now: it is not told of them again
        for member in self.population.members:
            directory = directory.adding(peer_of(member)) if member.living else directory
        return await build_shell(
            self.population.plan(name),
            self._settings,
            self._stores,
            self.world,
            self._embedder,
            fence=0,
            seed=self.seed,
            directory=directory,
            parts={"budget": self.budget, "routing": self.routing},
        )

    async def run(self, perceptions: Iterable[NewPerception]) -> AsyncIterator[StreamEntry]:
        """Feed a whole history, yielding the stream as it grows."""
        async for entry in self.feed(perceptions):
            yield entry
        if self._born:
            await self._end()
            async for entry in self._grown():
                yield entry

    async def feed(self, perceptions: Iterable[NewPerception]) -> AsyncIterator[StreamEntry]:
        """Feed a part of a history, yielding the stream as it grows; more may follow."""
        for chunk in _chunks(perceptions, _CHUNK):
            if not self._born:
                await self._embedder.tell_apart(self._settings.substrate.embedder, self._stores)
                knowledge = self._settings.knowledge
                packs = read_packs(knowledge.packs, knowledge.pack_trust, knowledge.pack_sections)
                await keep_packs(self._stores, packs, 0)
                await self.world.begin(await self.population.begin(), chunk[0].time)
                self._born = True
            receipts = await self._stores.perceptions.append(chunk)
            logged = [
                Perception(**fields(p), id=r.id, seq=r.seq)  # type: ignore[arg-type]  # the fields of its parent
                for p, r in zip(chunk, receipts, strict=True)
                if r.new
            ]
            await self._prefetch(logged)
            for time, together in groupby(logged, key=lambda p: max(p.time, self.world.now)):
                await self.world.run_on(time)
                await self.world.arrive(list(together))
                async for entry in self._grown():
                    yield entry

    async def _prefetch(self, logged: list[Perception]) -> None:
        senses: defaultdict[str, list[Perception]] = defaultdict(list)
        for p in logged:
            senses[p.modality.value].append(p)
        texts: list[str] = []
        for name, perceptions in senses.items():
            if name in self.world.shells:
                texts += self.world.shells[name].core.texts(perceptions)
        await self._embedder.prefetch(texts)

    async def _end(self) -> None:
        """Let everything under way come to rest, then decide and number what is still held."""
        end: Instant = self.world.now + _TAIL
        self.world.calm = True
        await self.world.run_until(end)
        if not self.finish:
            return
        finishing = [shell for shell in self.world.shells.values() if isinstance(shell.core, Finishing)]
        for shell in reversed(finishing):  # who hands over before who is handed it
            if isinstance(shell.core, Finishing):
                await shell.perform(shell.core.finish(self.world.now))
                await self.world.run_until(self.world.now + 5)

    async def _grown(self) -> AsyncIterator[StreamEntry]:
        written = self.world.shells[STREAM].core.describe().figures["stream_head"]
        if written <= self._shown and not self.world.faults.any:
            return
        for entry in await self._stores.stream.read(self._shown + 1, 10_000):
            self._shown = entry.seq
            yield entry


async def replay(
    settings: Settings,
    perceptions: Iterable[NewPerception],
    *,
    budget: Budget | None = None,
    per_hour: float | None = None,
    seed: int = 0,
    ended: Callable[[Mapping[str, float]], None] | None = None,
) -> AsyncIterator[StreamEntry]:
    """The stream that this mind would have had over a history, sorted by time.

    ``budget`` bounds it as a whole, ``per_hour`` its rate; without either the configured rate holds. ``ended`` is told
    the counters of all actors. Leaves nothing behind.
    """
    if per_hour is not None:
        attention = settings.attention.model_copy(update={"per_hour": per_hour})
        settings = settings.model_copy(update={"attention": attention})
    with tempfile.TemporaryDirectory(prefix="submind-replay-") as folder:
        opened = await open_stores(Path(folder), settings.mind.name, inline=True, synchronous="OFF")
        stores = BufferedStores(opened)
        try:
            replaying = Replay(settings, stores, seed=seed, budget=budget)
            async for entry in replaying.run(perceptions):
                yield entry
            if ended is not None:
                ended(replaying.world.figures())
        finally:
            await stores.close()


def _chunks(perceptions: Iterable[NewPerception], size: int) -> Iterator[list[NewPerception]]:
    iterator = iter(perceptions)
    while chunk := list(islice(iterator, size)):
        yield chunk


class BufferedStores(ForwardingStores):
    """Stores that commit in bulk. Every read flushes first, so nobody ever sees less than was written.

    Guarantee: writes reach the stores in the order in which they were committed.
    """

    def __init__(self, stores: Stores) -> None:
        super().__init__(stores)
        self._writes: list[Write] = []
        self.traces = cast(TraceStore, _Flushing(stores.traces, self.flush))
        self.stream = cast(StreamLog, _Flushing(stores.stream, self.flush))
        self.registry = cast(RegistryStore, _Flushing(stores.registry, self.flush))
        self.collections = cast(Collections, _Flushing(stores.collections, self.flush))

    async def commit(self, writes: Sequence[Write], fence: int = 0) -> None:  # noqa: ARG002  # a replay has no rivals
        self._writes += writes
        if len(self._writes) >= _MOST:
            await self.flush()

    async def flush(self) -> None:
        """Write what has been gathered."""
        if self._writes:
            writes, self._writes = self._writes, []
            await self._stores.commit(writes)

    async def statistics(self) -> Mapping[str, float]:
        await self.flush()
        return await super().statistics()

    async def close(self) -> None:
        await self.flush()
        await super().close()


class _Flushing:
    """One of the stores, every method of which flushes first."""

    def __init__(self, of: Any, flush: Callable[[], Awaitable[None]]) -> None:
        self._of = of
        self._flush = flush

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._of, name)

        async def ask(*given: Any, **named: Any) -> Any:
            await self._flush()
            return await method(*given, **named)

        async def pages(*given: Any, **named: Any) -> AsyncIterator[Any]:
            await self._flush()
            async for page in method(*given, **named):
                yield page

        return pages if isasyncgenfunction(method) else ask
