from __future__ import annotations

from dataclasses import replace

import numpy as np

from actors.effects import Generate, Send
from actors.events import Broadcast, Generated, Marked, Muted, Posted, Reinforce, Salient, Started, Tick
from actors.matters.core import MattersCore
from actors.matters.matter import Matter, MatterState, part
from actors.substrate.ports import Act, Generation, Role
from environment.marks import FeedbackMark, MarkKind, MuteScope
from environment.messages import PerceptionRef
from tests.actors.making import DIM, entry, thought, trace
from tests.actors.matters.world import HOUR, NOON, World, near


def test_what_becomes_conscious_is_a_matter_with_the_lines_about_it() -> None:
    world = World()
    world.line("pump B hums", NOON, "pump b", salience=0.3)
    world.line("lunch is served", NOON + 60, "lunch", about=2)
    world.line("PANIC pump B dry, brine on the floor", NOON + 120, "pump b", conscious=1, salience=0.8)
    world.line("pump B: brine reaches hall 3", NOON + 300, "pump b", source="guard", salience=0.5)
    (matter,) = world.matters.values()
    assert matter.title == "PANIC pump B dry, brine on the floor"
    assert [line.text for line in matter.lines] == [
        "pump B hums",
        "PANIC pump B dry, brine on the floor",
        "pump B: brine reaches hall 3",
    ]
    assert matter.lines[-1].link == "both name pump b"
    assert (matter.state, matter.sources, matter.entries) == (MatterState.GROWING, ["chat", "guard"], [1])
    raised = [e.event.trace_id for e in world.effects if isinstance(e, Send) and isinstance(e.event, Reinforce)]
    assert raised == [world.last.id], "what adds to a conscious matter is lifted"


def test_what_settles_a_trouble_is_said_once_and_what_comes_then_reopens_it() -> None:
    world = World()
    world.line("PAGE pump B dry", NOON, "pump b", conscious=1, salience=0.8)
    (said,) = world.line("pump B is not broken: false alarm, probe was loose", NOON + 60, "pump b", source="mags")
    assert said.text.startswith("Settled: PAGE pump B dry. mags 12:01: “pump B is not broken")
    assert said.perceptions[0].source == "mags"
    assert len(said.perceptions) == 2
    assert not world.line("pump B: false alarm confirmed", NOON + 90, "pump b", source="ops")
    (matter,) = world.matters.values()
    assert matter.state is MatterState.SETTLED
    world.line("pump B dry again, brine rises", NOON + 600, "pump b")
    assert world.matters[matter.id].state is MatterState.REOPENED


def test_what_is_said_of_a_settled_matter_can_be_read() -> None:
    world = World()
    air = "coldstore: air of room 2 rose to 8.1 °C (usually 3.2 °C) and its compressor rises: 7.4 A, from 6.3 A"
    world.line(air, NOON, "room 2", conscious=1, salience=0.8, source="coldstore")
    (said,) = world.line("coldstore: room 2 is back at 3.2 °C", NOON + 60, "room 2", source="coldstore")
    assert "7.4 A … coldstore 12:01: “room 2 is back" in said.text


def test_a_makeshift_that_was_asked_after_is_settled_by_the_end_of_just_that() -> None:
    world = World()
    world.line("Pell: bed 7's drain leaks, towel under it for now", NOON, "bed 7", "drain", salience=0.3)
    (reminder,) = world.tell(Tick(), NOON + 12 * HOUR)
    world.tell(Broadcast(entry(1, of=reminder), trace(reminder)), NOON + 12 * HOUR)
    assert not world.line("Kerr: drip of bed 7 replaced", NOON + 13 * HOUR, "bed 7", "drip", salience=0.1)
    (settled,) = world.line("Moss: drain of bed 7 fixed", NOON + 14 * HOUR, "bed 7", "drain", salience=0.1)
    assert settled.time == NOON + 14 * HOUR
    assert settled.text.startswith("Settled: Pell: bed 7's drain leaks")


