"""``submind merge``: chosen memories of one mind, told to another that runs."""

import asyncio
import math
import re
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated

import typer

from actors.knowledge.entities import spelled
from actors.knowledge.fact import ENTITIES, FACTS, NAMES, Fact, FactStanding
from environment.marks import MARKS, FeedbackMark, MarkKind
from environment.messages import Instant, NewPerception, Perception
from environment.stores.movable import Leaving, each_of
from environment.stores.tally import encoded
from orchestration.cli.failure import FAILED, MISUSED, Failure
from orchestration.cli.moving.differing import MindPlace, mind_at, perception_line
from orchestration.cli.options import Json
from orchestration.cli.output import console, emit
from orchestration.cli.remote import Server, connected
from orchestration.cli.safety import safe
from orchestration.cli.times import moment_or
from orchestration.client import MindClient, NotFound
from orchestration.gateway.limits import AT_MOST
from orchestration.pb.submind.v1 import knowledge_pb2 as pb
from orchestration.schema.convert import encode

ORIGIN = "origin"
"""The label that says of which mind a memory is, and what it was called there."""
_SHOWN = 20
_PATIENCE = 5.0
_PAUSES = (0.5, 1.0, 2.0, 4.0)
"""Seconds in which a mind may read what it was just told, and know whom a correction is about."""
_SAME, _PREFIX = 1e-3, 200
"""Seconds and letters by which a perception is known again."""


def merge(
    at: Server,
    other: MindPlace,
    entity: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="What is said of it, under any name.")
    ] = None,
    source: Annotated[list[str] | None, typer.Option(help="Perceived by this source.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Not before.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Before.")] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="At most so many, in the order of its log.")] = 10_000,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be told, and tell nothing.")] = False,
    json: Json = False,
) -> None:
    """Tell a running mind what another one perceived: the episodes, and with them the facts that rest on them.

    What is chosen meets all that is asked for. It comes with its time and source, a label that says whose memory it is,
    and at most the trust that it had there; what is learnt of it is learnt as of anything the mind is told, so nothing
    is overwritten and what contradicts is kept as that. What was corrected as wrong stays behind; corrections of these
    entities, or of that time, come as corrections that say by whom, and in which mind. Doing it again adds nothing,
    and neither does what both have in common.
    """
    if not (entity or source or since or until):
        raise Failure("say what is to be told: --entity, --source, --since, --until", MISUSED)
    span = moment_or("--since", since, -math.inf), moment_or("--until", until, math.inf)
    merging = _Merging(tuple(entity or ()), frozenset(source or ()), span, limit)
    asyncio.run(merging.run(at, other, dry_run=dry_run, json=json))
    if json:
        emit(dict(merging.counts))
    else:
        told = ", ".join(f"{count:,} {name}" for name, count in merging.counts.items() if count)
        console(error=True).print(told or "there is nothing of that")
    raise typer.Exit(FAILED if merging.counts["refused"] else 0)


