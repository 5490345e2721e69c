"""Where people mark entries and matters: what they say is kept at once, and the mind, when it runs, is told."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from actors.attention.taste import template_of
from actors.knowledge.entities import entity_of
from actors.matters.matter import MATTERS, Matter
from environment.config import UNITS
from environment.episodes.words import telling
from environment.goals import BORN, HELD, GoalAct, GoalLayer, GoalOrder, StandingGoal, goal_id
from environment.identity import derived
from environment.marks import MARKS, FeedbackMark, MarkKind, MuteScope
from environment.messages import Instant, StreamEntry, ThoughtKind
from orchestration.gateway.errors import Unknown
from orchestration.schema.errors import InvalidRequest
from orchestration.view.mind import MindView

_SPAN = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(m|min|minutes?|h|hours?|d|days?|w|weeks?)")
_OVER = 86_400.0
"""Seconds for which a mark is remembered when its time is over, so that whoever was away hears of it."""
_KEPT = 90 * 86_400.0
"""... at least, and that it was taken back: who was told of it elsewhere must not tell it here again."""


async def nobody() -> None:
    """Nobody is to be told."""


class MarkDesk:
    """Marks as operators make them, whether the mind process runs or not.

    Guarantee: what is answered is in the store, so it holds over every restart, copy and backup; said again it changes
    nothing. Raises ``InvalidRequest``, ``Unknown`` and ``StoreUnavailable``.
    """

    def __init__(self, view: MindView, told: Callable[[], Awaitable[None]] = nobody) -> None:
        """``told`` is called after each change, so that the mind process looks at the marks."""
        self._view, self.told = view, told

    async def standing(self, target: str = "") -> list[FeedbackMark]:
        """Those that hold now, the latest first; of one entry or matter."""
        return await self._view.marks(target.removeprefix("#"))

    async def mark(self, asked: FeedbackMark, line: str, until: str) -> FeedbackMark:
        """Say something of an entry or a matter; ``asked`` says who says what of which."""
        now, target = self._view.now(), asked.target.removeprefix("#")
        ends = None
        if asked.kind in {MarkKind.MUTE, MarkKind.REMIND}:
            ends = _instant(until, now)
            if ends - now > (longest := self._view.settings.marks_ahead):
                raise InvalidRequest("until", f"{until!r} lies further ahead than {longest / 86_400.0:g} days")
        elif until:
            raise InvalidRequest("until", f"a mark {asked.kind.value} has no time: only mute and remind take one")
        of = (asked.of or MuteScope.SOURCE) if asked.kind is MarkKind.MUTE else None
        if asked.of is not None and of is None:
            raise InvalidRequest("of", f"a mark {asked.kind.value} is of what it was made on: only mute takes this")
        made = replace(asked, target=target, at=now, of=of, until=ends)
        made = await (self._of_matter(made, line) if target.startswith("m-") else self._of_entry(made))
        if not made.matter and (of is MuteScope.MATTER or made.kind in {MarkKind.WRONG, MarkKind.SETTLED}):
            raise InvalidRequest("target", f"entry {target} belongs to no matter, so there is nothing to do that with")
        if made.kind is MarkKind.WRONG and not made.traces:
            raise InvalidRequest("target", f"entry {target} joins nothing to its matter: no connection is wrong")
        return await self._write(replace(made, id=derived("k", made.target, made.kind, of or "", line)))

    async def correct(
        self, name: str, relation: str, value: str, by: str, said: Instant | None = None
    ) -> tuple[FeedbackMark, bool]:
        """Say what is right of a relation of an entity; nothing, where ``value`` is empty.

        And whether it is left as it is: it was said or taken back here since it was ``said`` elsewhere.
        """
        entity, now = await entity_of(self._view.stores.collections, name), self._view.now()
        if entity is None:
            raise Unknown("entity", name)
        key = derived("k", entity.key, MarkKind.CORRECT, relation, value)
        held = await MARKS.get(self._view.stores.collections, key)
        if said is not None and held is not None and held.at >= said:
            return held, True
        mark = FeedbackMark(key, entity.key, MarkKind.CORRECT, now, by, relation, value=value)
        return await self._write(mark), False

    async def pursue(self, goals: Mapping[str, StandingGoal], order: GoalOrder) -> StandingGoal:
        """Do what is ordered with one of ``goals``, by id, or hold other words as one."""
        act, key = order.act, order.goal if order.goal in goals else goal_id(order.goal)
        one = goals.get(key)
        if one is None:
            if act is not GoalAct.SET or not telling(order.goal):
                raise Unknown("goal", order.goal)
            one = StandingGoal(key, order.goal)
        layer, weight = one.proposed, one.weight or BORN
        if act is GoalAct.SET:
            held = one.layer if one.held else GoalLayer.GOAL
            layer, weight = held if order.layer is GoalLayer.NONE else order.layer, order.weight or weight
        elif act is GoalAct.DROP and not one.held:
            raise InvalidRequest("act", f"“{one.text}” is not held")
        elif act is not GoalAct.DROP and layer is GoalLayer.NONE:
            raise InvalidRequest("act", f"“{one.text}” is not proposed for anything: set it")
        if act in {GoalAct.SET, GoalAct.GRANT} and not one.held and sum(each.held for each in goals.values()) >= HELD:
            raise InvalidRequest("goal", f"{HELD} goals and values are held already: drop one")
        said = {GoalAct.REFUSE: f"refuse {layer}", GoalAct.DROP: "none 0"}.get(act, f"{layer} {weight!r}")
        kind, now = MarkKind.GOAL, self._view.now()
        mark = FeedbackMark(derived("k", one.id, kind), one.id, kind, now, order.by, one.text, value=said)
        one.decide(mark)
        await self._write(mark)
        return one

    async def undo(self, wanted: str, by: str) -> FeedbackMark:
        """Take a mark back: the one of that id, or the latest on that entry or matter."""
        wanted = wanted.removeprefix("#")
        beginning = wanted if wanted.startswith("m-") else "\0"
        standing = await self.standing()
        meant = (m for m in standing if wanted in {m.id, m.target} or m.target.startswith(beginning))
        found = next(meant, None)
        if found is None:
            raise Unknown("standing mark of", wanted)
        return await self._write(replace(found, undone=True, by=by, at=self._view.now()))

    async def _write(self, mark: FeedbackMark) -> FeedbackMark:
        keep = max(_KEPT, (mark.until or 0.0) - mark.at + _OVER)
        stores = self._view.stores
        await stores.commit([MARKS.write(mark.id, mark, time=mark.at, expires=mark.at + keep)])
        if await stores.collections.trim(MARKS.name, self._view.settings.marks):
            self._view.hits["view.marks"] += 1
        await self.told()
        return mark

    async def _of_matter(self, mark: FeedbackMark, line: str) -> FeedbackMark:
        matter = await self._view.matter(mark.target)
        if matter is None:
            raise Unknown("matter", mark.target)
        first = matter.lines[0]
        sources = tuple(matter.sources)
        if mark.kind is MarkKind.WRONG:
            found = next((each for each in matter.lines[1:] if each.trace == line), None)
            if found is None:
                why = f"no line of {matter.id} but its first has the trace {line!r}: say which does not belong"
                raise InvalidRequest("line", why)
            sources = tuple(dict.fromkeys((first.perception.source, found.perception.source)))
        if mark.of is MuteScope.SOURCE and len(sources) > 1:
            why = f"{matter.id} has {len(sources)} sources: mute the matter, or an entry's source"
            raise InvalidRequest("of", why)
        if mark.of is MuteScope.TEMPLATE:
            why = "lines of a matter have no one template: mute the matter, or an entry's template"
            raise InvalidRequest("of", why)
        return replace(
            mark,
            target=matter.id,
            text=matter.title,
            matter=matter.id,
            traces=(line,) if mark.kind is MarkKind.WRONG else (),
            sources=sources,
            perception=first.perception,
            value={MuteScope.SOURCE: sources[0], MuteScope.MATTER: matter.id}.get(mark.of, "") if mark.of else "",
        )

    async def _of_entry(self, mark: FeedbackMark) -> FeedbackMark:
        number = int(mark.target) if mark.target.isdecimal() and len(mark.target) < 16 else 0  # noqa: PLR2004 - int64
        found = await self._view.stores.stream.read(number, 1) if number else []
        if not found or found[0].seq != number:
            raise Unknown("entry", mark.target)
        entry = found[0]
        matter = await self._matter_of(number)
        cited = {each.id for each in entry.perceptions}
        joined = [each for each in matter.lines[1:] if each.perception.id in cited] if matter else []
        if mark.kind is MarkKind.WRONG and matter is not None:
            names = (matter.lines[0].perception.source, *(each.perception.source for each in joined))
        else:
            names = tuple(each.source for each in entry.perceptions)
        return replace(
            mark,
            text=entry.text,
            matter=matter.id if matter else "",
            traces=tuple(each.trace for each in joined),
            sources=tuple(dict.fromkeys(names)),
            perception=next(iter(entry.perceptions), None),
            value=await self._muted(mark.of, entry, matter),
        )

    async def _muted(self, of: MuteScope | None, entry: StreamEntry, matter: Matter | None) -> str:
        if of is None or of is MuteScope.MATTER:
            return matter.id if matter and of else ""
        if not entry.perceptions:
            raise InvalidRequest("of", f"entry {entry.seq} rests on nothing that was perceived: it has no {of.value}")
        if of is MuteScope.SOURCE:
            return entry.perceptions[0].source
        traces = self._view.stores.traces
        held = await traces.get([i for i in (entry.focus, *entry.lineage) if i.startswith("t-")])
        held |= await traces.get([i for one in held.values() for i in one.thought.parents if i.startswith("t-")])
        for trace in held.values():
            thought = trace.thought
            if thought.kind is ThoughtKind.PERCEPT and entry.perceptions[0] in thought.perceptions:
                return template_of(thought.text)
        raise InvalidRequest("of", f"what entry {entry.seq} rests on is not kept any more: mute its source")

    async def _matter_of(self, number: int) -> Matter | None:
        kept = await MATTERS.all_of(self._view.stores.collections, unread=[])
        return next((matter for matter in kept.values() if number in matter.entries), None)


def _instant(text: str, now: Instant) -> Instant:
    """A span from now, or a time that lies ahead. Raises ``InvalidRequest``."""
    said = text.strip().lower()
    if span := _SPAN.fullmatch(said):
        return now + float(span[1]) * UNITS[span[2][0]]
    import dateparser  # noqa: PLC0415 - a quarter of a second, for who needs it

    base = datetime.fromtimestamp(now, UTC).astimezone()
    settings = {"RELATIVE_BASE": base.replace(tzinfo=None), "PREFER_DATES_FROM": "future"}
    found = dateparser.parse(text, settings=settings) if said else None
    if found is None:
        why = f"{text!r} is no time: say how long (2h, 3 days) or when (tomorrow 9:00, or RFC 3339)"
        raise InvalidRequest("until", why)
    at: Instant = (found if found.tzinfo else found.replace(tzinfo=base.tzinfo)).timestamp()
    if at <= now:
        raise InvalidRequest("until", f"{text!r} is over: say a time that lies ahead")
    return at