def test_routine_that_is_done_is_no_news() -> None:
    world = World()
    world.line("backup of pump B began", NOON, "pump b", conscious=1, salience=0.3)
    assert not world.line("backup of pump B finished", NOON + 60, "pump b")
    assert next(iter(world.matters.values())).state is MatterState.SETTLED


def test_a_settlement_without_room_is_said_later_where_it_still_holds() -> None:
    world = World(reminders_per_hour=1.0)
    said = []
    for n in range(3):
        world.line(f"kelgo{n} is on fire", NOON + n, f"kelgo{n}", conscious=n + 1, about=20 + n, salience=0.8)
    for n in range(3):
        said += world.line(f"fire of kelgo{n} was a false alarm", NOON + 60 + n, f"kelgo{n}", about=20 + n)
    assert len(said) == 1
    world.core.restore(world.core.snapshot())
    world.line("kelgo1 is on fire again", NOON + 300, "kelgo1", about=21)
    said += [one for hour in range(1, 9) for one in world.tell(Tick(), NOON + hour * HOUR)]
    assert ["kelgo0" in said[0].text, "kelgo2" in said[1].text, len(said)] == [True, True, 2]


def test_a_reminder_leaves_room_for_what_settles_a_matter() -> None:
    world = World()
    world.line("I'll send the kelgo report by 4 March, 10:00", NOON, "kelgo", about=10)
    world.line("pump B is on fire", NOON + 20 * HOUR, "pump b", conscious=1, salience=0.8)
    assert [one.insights for one in world.tell(Tick(), NOON + 21 * HOUR)] == [("due",)]
    (said,) = world.line("fire of pump B was a false alarm", NOON + 21 * HOUR + 60, "pump b")
    assert said.text.startswith("Settled: pump B is on fire")


def test_its_life_goes_on_after_a_crash_and_from_a_snapshot() -> None:
    world = World()
    world.line("PAGE pump B dry", NOON, "pump b", conscious=1, salience=0.8)
    world.line("I'll look at it by 15:00", NOON + 60, "look")
    before = world.core.snapshot()
    world.core = world.born()
    world.core.restore(before)
    world.core.handle(Started(), NOON + 120)
    world.answers = False
    (said,) = world.line("pump B: false alarm", NOON + 180, "pump b")
    assert said.text.startswith("Settled: ")
    (again,) = world.tell(Tick(), NOON + 200)
    assert again.id == said.id, "what nobody confirmed is posted again"
    world.answers = True
    world.tell(Posted("", (said.id,)), NOON + 210)
    (reminder,) = world.tell(Tick(), NOON + 3 * HOUR)
    assert reminder.text.startswith("Missed, ")


def test_of_a_matter_that_was_let_go_no_line_is_left() -> None:
    world = World(most=1, lines=2)
    seen = []
    for n in range(4):
        world.line(f"pump B hums {n}", NOON + n, "pump b", conscious=int(n == 0))
        seen.append(world.last)
    old = seen[1]
    world.line("kelgo burns", NOON + 9, "kelgo", conscious=2, about=30)
    world.tell(Broadcast(entry(3, of=old.thought), old), NOON + 10)  # its matter is gone, and it was not kept in it
    assert world.matters[world.core._of[old.id]].entries == [3]


def test_matters_are_bounded_and_settled_ones_go_first() -> None:
    world = World(most=2)
    for n in range(3):
        world.line(f"kelgo{n} is on fire", NOON + n, f"kelgo{n}", conscious=n + 1, about=20 + n)
        if n == 1:
            world.line("kelgo1: false alarm", NOON + 1.5, "kelgo1", about=21)
    assert world.core.describe().figures["matters_open"] == 2
    world.line("kelgo1 smells", NOON + 10, "kelgo1", about=21)
    assert [m.count for m in world.matters.values()] == [1, 2, 1], "what was let go takes no more"


