import pytest

from actors.answering.usual import Recurrence, asks_usual, usual
from environment.episodes.index import EpisodeIndex
from environment.episodes.question import Question
from environment.identity import perception_id
from environment.messages import Perception, PerceptionRef

NOON = 1_772_539_200.0
LINES = ("orders backup finished, 12 files", "users backup finished, 9 files", "the Lido van is here", "tea is ready")


@pytest.fixture
def index() -> EpisodeIndex:
    made = EpisodeIndex(100)
    made.add([Perception("s", NOON, NOON, text=t, id=perception_id(n), seq=n) for n, t in enumerate(LINES, 1)])
    return made


def gist(about: str, told: str, since: float = NOON, *, over: bool = False) -> Recurrence:
    return Recurrence(about, told, PerceptionRef(perception_id(1), NOON, "s"), 0.4, 0.9, since, over)


ORDERS = gist("orders backup finished, … files", "nightly about 02:00, 31 times since 2 March")
KNOWN = (
    ORDERS,
    gist("users backup finished, … files", "nightly about 03:00, 31 times since 2 March"),
    gist("the Lido van is here", "daily about 09:00, 9 times since 2 March, until 11 March", over=True),
    gist("the Lido van is here", "daily about 11:00, 12 times since 12 March", NOON + 1),
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how often does the orders backup run?", "nightly about 02:00"),
        ("when is the users backup usually finished?", "nightly about 03:00"),
        ("what time does the Lido van normally come?", "daily about 11:00"),
    ],
)
def test_what_usually_happens_is_told_from_gists(index: EpisodeIndex, question: str, told: str) -> None:
    read = Question.of(question)
    assert asks_usual(read)
    reply = usual(read, index, KNOWN, NOON)
    assert reply is not None
    assert told in reply.text
    assert len(reply.parts) == 1
    assert (reply.known, reply.trust) == (True, 0.4)
    assert 0.5 < reply.confidence <= 0.9


def test_what_is_over_is_told_where_nothing_took_its_place(index: EpisodeIndex) -> None:
    reply = usual(Question.of("how often does the Lido van come?"), index, KNOWN[:3], NOON)
    assert reply is not None
    assert "until 11 March" in reply.text


@pytest.mark.parametrize("question", ["how often does the boiler leak?", "how often does the Nemo van come?"])
def test_nothing_is_told_of_what_no_gist_is_about(index: EpisodeIndex, question: str) -> None:
    assert usual(Question.of(question), index, KNOWN, NOON) is None


def test_what_was_counted_is_said_as_known_only_of_what_is_asked_for(index: EpisodeIndex) -> None:
    told = "4 times since 2 March (3 in March 2026 and 1 in April 2026); about 9 minutes before it “tea is ready”"
    van = Recurrence("the Lido van is here", told, KNOWN[0].last, 0.4, 0.9, NOON, over=False, counted=True)
    replies = {
        asked: usual(Question.of(asked), index, [van], NOON)
        for asked in (
            "how often was the Lido van here in March?",
            "what usually happens before the Lido van is here?",
            "how often was the Lido van finished?",
            "how often was the Lido van 12 here?",
        )
    }
    assert [reply.known if reply else None for reply in replies.values()] == [True, True, False, None]


@pytest.mark.parametrize("question", ["who took the van?", "is the backup running?", "when was the van here?"])
def test_other_questions_are_answered_from_episodes(question: str) -> None:
    assert not asks_usual(Question.of(question))
