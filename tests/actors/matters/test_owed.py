from __future__ import annotations

from dataclasses import replace

from actors.effects import Count
from actors.events import Marked, Tick
from environment.marks import FeedbackMark, MarkKind
from environment.messages import PerceptionRef
from tests.actors.matters.world import HOUR, NOON, World


def test_one_is_reminded_before_it_is_due_and_when_it_was_missed() -> None:
    world = World()
    world.line("I'll send Ada the kelgo report by 5 March, 12:00", NOON, "kelgo", "ada", trust=0.3)
    (loop,) = world.loops.values()
    assert loop.due == NOON + 48 * HOUR
    assert not world.tell(Tick(), NOON + 30 * HOUR)
    (before,) = world.tell(Tick(), NOON + 36 * HOUR)
    assert before.text == "Due at 12:00: “I'll send Ada the kelgo report by 5 March, 12:00” (chat, 2 d earlier)."
    assert (before.trust, before.perceptions) == (0.3, (loop.perception,))
    assert not world.tell(Tick(), NOON + 40 * HOUR)
    (missed,) = world.tell(Tick(), NOON + 48 * HOUR)
    assert missed.text.startswith("Missed, it was due at 12:00: ")
    assert not world.tell(Tick(), NOON + 90 * HOUR)
    assert not any(one.open for one in world.loops.values())


def test_what_is_done_in_time_needs_no_reminder() -> None:
    world = World()
    world.line("I'll send Ada the kelgo report by 5 March, 12:00", NOON, "kelgo", "ada")
    world.line("Ada, no news of the kelgo report", NOON + HOUR, "kelgo", "ada")
    assert next(iter(world.loops.values())).open
    world.line("Ada, the kelgo report is with you now", NOON + 2 * HOUR, "kelgo", "ada")
    assert next(iter(world.loops.values())).closed_by is not None
    assert not world.tell(Tick(), NOON + 48 * HOUR)


ASKED = "Dev: could someone look up flat 4, the buzzer has no numbers"
WAIT = 6 * HOUR


def test_what_nobody_answers_is_said_once_when_patience_ends() -> None:
    world = World()
    world.line(ASKED, NOON, "flat 4", "buzzer", salience=0.4, conscious=1)
    world.line("Ines: soup is on", NOON + 900, "soup", about=2)
    assert not world.tell(Tick(), NOON + WAIT - 1)
    (said,) = world.tell(Tick(), NOON + WAIT)
    assert said.text == f"No answer so far: “{ASKED}” (chat, 6 h earlier)."
    assert not world.tell(Tick(), NOON + 9 * WAIT)
    assert world.core.describe().figures["loops_open"] == 0


def test_an_answer_closes_a_question_by_whoever_is_next_is_named_or_names_what_it_names() -> None:
    for answer, after, *terms in [
        ("Mags: third button, the sticky one", 60.0, "button", "third"),
        ("Mags: nobody lives there", 3 * HOUR, "flat 4", "buzzer"),
    ]:
        world = World()
        world.line(ASKED, NOON, "flat 4", "buzzer", salience=0.4)
        world.line(answer, NOON + after, *terms, about=1 + (after < HOUR))
        assert world.core.describe().figures["loops_open"] == 0
        assert not world.tell(Tick(), NOON + WAIT)
    world = World()
    world.line("Ines: Mags, anything open before you go?", NOON, "open", "anything", salience=0.4)
    world.line("Dev: soup is on", NOON + 900, "soup", about=2)
    assert world.core.describe().figures["loops_open"] == 1
    world.line("Mags: nothing at all", NOON + 1200, "nothing", about=3)
    assert world.core.describe().figures["loops_open"] == 0


def test_who_promises_an_answer_has_as_long_again() -> None:
    world = World()
    world.line(ASKED, NOON, "flat 4", "buzzer", salience=0.4, conscious=1)
    world.line("Mags: I'll look it up", NOON + 60, "look", about=2)
    assert not world.tell(Tick(), NOON + WAIT)
    (said,) = world.tell(Tick(), NOON + WAIT + 60)
    assert said.text.startswith("No answer so far: ")


def test_who_speaks_of_something_else_that_is_done_closes_nothing() -> None:
    world = World()
    world.line("Aiko van 9: do we do cat food?", NOON, "aiko", "van 9", "cat", salience=0.4)
    world.line("Aiko van 9: seven out of ten done", NOON + HOUR, "aiko", "van 9", "seven", about=2)
    assert world.core.describe().figures["loops_open"] == 1