def test_what_cites_a_line_settles_the_matter_of_that_line_and_no_other() -> None:
    world = World()
    begun = []
    for n in (1, 2):
        world.line(f"air rose to {n}9", NOON + n * HOUR, "air", conscious=n, salience=0.8, about=n)
        begun.append(world.last.thought.perceptions[0])
    first = PerceptionRef("p-back", NOON + 3 * HOUR, "chat")
    unknown = PerceptionRef("p-unknown", NOON, "chat")
    assert world.line("air is back at 4", first.time, "air", about=2, perceptions=(first, unknown)) == []
    (said,) = world.line("air is back at 5", first.time, "air", about=2, perceptions=(first, begun[0]))
    assert said.text.startswith("Settled: air rose to 19.")
    assert [matter.open for matter in world.matters.values()] == [False, True]


def test_the_end_of_a_lesser_line_does_not_settle_the_matter_it_came_to() -> None:
    world = World()
    world.line("air of room 1 rose to 19", NOON, "room 1", conscious=1, salience=0.8)
    world.line("no readings of room 1", NOON + 60, "room 1", salience=0.5)
    silence = world.last.thought.perceptions[0]
    back = PerceptionRef("p-back", NOON + HOUR, "chat")
    assert world.line("readings of room 1 are back", back.time, "room 1", perceptions=(back, silence)) == []
    (matter,) = world.matters.values()
    assert (matter.count, matter.open) == (3, True)


def going_on() -> tuple[World, Matter]:
    """A matter of two lines, from chat and from guard."""
    world = World()
    world.line("PANIC pump B dry", NOON, "pump b", conscious=1, salience=0.8)
    world.line("pump B: brine reaches hall 3", NOON + 300, "pump b", source="guard", salience=0.5)
    return world, next(iter(world.matters.values()))


def test_a_matter_that_somebody_settled_is_until_more_comes_or_that_is_undone() -> None:
    world, matter = going_on()
    over = FeedbackMark("k-1", matter.id, MarkKind.SETTLED, NOON + 400, "ann", "", matter=matter.id)
    for now in (NOON + 401, NOON + 460):
        world.tell(Marked((over,)), now)
    assert world.matters[matter.id].state is MatterState.SETTLED
    world.tell(Marked((replace(over, at=NOON + 500, undone=True),)), NOON + 501)
    assert world.matters[matter.id].state is MatterState.GROWING
    world.tell(Marked((replace(over, at=NOON + 600),)), NOON + 601)
    world.line("pump B is dry again", NOON + 700, "pump b")
    world.tell(Marked((replace(over, at=NOON + 600),)), NOON + 701)
    assert world.matters[matter.id].state is MatterState.REOPENED


def test_a_wrong_connection_leaves_its_matter_and_such_lines_need_a_surer_one_until_that_is_undone() -> None:
    world, matter = going_on()
    line = world.last
    sources = ("chat", "guard")
    wrong = FeedbackMark(
        "k-1", "1", MarkKind.WRONG, NOON, "ann", "", matter=matter.id, traces=(line.id,), sources=sources
    )
    many = tuple(replace(wrong, id=f"k-{n}") for n in range(4))
    world.tell(Marked(many), NOON + 400)
    assert [each.trace for each in world.matters[matter.id].lines] != [line.id]
    assert len(world.matters[matter.id].lines) == 1
    world.line("pump B: brine in hall 4", NOON + 500, "pump b", source="guard")
    assert len(world.matters[matter.id].lines) == 1
    world.line("pump B: still dry", NOON + 600, "pump b")
    assert len(world.matters[matter.id].lines) == 2, "other sources join as before"
    world.tell(Marked(tuple(replace(one, undone=True) for one in many)), NOON + 700)
    assert line.id in [each.trace for each in world.matters[matter.id].lines]


