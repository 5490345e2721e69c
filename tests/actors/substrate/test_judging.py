"""Ratings of several events in one answer, asked of a real server."""

import json

import pytest

from actors.substrate.judging import judgements
from actors.substrate.ports import Act, Material, Request, Role

EVENTS = (Material(Role.EVENT, "valve 9 is stuck", "chat", "09:14"), Material(Role.EVENT, "lunch is ready", "chat"))
ASKED = Request(Act.JUDGE, "attention", (Material(Role.GOAL, "keep it cold"), Material(Role.MEMORY, "so far"), *EVENTS))
WHOLE = '{"1": {"want": 3, "why": "nothing flows"}, "2": {"want": 0, "why": "as every day"}}'


@pytest.mark.parametrize(
    ("said", "wants"),
    [
        (WHOLE, {0: 3, 1: 0}),
        (f"Here you are:\n```json\n{WHOLE}\n```", {0: 3, 1: 0}),
        (WHOLE[:-20], {0: 3, 1: 0}),
        (WHOLE[:30], {0: 3}),
        ("1: 2, 2. 1", {0: 2, 1: 1}),
        ('{"2": {"want": 1}}', {1: 1}),
        ('{"1": {"want": 7}, "2": {"want": -1}, "3": {"want": 2}}', {}),
        ("at 11:27 it was 2:30", {}),
        ("No opinion.", {}),
    ],
)
def test_a_rating_is_read_from_what_is_whole_cut_fenced_or_bare(said, wants):
    assert {place: given.want for place, given in judgements(said, ASKED).items()} == wants


def test_words_count_unless_they_tell_what_the_event_has_not():
    said = '{"1": {"want": 3, "why": "valve 9 blocks \\u0007 it all"}, "2": {"want": 0, "why": "Otto ordered 400"}}'
    told = judgements(said, ASKED)
    assert (told[0].why, told[1]) == ("valve 9 blocks it all", (0, ""))


async def test_a_server_is_asked_for_a_rating_of_each_event_as_data(make, server, day):
    server.plan(day(text=WHOLE))
    substrate = make()
    answer = await substrate.generate(ASKED)
    assert (answer.text, answer.by_model, answer.tokens_in) == (WHOLE, True, 100)
    (body,) = server.bodies()
    fields = body["response_format"]["json_schema"]["schema"]["properties"]
    assert [*fields] == ["1", "2"]
    assert fields["1"]["properties"]["want"]["enum"] == [0, 1, 2, 3]
    system, *_, notes = (message["content"] for message in body["messages"])
    assert "Goal: keep it cold" in system
    assert notes.splitlines()[:3] == [
        'Memory: "so far"',
        'Event 1 from "chat", "09:14": "valve 9 is stuck"',
        'Event 2 from "chat": "lunch is ready"',
    ]
    assert (await substrate.generate(ASKED)).cached


async def test_an_answer_that_rates_nothing_is_refused_and_does_not_hold_the_model_to_quotes(make, server, day):
    server.always = day(text=json.dumps({"thought": "Interesting."}))
    substrate = make()
    for number in range(4):
        more = Material(Role.EVENT, f"line {number}")
        answer = await substrate.generate(Request(Act.JUDGE, "attention", (more,)))
        assert (answer.cause, answer.by_model) == ("form", False)
    assert (substrate.status()["fallbacks"], substrate.status()["quotes"]) == (4, 0.0)


async def test_without_budget_none_is_asked(make, server):
    answer = await make(budget={"tokens_per_hour": 10}).generate(ASKED)
    assert (answer.cause, answer.by_model, server.seen) == ("budget", False, [])