def test_what_was_not_asked_outright_is_asked_after_only_once_it_became_conscious() -> None:
    for text, conscious, told in (("Dev: who wants the last one?", 0, 0), ("Dev: who wants it?", 1, 1), (ASKED, 0, 1)):
        world = World()
        world.line(text, NOON, "flat 4", "buzzer", salience=0.4, conscious=conscious)
        said = [one for n in range(20) for one in world.tell(Tick(), NOON + n * HOUR)]
        assert len(said) == told


def test_that_nobody_answers_is_no_news_where_requests_are_seldom_answered_in_words() -> None:
    for answered, told in ((True, 1), (False, 0)):
        world = World()
        for n in range(8):
            world.line(f"Dev: could someone look up flat {n}?", NOON + n * HOUR, f"flat {n}", "look", about=10 + n)
            if answered:
                world.line(f"Mags: flat {n} is empty", NOON + n * HOUR + 60, f"flat {n}", about=10 + n)
        for n in range(8):
            world.tell(Tick(), NOON + n * HOUR + WAIT)
        before = world.core.snapshot()
        world.core = world.born()
        world.core.restore(before)
        world.line("Dev: could someone look up flat 99?", NOON + 20 * HOUR, "flat 99", "look", about=9)
        assert len(world.tell(Tick(), NOON + 20 * HOUR + WAIT)) == told


def test_who_hands_a_question_on_or_speaks_of_another_number_answers_nothing() -> None:
    for flat, line in (("flat 4", "forwarding the buzzer of flat 4 to Ann"), ("flat 9", "the buzzer of flat 9 rings")):
        world = World()
        world.line(ASKED, NOON, "flat 4", "buzzer", salience=0.4)
        world.line(f"Mags: {line}", NOON + HOUR, "buzzer", flat)
        assert world.core.describe().figures["loops_open"] == 1


def test_what_is_helped_for_a_while_is_asked_after_until_it_is_put_right() -> None:
    for line, told in (("Mags: latch of van 9 is fixed", 0), ("Mags: mirror of van 9 is fixed", 1), ("Mags: soup", 1)):
        world = World()
        world.line("Aiko: latch of van 9 is loose, tied it with a strap for now", NOON, "van 9", "latch", about=3)
        world.line(line, NOON + HOUR, "van 9", "latch" if "latch" in line else "mirror")
        assert len(world.tell(Tick(), NOON + 2 * WAIT)) == told


def test_questions_make_room_for_what_has_a_time_and_are_known_after_a_crash() -> None:
    world = World(loops=1)
    world.line(ASKED, NOON, "flat 4", "buzzer", salience=0.4)
    before = world.core.snapshot()
    world.core = world.born()
    world.core.restore(before)
    world.line("I'll send Ada the kelgo report by 5 March, 12:00", NOON + HOUR, "kelgo", "ada", about=2)
    assert [loop.dated for loop in world.loops.values()] == [True]
    assert [e.metric for e in world.effects if isinstance(e, Count)].count("limit_hits:loops") == 1


def test_reminders_are_rationed_and_none_is_lost() -> None:
    world = World(reminders_per_hour=1.0)
    for n in range(3):
        world.line(f"I'll send the kelgo{n} report by 4 March, 1{n}:00", NOON, f"kelgo{n}", about=10 + n)
    assert len(world.tell(Tick(), NOON + 24 * HOUR)) == 1
    assert [e.metric for e in world.effects if isinstance(e, Count)].count("limit_hits:reminders") == 1
    said = [one for hour in range(1, 8) for one in world.tell(Tick(), NOON + (24 + hour) * HOUR)]
    assert {one.text.partition("kelgo")[2][0] for one in said} >= {"1", "2"}


def test_a_reminder_comes_once_at_its_time_over_a_new_life_and_not_once_it_is_undone() -> None:
    world = World()
    ref = PerceptionRef("p-1", NOON, "chat")
    remind = FeedbackMark("k-1", "1", MarkKind.REMIND, NOON, "ann", "call Ines", until=NOON + HOUR, perception=ref)
    gone = replace(remind, id="k-2", text="call nobody")
    world.tell(Marked((remind, gone)), NOON + 1)
    world.tell(Marked((remind, replace(gone, undone=True))), NOON + 60)
    world.core = world.born()
    assert world.tell(Tick(), NOON + HOUR - 1) == []
    (said,) = world.tell(Tick(), NOON + HOUR)
    assert said.text == "Due at 13:00: “call Ines” (chat, 1 h earlier)."
    for now in (NOON + HOUR + 60, NOON + 9 * HOUR):
        assert world.tell(Marked((remind,)), now) == world.tell(Tick(), now) == []