def test_lines_of_a_muted_matter_are_told_to_attention_as_they_come() -> None:
    world, matter = going_on()
    mute = FeedbackMark("k-1", "1", MarkKind.MUTE, NOON, "ann", "", MuteScope.MATTER, matter.id, NOON + HOUR, matter.id)

    def hushed() -> list[tuple[int, float]]:
        told = [e.event for e in world.effects if isinstance(e, Send) and isinstance(e.event, Muted)]
        return [(len(each.traces), each.until) for each in told]

    world.tell(Marked((mute,)), NOON + 400)
    assert hushed() == [(2, NOON + HOUR)]
    assert world.line("pump B is not broken: false alarm", NOON + 500, "pump b") == [], "nor that it is settled"
    assert hushed() == [(1, NOON + HOUR)]
    world.tell(Marked((replace(mute, undone=True),)), NOON + 600)
    assert hushed() == [(3, float("-inf"))]


def about_both(world: World, *cites: PerceptionRef) -> None:
    """Two matters begin, of a pump and of a hall; then somebody says something of both."""
    world.line("pump B is dry", NOON, "pump b", conscious=1, salience=0.6)
    world.line("brine reaches hall 3", NOON + 60, "hall 3", conscious=2, salience=0.8, about=2, source="guard")
    both = near(1) + near(2)
    said = thought(
        text="pump B lets brine into hall 3",
        time=NOON + 120,
        source="mags",
        associations=("pump b", "hall 3"),
        vector=(both / np.linalg.norm(both)).astype(np.float32),
    )
    world.tell(Salient((trace(replace(said, perceptions=(*said.perceptions, *cites))),)), NOON + 120)


def test_a_line_about_two_matters_merges_the_later_into_the_earlier_which_says_so() -> None:
    world = World(merge=0.9)
    about_both(world)
    ((first, matter),) = world.matters.items()
    assert (matter.title, matter.count, matter.entries) == ("brine reaches hall 3", 3, [1, 2])
    assert [line.text for line in matter.lines] == [
        "pump B is dry",
        "brine reaches hall 3",
        "pump B lets brine into hall 3",
    ]
    assert matter.lines[1].link == "was a matter of its own: both name hall 3"
    world.line("hall 3 is flooded", NOON + 180, "hall 3", about=2, source="guard")
    assert world.matters[first].count == 4, "what would have been of the later one"


def test_matters_are_merged_only_where_one_asks_for_it() -> None:
    world = World()
    about_both(world)
    assert len(world.matters) == 2


def test_a_line_that_cites_the_later_of_two_matters_merges_them_as_well() -> None:
    world = World(merge=0.75)
    world.line("water in hall 3", NOON + 30, "hall 3", conscious=3, about=2, source="guard")
    about_both(world, *world.last.thought.perceptions)
    (matter,) = world.matters.values()
    assert (matter.count, matter.entries) == (4, [1, 2, 3])


def test_of_a_long_matter_that_was_merged_every_line_belongs_to_the_other() -> None:
    world = World(most=3, lines=2, merge=0.75)
    for n in range(31):  # more than are remembered beside those that are kept
        world.line(f"hall 3 hums {n}", NOON + 60 + n, "hall 3", conscious=2 * (n == 0), about=2, source="guard")
    about_both(world)
    world.line("hall 3 hums on", NOON + 180, "hall 3", about=2, source="guard")
    (matter,) = world.matters.values()
    assert matter.count == 35


def test_who_turns_to_two_matters_merges_nothing() -> None:
    world = World(merge=0.01)
    for n, who in enumerate(("ann", "bob")):
        world.line(f"kelgo{n} burns", NOON + n, f"kelgo{n}", conscious=n + 1, about=20 + n, source=who)
    world.line("ann: bob: call the guard", NOON + 60, "guard", about=30, source="mags")
    assert len(world.matters) == 2


