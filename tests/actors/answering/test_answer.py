"""Questions are answered from what was perceived, or plainly not."""

import json
import re
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from actors.answering.answer import answer
from environment.episodes.index import EpisodeIndex
from environment.episodes.question import Asks, Question, asks
from environment.identity import perception_id
from environment.messages import Perception

EXAMPLES = Path(__file__).parents[3] / "examples"
NOON = 43_200.0


def said(*lines):
    index = EpisodeIndex(1000)
    index.add(
        Perception(source=source, time=at, received=at, text=text, id=perception_id(n), seq=n)
        for n, (source, at, text) in enumerate(lines, 1)
    )
    return index


PORT = said(
    ("yard", NOON - 7200, "Olu: crane 4 is stuck at berth 7, the limit switch failed"),
    ("yard", NOON - 3600, "Olu: I'll bring the new switch for crane 4 by three"),
    ("desk", NOON - 1800, "Pilot Marta Venn boards the Aurelia at 16:20 off the east mole"),
    ("desk", NOON - 900, "the Aurelia carries 214 containers"),
    ("canteen", NOON - 600, "soup is leek"),
)


@pytest.mark.parametrize(
    ("question", "kind", "wanted"),
    [
        ("When does the pilot board the Aurelia?", Asks.WHEN, "16:20"),
        ("How many containers does the Aurelia carry?", Asks.HOW_MUCH, "214 containers"),
        ("What is wrong with crane 4?", Asks.TROUBLE, "limit switch failed"),
        ("what has Olu promised", Asks.PROMISE, "bring the new switch"),
        ("Who boards the Aurelia?", Asks.WHO, "Marta Venn"),
    ],
)
def test_each_kind_of_question_has_its_answer_with_time_and_source(question, kind, wanted):
    read = Question.of(question)
    told = answer(read, PORT, NOON)
    assert read.kind is kind
    assert told.known
    assert wanted in told.text
    assert re.search(r"\((yard|desk), \d\d:\d\d\)", told.text)
    assert wanted in told.parts[0].text


def test_whose_something_is_is_asked_about_by_their_name_alone():
    assert Question.of("where is Olu's ticket for the Aurelia?").names == ("Olu", "Aurelia")
    assert "s" not in Question.of("where is Olu’s ticket?").terms


def test_of_what_happened_the_news_is_told_and_not_the_routine():
    routine = [("ward", float(n), f"bed {n % 9}: meds given as charted, slept well") for n in range(90)]
    news = ("ward", 40.5, "bed 4: nosebleed after the procedure, pressure applied")
    told = answer(Question.of("what happened to bed 4?"), said(*routine, news), NOON)
    assert told.known
    assert told.text.startswith("Of bed 4: “bed 4: nosebleed")


def test_what_is_not_known_is_said_and_the_nearest_named():
    told = answer(Question.of("When does the Borealis board its pilot?"), PORT, NOON)
    assert not told.known
    assert told.text.startswith("I don't know, but nearest")
    assert "Borealis" in told.text
    assert "Marta Venn" in told.text
    assert answer(Question.of("Where are the zebras?"), PORT, NOON).parts == ()
    assert not answer(Question.of("???"), PORT, NOON).known


def test_an_answer_with_an_equal_rival_is_said_as_the_nearest_alone():
    lines = [("desk", NOON - 600, "the Aurelia carries apples"), ("desk", NOON - 300, "the Aurelia carries pears")]
    question = Question.of("What does the Aurelia carry?")
    told, alone = answer(question, said(*lines), NOON), answer(question, said(lines[0]), NOON)
    assert not told.known
    assert told.text.startswith("I don't know for sure, but nearest")
    assert alone.known
    assert told.confidence < 0.5 < alone.confidence


def test_a_question_that_points_back_keeps_the_subject():
    first = Question.of("What is wrong with crane 4?")
    assert "bring the new switch" in answer(Question.of("and who brings it a new one?", first), PORT, NOON).text
    apart = Question.of("What does the canteen have, soup?", first)
    assert apart.terms == Question.of("What does the canteen have, soup?").terms
    then = Question.of("when?", Question.of("Does the pilot board the Aurelia?"))
    assert "16:20" in answer(then, PORT, NOON).text


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("tell me about crane 4", True),
        ("crane 4 is done, isn't it?", True),
        ("and who brings it", True),
        ("has anyone seen Olu", True),
        ("crane 4 is done.", False),
        ("When it rains, call Olu", False),
        ("have a look at http://yard/crane?id=4 later", False),
        ("what a mess", False),
        ("and thanks, Olu", False),
    ],
)
def test_a_statement_asks_nothing(text, asked):
    assert asks(text) is asked


def test_the_examples_day_is_answered():
    """Eighteen of the twenty questions rightly and from a right line; each of the answers is short."""
    index, keys = EpisodeIndex(10_000), {}
    for seq, line in enumerate((EXAMPLES / "day.jsonl").read_text("utf-8").splitlines(), 1):
        had = json.loads(line)
        now = datetime.fromisoformat(had.pop("time")).timestamp()
        keys[perception_id(seq)] = had.pop("key")
        index.add([Perception(**had, time=now, received=now, id=perception_id(seq), seq=seq)])
    right = 0
    for question in yaml.safe_load((EXAMPLES / "day.questions.yaml").read_text("utf-8")):
        told = answer(Question.of(question["ask"]), index, now)
        assert len(told.parts) <= 4
        said_so = all(re.search(wanted, told.text, re.IGNORECASE) for wanted in question["answer"])
        not_so = any(re.search(wrong, told.text, re.IGNORECASE) for wrong in question.get("not", ()))
        sourced = any(keys[part.perception.id] in question["sources"] for part in told.parts)
        right += said_so and not not_so and sourced
    assert right >= 18