@dataclass
class _Merging:
    """What is to be told, and what became of it."""

    entities: tuple[str, ...]
    sources: frozenset[str]
    span: tuple[Instant, Instant]
    limit: int
    counts: Counter[str] = field(
        default_factory=lambda: Counter(dict.fromkeys(("new", "known", "refused", "wrong", "beyond", "corrected"), 0))
    )
    """``wrong``: left behind, since it was corrected; ``beyond``: more than the limit."""

    async def run(self, at: Server, other: str, *, dry_run: bool, json: bool) -> None:
        """Tell it. Raises ``Failure``."""
        async with mind_at(other, None) as (name, _, mind):
            await self._learn(mind)
            if dry_run:
                async for one in self._chosen(mind):
                    self.counts["new"] += 1
                    line = perception_line(one)
                    emit({"id": one.id, "line": line}) if json else console().print(safe(line))
                for mark, entity in self._corrections:
                    self.counts["corrected"] += 1
                    line = f"{entity}, {mark.text}: {mark.value or 'nothing'}, by {mark.by}"
                    emit({"id": mark.id, "line": line}) if json else console().print(safe(line))
                return
            async with connected(at, _PATIENCE) as client, aclosing(self._new(name, mind, client)) as told:
                async for receipt in client.perceive_many(told, refused=self._refused):
                    self.counts["new" if receipt.new else "known"] += 1
                for mark, entity in self._corrections:
                    await self._correct(client, mark, entity, f"{name} {mark.id}")

    async def _correct(self, client: MindClient, mark: FeedbackMark, entity: str, origin: str) -> None:
        """Say what was corrected there, once this mind knows of what; not what was taken back here since."""
        told = {"entity": entity, "relation": mark.text, "value": mark.value, "by": f"{mark.by} in {origin}"}
        for pause in _PAUSES:
            with suppress(NotFound):
                done = await client.ask("KnowledgeService/Correct", encode(pb.CorrectRequest, **told, said=mark.at))
                self.counts["known" if done.known else "corrected"] += 1
                return
            await asyncio.sleep(pause)
        self._refuse(f"{origin}: correction of {entity}", "nothing is known of it here yet; merge again later")

    async def _learn(self, mind: Leaving) -> None:
        """Which perceptions the facts rest on, and what those are called that are asked for."""
        names: dict[str, str] = {}
        called_there: dict[str, str] = {}
        facts: list[Fact] = []
        marks: list[FeedbackMark] = []
        async for document in each_of(mind, "documents"):
            if document.collection == NAMES.name:
                names[document.key] = NAMES.value(document)
            elif document.collection == FACTS.name and (fact := FACTS.read(document)) is not None:
                facts.append(fact)
            elif document.collection == ENTITIES.name and (entity := ENTITIES.read(document)) is not None:
                called_there[entity.key] = entity.name
            elif document.collection == MARKS.name and (mark := MARKS.read(document)) is not None:
                marks.append(mark)
        missing = [name for name in self.entities if spelled(name) not in names]
        if missing:
            raise Failure(f"nothing is known there of {missing[0]!r}: `submind diff` and `submind know` tell names")
        keys = {names[spelled(name)] for name in self.entities}
        of = [fact for fact in facts if fact.standing is not FactStanding.WRONG]
        wanted = [fact for fact in of if not keys.isdisjoint((fact.entity, fact.object))]
        right = {ref.id for fact in of for ref in fact.evidence}
        self._wrong = {ref.id for fact in facts for ref in fact.evidence} - right
        self._corrections = [
            (mark, called_there[mark.target])
            for mark in sorted(marks, key=lambda mark: (mark.at, mark.id))
            if mark.kind is MarkKind.CORRECT and not mark.undone and mark.target in called_there
            if self.span[0] <= mark.at < self.span[1] and not self.sources and (not keys or mark.target in keys)
        ]
        self._evidence = {ref.id for fact in wanted for ref in fact.evidence}
        called = "|".join(re.escape(name) for name, key in names.items() if key in keys)
        self._named = re.compile(rf"(?<!\w)(?:{called})(?!\w)", re.IGNORECASE)

    async def _chosen(self, mind: Leaving) -> AsyncGenerator[Perception, None]:
        since, until = self.span
        left = self.limit
        async for one in each_of(mind, "perceptions"):
            of = not self.entities or one.id in self._evidence or bool(one.text and self._named.search(one.text))
            if not (of and since <= one.time < until and (not self.sources or one.source in self.sources)):
                continue
            if one.id in self._wrong:
                self.counts["wrong"] += 1
            elif left:
                left -= 1
                yield one
            else:
                self.counts["beyond"] += 1

    async def _new(self, name: str, mind: Leaving, client: MindClient) -> AsyncGenerator[NewPerception, None]:
        """As it is told: with its origin, its trust as a bound, and a key that it has wherever it comes from."""
        async with aclosing(self._chosen(mind)) as chosen:
            async for one in chosen:
                if one.key is None and await _shared(client, one):
                    self.counts["known"] += 1
                    continue
                said = one.source, one.time, one.text, one.telemetry, one.image
                key = one.key or f"merge-{sha256(encoded(said)).hexdigest()[:32]}"
                origin = " from ".join(filter(None, (f"{name} {one.id}", one.labels.get(ORIGIN))))
                yield replace(one, key=key, labels={**one.labels, ORIGIN: origin, AT_MOST: repr(one.trust)})

    def _refused(self, perception: NewPerception, why: str) -> None:
        self._refuse(perception.labels[ORIGIN], why)

    def _refuse(self, what: str, why: str) -> None:
        self.counts["refused"] += 1
        if self.counts["refused"] <= _SHOWN:
            console(error=True).print(f"{safe(what)}: {safe(why)}")


async def _shared(client: MindClient, one: Perception) -> bool:
    """Whether the mind has the same under that id: it comes from the other, or both come from a third."""
    try:
        found = await client.explain(one.id)
    except NotFound:
        return False
    same = found.source == one.source and abs(found.time - one.time) < _SAME
    return same and (one.text is None or found.text[:_PREFIX] == one.text[:_PREFIX])