def test_a_wrong_line_takes_the_end_and_the_title_that_it_gave_with_it() -> None:
    world = World()
    world.line("pump B hums", NOON, "pump b", conscious=1, salience=0.6)
    world.line("PANIC pump B of another hall dry", NOON + 60, "pump b", source="guard", salience=0.9)
    wrong = [world.last.id]
    world.line("pump B of another hall is fixed", NOON + 120, "pump b", source="mags", salience=0.5)
    (matter,) = world.matters.values()
    assert (matter.state, matter.title) == (MatterState.SETTLED, "PANIC pump B of another hall dry")
    wrong.append(world.last.id)
    mark = FeedbackMark("k-1", "1", MarkKind.WRONG, NOON, "ann", "", matter=matter.id, traces=tuple(wrong))
    world.tell(Marked((mark,)), NOON + 600)
    matter = world.matters[matter.id]
    assert (matter.state, matter.settled_by, matter.title) == (MatterState.GROWING, None, "pump B hums")


def test_what_hung_on_a_wrong_line_is_a_matter_of_its_own_until_that_is_undone() -> None:
    world = World()
    world.line("PANIC pump B dry", NOON, "pump b", conscious=1, salience=0.8)
    world.line("door of hall 3 open, pump B hums", NOON + 60, "pump b", "hall 3", source="guard")
    wrong = world.last.id
    world.line("hall 3 counts 40 guests", NOON + 120, "hall 3", "guests", source="door")
    (matter,) = world.matters.values()
    assert [line.to for line in matter.lines[2:]] == [wrong]
    mark = FeedbackMark("k-1", "1", MarkKind.WRONG, NOON, "ann", "", matter=matter.id, traces=(wrong,))
    world.tell(Marked((mark,)), NOON + 600)
    first, other = world.matters.values()
    assert ([line.text for line in first.lines], first.count) == (["PANIC pump B dry"], 1)
    assert [line.text for line in other.lines] == ["door of hall 3 open, pump B hums", "hall 3 counts 40 guests"]
    assert other.lines[0].link == "was taken out of “PANIC pump B dry”"
    world.tell(Marked((mark,)), NOON + 660)
    assert world.effects == [], "what was done is not done again"
    world.line("more guests in hall 3", NOON + 700, "hall 3", "guests", source="door")
    assert world.matters[other.id].count == 3
    world.tell(Marked((replace(mark, undone=True),)), NOON + 800)
    assert world.matters[matter.id].count == 4


def test_a_conscious_matter_is_summed_up_by_a_model_once_it_rests() -> None:
    world = World(summaries_per_hour=4.0)
    world.core = MattersCore("matters", DIM, {}, {}, world.settings, model=True)
    world.line("pump B hums", NOON, "pump b", salience=0.3)
    world.line("PANIC pump B dry", NOON + 120, "pump b", conscious=1, salience=0.8)
    world.line("pump B: brine reaches hall 3", NOON + 300, "pump b", source="guard", salience=0.5)
    assert not [e for e in world.effects if isinstance(e, Generate)], "more of it may come"
    world.tell(Tick(), NOON + 400)
    (asked,) = [e for e in world.effects if isinstance(e, Generate)]
    first, *others = [(m.role, m.text) for m in asked.request.materials]
    assert (asked.request.act, first, len(others)) == (Act.SUM_UP, (Role.EVENT, "PANIC pump B dry"), 2)
    for said, by in (("Pump B ran dry, and brine is in hall 3.", "small"), ("PANIC", "rule")):
        world.tell(Generated(asked.token, Generation(said, by), np.zeros(DIM)), NOON + 410)
    (matter,) = world.matters.values()
    assert (matter.title, matter.summary) == (
        "Pump B ran dry, and brine is in hall 3",
        "Pump B ran dry, and brine is in hall 3.",
    )
    world.tell(Tick(), NOON + HOUR)
    assert not [e for e in world.effects if isinstance(e, Generate)], "it is asked for once"
    part(matter, matter.lines[2:])
    assert (matter.title, matter.summary) == ("PANIC pump B dry", ""), "nobody knows what it was made of"
