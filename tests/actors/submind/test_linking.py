from dataclasses import replace

import pytest

from actors.snapshots import pack, unpack
from actors.submind.linking import Rarity, answers, kin, related, tie
from environment.relations import RelationKind
from tests.actors.making import thought, trace, unit

RARITY = Rarity()


def said(text, source="ann", time=1000.0, **given):
    return thought(text=text, source=source, time=time, at=time, **given)


@pytest.mark.parametrize(
    ("here", "there", "kind", "reason"),
    [
        (("bob: try lsusb", "ann"), ("ann: which?", "bob"), RelationKind.ANSWER, "answers a question of bob"),
        (("bob, try lsusb", "ann"), ("it is dark", "bob"), RelationKind.ANSWER, "speaks to bob"),
        (("bob: no, it is light", "ann"), ("it is dark", "bob"), RelationKind.CONTRADICTION, "says no to bob"),
        (("bob: and then reboot", "ann"), ("bob: try lsusb", "ann"), RelationKind.CONTINUATION, "goes on to or as bob"),
        (
            ("ann: bob, in the box", "chat"),
            ("bob: where is it?", "chat"),
            RelationKind.ANSWER,
            "answers a question of bob",
        ),
    ],
)
def test_a_turn_of_a_conversation_needs_no_words_in_common(here, there, kind, reason):
    found = tie(said(*here), said(*there, time=940.0), RARITY)
    assert (found.kind, found.reason) == (kind, reason)
    assert tie(said(*here), said(*there, time=300.0), RARITY) is None, "long ago"


def test_who_is_spoken_to_by_name_may_go_on_or_answer_at_once_without_one():
    first, second, asked = said("it is", time=970.0), said("on fire"), said("ann: where", "bob", 980.0)
    assert tie(second, first, RARITY) is None, "a machine, for all that is known"
    assert tie(second, first, RARITY, {"ann"}).kind is RelationKind.CONTINUATION
    assert tie(second, asked, RARITY).kind is RelationKind.ANSWER
    bound = kin(trace(second), [trace(said("bob: over", time=960.0)), trace(first), trace(asked)], RARITY, 0.75)
    assert [t.thought.text for t in bound] == ["ann: where", "it is"], "the last line of each"


def test_words_alone_are_no_link():
    same = {"vector": unit(1), "associations": ("fan-22b", "noise")}
    later, earlier = said("fan-22b makes a noise", "ops", **same), said("noise of fan-22b 3", "desk", 500.0, **same)
    assert tie(later, earlier, RARITY).kind is RelationKind.ENTITY
    assert tie(earlier, later, RARITY) is None, "what comes later is no memory"
    fan = {"vector": unit(1), "associations": ("fan", "noise")}
    assert tie(said("the fan makes noise", "a", **fan), said("“the fan makes noise”", "b", 5.0, **fan), RARITY) is None
    names = {"vector": unit(1), "associations": ("bob", "ops")}
    assert tie(said("bob: yes", "ops", **names), said("bob: hm", "ops", 1.0, **names), RARITY) is None, "only names"
    case = {"vector": unit(1), "associations": ("pier",)}
    about = tie(
        said("Pier: rain at pier", "sky", **case), said("Pier: a crane fails, pier", "ops", 1.0, **case), RARITY
    )
    assert about.reason == "both name pier", "who is written of is no voice"


def test_what_is_rare_links_more_than_what_everything_shares():
    rarity = Rarity()
    for i in range(500):
        rarity.learn(("compressor", f"once-{i}"))
    assert rarity.of("fan-22b") == 1.0
    assert rarity.of("once-7") > 0.9
    assert 0 <= rarity.of("compressor") < 0.2

    def strength(*shared, source="alerts"):
        one = said("it hums 1", "ops", vector=unit(1), associations=shared)
        return tie(one, said("it clicks 2", source, 1.0, vector=unit(1), associations=shared), rarity).strength

    assert strength("fan-22b") > strength("compressor")
    assert strength("fan-22b") > strength("fan-22b", source="ops")
    assert strength("fan-22b", "room 2") > strength("fan-22b", "noisy fan-22b") == strength("fan-22b")


