from __future__ import annotations

from datetime import UTC, datetime

import pytest

from actors.matters.cues import CueReader
from actors.matters.settings import MattersSettings

TUESDAY = datetime(2026, 3, 3, 10, 0, tzinfo=UTC).timestamp()
READER = CueReader(MattersSettings())


@pytest.mark.parametrize(
    ("text", "due", "asked"),
    [
        ("i'll put them back after lunch", "03 14:00", False),
        ("I will send it by Thursday noon.", "05 12:00", False),
        ("live key 7f2c expires Thu 5 March 00:00Z, rotate in dashboard", "05 00:00", False),
        ("It has to be with Ada by 6 March, 11:00, Bo does it.", "06 11:00", False),
        ("Mags, fill the urn tonight, please.", "03 22:00", True),
        ("can you tell me until 4 March whether it holds?", "04 18:00", True),
        ("He phoned. She'll have it today. Two paragraphs.", "03 18:00", False),
        ("i'll phone before lunch", "03 12:00", False),
        ("the round closes tonight at 23:59", "03 23:59", False),
        ("alarm is off, switching it back on in three hours", "03 13:00", False),
        ("The bus will leave at 15:00", None, False),
        ("oat milk short until Thursday", None, False),
        ("i promised myself no cake by 6 March, 8:00", None, False),
        ("the order was due 5 March, 10:00 and is closed since last week", None, False),
        ("by then the road was dry, by and large", None, False),
        ("we will do it by 2 March", None, False),
        ("it is done by 5 March", None, False),
        ("we will wait until we reacquire, by a second at most, before 83 hours", None, False),
        ("it will be lit by the Sun", None, False),
        ("maybe we'll get around to it tonight", None, False),
        ("well, we'll be seeing them tomorrow, I guess", None, False),
        ("this will be a very long rest period tonight", None, False),
        ("it will be delivered tonight", "03 22:00", False),
        ("please send photographs within 48 hours.", "05 10:00", True),
        ("replies within 48 hours are usual", None, False),
        ("would you like the purge tonight?", None, False),
    ],
)
def test_what_is_owed_by_when(text: str, due: str | None, asked: bool) -> None:
    found = READER.due(text, TUESDAY)
    assert (found and datetime.fromtimestamp(found.at, UTC).strftime("%d %H:%M")) == due
    assert found is None or found.asked is asked


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("RESOLVED coldstore room1 3.1", True),
        ("room's at 3, nothing's wrong", True),
        ("OK db-1 replication lag 2s", True),
        ("the mount is back on, all good", True),
        ("it is not fixed", False),
        ("is it fixed?", False),
        ("we will have it fixed tomorrow", False),
        ("the fixture list is out", False),
    ],
)
def test_what_says_that_something_is_over(text: str, over: bool) -> None:
    assert bool(READER.settles(text)) is over


def test_other_words_and_parts_of_the_day_by_configuration() -> None:
    words = {
        "due_words": ("bis",),
        "promise_words": ("ich werde",),
        "settle_words": ("erledigt",),
        "languages": ("de",),
    }
    german = CueReader(MattersSettings(**words))
    found = german.due("ich werde das bis 5. März 12:00 schicken", TUESDAY)
    assert found is not None
    assert datetime.fromtimestamp(found.at, UTC).strftime("%d %H:%M") == "05 12:00"
    assert german.settles("das ist erledigt")
    assert not german.settles("that is fixed")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        (
            "Dev van 3: could someone look up flat 4, the buzzer's dead.",
            "could someone look up flat 4, the buzzer's dead.",
        ),
        ("We are a nursery. Who would I speak to? Regards", "Who would I speak to?"),
        ("TEST weekly pager test, please ignore", ""),
        ("no need to call back please", ""),
        ("GET /cart?item=3 200", ""),
        ("How do I change my password? Open settings and choose one.", ""),
    ],
)
def test_what_asks(text: str, asks: str) -> None:
    assert READER.asks(text) == asks


@pytest.mark.parametrize(
    ("text", "owed", "done"),
    [
        ("Joel: marjorie rung, all one number", "could somebody ring me? Marjorie", True),
        ("the form is signed", "the form must be signed by noon", True),
        ("alarms are on again", "muted the alarms, i put them back by noon", True),
        ("bed 3 is back from X-ray", "I'll phone the daughter of bed 3", False),
        ("transcript of the meeting is done", "I need the transcript of the interview", False),
    ],
)
def test_what_says_that_what_was_owed_is_done(text: str, owed: str, done: bool) -> None:
    assert READER.fulfils(text, owed, asks=False) is done


def test_what_promises() -> None:
    assert READER.promises("Mags: I'll look it up")
    assert not READER.promises("Mags: third button, the sticky one, it will do")