def test_what_everything_shares_is_forgotten_and_kept_through_a_snapshot():
    rarity, again = Rarity(capacity=100), Rarity(capacity=100)
    for i in range(5000):
        rarity.learn((f"once-{i}", "usual"))
    again.load(unpack(pack(rarity.dump()), object))
    assert len(rarity.dump()) <= 102
    assert again.of("usual") == rarity.of("usual") < 0.3


def test_shared_terms_keep_their_order():
    assert related(said("x", associations=("a", "b", "c")), said("y", associations=("c", "a"))) == ("a", "c")
    assert related(said("x"), said("y")) == ()


def test_a_question_is_bound_with_the_first_line_that_answered_it() -> None:
    asked = said("dev: could someone look up flat 4?", time=1000.0, source="radio")
    chatter = said("mags: loud and clear", time=900.0, source="radio")
    answer = said("mags: third button", time=1060.0, source="radio")
    more = said("mags: the sticky one", time=1070.0, source="radio")
    recent = [trace(chatter), trace(more), trace(answer)]
    assert [t.thought for t in kin(trace(asked), recent, RARITY, 0.75)] == [answer]
    assert kin(trace(replace(asked, text="dev: look up flat 4")), recent, RARITY, 0.75) == ()


def test_the_name_of_a_source_is_no_subject() -> None:
    reading = said("room 1 rose", time=900.0, source="coldstore", associations=("coldstore",))
    page = said("PAGE coldstore", time=1000.0, source="oncall", associations=("coldstore",))
    assert tie(page, reading, RARITY) is None


def test_who_speaks_by_several_words_is_no_subject() -> None:
    terms = ("sister", "oyelaran")
    bed = said("Sister Oyelaran: bed 12 goes to theatre", time=900.0, source="ward", associations=(*terms, "bed 12"))
    morning = said("Sister Oyelaran: morning all", time=5000.0, source="desk", associations=terms)
    assert tie(morning, bed, RARITY) is None
    later = said("ask Sister Oyelaran of bed 12", time=6000.0, source="desk", associations=(*terms, "bed 12"))
    assert tie(later, bed, RARITY).reason == "both name bed 12"


def test_what_both_call_by_one_number_is_one_thing() -> None:
    opened, note, other = (
        said(text, source="desk", time=at, vector=unit(n), associations=(job, "lift"))
        for n, (text, at, job) in enumerate(
            [
                ("job 961 new: lift B stuck", 900.0, "job 961"),
                ("job 961: both out", 1500.0, "job 961"),
                ("job 962: lift C at 3 %", 1600.0, "job 962"),
            ]
        )
    )
    sure = tie(note, opened, RARITY)
    loose = tie(other, opened, RARITY)
    assert sure.reason == "both name job 961, lift"
    assert sure.strength > 0.75 > loose.strength


@pytest.mark.parametrize(
    ("source", "text", "after", "answered"),
    [
        ("radio/Anouk", "will do before noon", 180.0, True),  # she is named, and has an hour
        ("radio/Karim", "on my way", 60.0, True),  # whoever speaks next
        ("radio/Karim", "on my way", 180.0, False),
        ("radio/Piet", "hello?", 60.0, False),  # who asked
        ("chat/Anouk", "will do before noon", 60.0, False),
        ("radio/#ops", "will do before noon", 60.0, False),
    ],
)
def test_who_speaks_is_the_last_part_of_a_source(source: str, text: str, after: float, answered: bool) -> None:
    asked = said("Anouk can you look at the hoist?", source="radio/Piet", time=900.0, vector=unit(1))
    line = said(text, source=source, time=900.0 + after, vector=unit(2))
    assert answers(line, asked, RARITY, 0.75) is answered
