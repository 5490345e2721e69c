"""Questions to a mind, against a gateway as it is served."""

import asyncio
import itertools
import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from actors.matters.matter import LOOPS, MATTERS, Matter, MatterLine, MatterState, OpenLoop
from environment.decisions import Decision, Ground
from environment.messages import PerceptionRef, SubmindReport, SubmindState
from environment.ports import WriteConnections, WriteReport, WriteTrace
from environment.severity import Severity
from orchestration.cli.safety import safe
from tests.environment.stores.making import NOON, change, connection, perception, trace
from tests.orchestration.cli.conftest import flags, start, submind


def perception_of(n: int, text: str) -> Any:
    return perception(n, text=text, source="door")


HOSTILE = "x\x1b[31m\u202ey"
CRITICAL = Severity.CRITICAL


@pytest.fixture
async def lived(gateway: Any, at: list[str]) -> Any:
    """A mind in which something has happened."""
    report = SubmindReport(
        "association", "cognitive", "Connect things.", SubmindState.QUARANTINED, NOON, reason=HOSTILE
    )
    await gateway.stores.commit([WriteTrace(trace(1)), WriteReport(report)])
    await gateway.stores.commit([WriteConnections(connection().owner, (connection(),), (), ())])
    await gateway.think(1)
    return gateway


async def test_explain_says_why_now_against_what_and_what_it_beat(lived: Any, at: list[str]) -> None:
    parts = {"threat": 1.25, "goal": -0.2}
    why = Decision(Ground.STOOD_OUT, parts, 0.81, 0.74, 64, 0.5, quoted=True, beaten="t-9", beaten_text=HOSTILE)
    why = replace(why, judged=HOSTILE, judged_by="small-model")
    await lived.think(2, severity=CRITICAL, why=why)
    shown = await submind("explain", 2, *at)
    told = "stood at 0.81 among the last 64 winners, 0.74 was needed, and a salience of 0.50; it beat “"
    assert (shown.out.startswith("entry "), f"why now: {told}" in shown.out) == (True, True)
    assert "; small-model judged it: “" in shown.out
    assert "its words are quoted (threat +1.2, goal -0.2)" in shown.out
    assert ("critical" in shown.out, "\x1b" in shown.out) == (True, False)
    told = (await submind("explain", 2, "--json", *at)).objects[0]
    assert (told["severity"], told["why"]["parts"], told["why"]["words"]) == ("critical", parts, why.words)
    (entry,) = (await submind("watch", "--from", 2, "-n", 1, "--json", *at)).objects
    assert (entry["severity"], entry["why"]) == (told["severity"], told["why"])
    unknown = await submind("explain", "c-nothing\x1b[2J", *at)
    assert (unknown.code, "c-nothing" in unknown.err, "\x1b" in unknown.err) == (1, True, False)
    assert (await submind("explain", " ", *at)).code == 2


async def test_ask_answers_a_conversation(lived: Any, at: list[str]) -> None:
    await lived.stores.perceptions.append([perception(1, text=f"Ada: the pump leaks since 11:40 {HOSTILE}")])
    told = await submind("ask", "what is wrong with the pump?", "since when?", *at)
    assert told.code == 0
    assert told.out.count("11:40") == 2
    assert "\x1b" not in told.out
    told = await submind("ask", "where are the zebras?", "--json", *at)
    assert (told.code, told.objects[0]["known"], told.objects[0]["parts"]) == (1, False, [])
    assert (await submind("ask", " ", *at)).code == 2


async def test_ask_tells_the_rules_answer_and_then_a_models(serve: Any) -> None:
    async def words(question: str, found: Any) -> Any:
        return replace(found, text=f"In short {HOSTILE}: 11:40.", worded_by="small")

    async with serve(words=words) as gateway:
        await gateway.stores.perceptions.append([perception(1, text="Ada: the pump leaks since 11:40")])
        told = await submind("ask", "what is wrong with the pump?", *flags(gateway))
        quoted, said = told.out.strip().splitlines()
        assert "the pump leaks" in quoted
        assert said == f"In short {safe(HOSTILE)}: 11:40."
        assert told.err.index("a model is asked") < told.err.index("in the words of small")
        told = await submind("ask", "what is wrong with the pump?", "--json", *flags(gateway))
        assert [one["worded_by"] for one in told.objects] == ["", "small"]
        assert [bool(one["progress"]) for one in told.objects] == [True, False]


async def test_matters_and_a_digest(lived: Any, at: list[str]) -> None:
    ref = PerceptionRef("p-1", NOON, f"guard{HOSTILE}")
    lines = [MatterLine(f"t-{n}", f"line {n} {HOSTILE}", ref, 0.5, 0.4, "names pump") for n in range(3)]
    wet = Matter("m-1a", "brine on the floor", MatterState.GROWING, NOON, 9e9, 0.8, lines, 3, ["guard"], [], [1])
    wet.severity = CRITICAL
    loop = OpenLoop("l-1", f"i'll send it by 15:00 {HOSTILE}", ref, NOON, asked=False)
    assert "nothing is going on" in (await submind("matters", *at)).err
    await lived.stores.commit([MATTERS.write(wet.id, wet), LOOPS.write(loop.id, loop)])
    for command in ("matters", "digest"):
        shown = await submind(command, *at)
        assert (shown.code, "\x1b" in shown.out) == (0, False)
        assert "critical growing" in shown.out
        assert "i'll send it by 15:00" in shown.out
        assert ("line 2" in shown.out) is (command == "digest")
    course = await submind("matter", "m-1", *at)
    assert [n for n in range(3) if f"line {n}" in course.out] == [0, 1, 2]
    assert "names pump" in course.out
    assert (await submind("matters", "--json", *at)).objects[0]["title"] == "brine on the floor"
    assert (await submind("matter", "pump", *at)).code == 2
    assert (await submind("matter", "m-2", *at)).code == 1


async def test_matters_are_followed_as_they_change(lived: Any, at: list[str]) -> None:
    ref = PerceptionRef("p-1", NOON, "guard")
    line = MatterLine("t-1", f"brine {HOSTILE}", ref, 0.5)
    wet = Matter("m-1a", "brine", MatterState.GROWING, NOON, 9e9, 0.8, [line], 1, ["guard"], [], [1])
    loop = OpenLoop("l-1", "could somebody look?", ref, NOON, asked=True, dated=False)
    following = [await start("matters", "--follow", *more, *at) for more in ((), ("--json",))]
    shown: list[str] = []
    told: list[Any] = []
    async with asyncio.timeout(120):
        for n in itertools.count():  # until both have begun to follow
            await lived.stores.commit([MATTERS.write(wet.id, replace(wet, count=n)), LOOPS.write(loop.id, loop)])
            loop = replace(loop, due=loop.due + 1)
            for process, lines in zip(following, (shown, told), strict=True):
                with suppress(TimeoutError):
                    lines.append((await asyncio.wait_for(process.stdout.readline(), 0.5)).decode())
            if len(shown) > 3 and len(told) > 3:
                break
    for process in following:
        process.terminate()
        await process.communicate()
    assert "\x1b" not in "".join(shown)
    assert any("no answer yet" in each for each in shown)
    assert any("growing" in each and "brine" in each for each in shown)
    assert {json.loads(each)["kind"] for each in told} == {"matter", "loop"}
    assert (await submind("matters", "--follow", "--since", "2026-03-03", *at)).code == 2


async def test_marks_are_made_shown_and_undone(lived: Any, at: list[str]) -> None:
    assert "no mark stands" in (await submind("marks", *at)).err
    useful = await submind("mark", "1", "--useful", "--json", *at)
    assert useful.objects[0]["kind"] == "useful"
    muted = await submind("mark", "1", "--mute", "2h", "--of", "source", *at)
    assert (muted.code, "mute source ops until" in muted.out) == (0, True)
    shown = await submind("marks", *at)
    assert len(shown.out.splitlines()) == 2
    assert "undone: " in (await submind("mark", useful.objects[0]["id"], "--undo", *at)).out
    assert [one["kind"] for one in (await submind("marks", "--json", *at)).objects] == ["mute"]
    for wrong, code in ((["1"], 2), (["1", "--useful", "--wrong"], 2), (["9", "--useful"], 1)):
        refused = await submind("mark", *wrong, *at)
        assert (refused.code, bool(refused.err)) == (code, True), wrong
    vague = await submind("mark", "1", "--remind", "soonish", *at)
    assert vague.code != 0
    assert "is no time" in vague.err


async def test_search_finds_by_meaning(lived: Any, at: list[str]) -> None:
    text = safe(trace(1).thought.text)
    told = await submind("search", text, "--json", *at)
    assert told.code == 0
    assert {"score", "also", "trace"} <= told.objects[0].keys()
    assert told.objects[0]["trace"]["id"] == trace(1).id
    assert trace(1).id in (await submind("search", text, *at)).out
    alike = replace(trace(1), thought=replace(trace(1).thought, id=trace(2).id, author="another"))
    await lived.stores.commit([WriteTrace(alike)])
    told = await submind("search", text, "--json", *at)
    assert {told.objects[0]["trace"]["id"], *told.objects[0]["also"]} == {trace(1).id, trace(2).id}
    assert len(told.objects) == 1
    assert "also 1 other" in " ".join((await submind("search", text, *at)).out.split())
    assert (await submind("search", "  ", *at)).code == 2
    assert (await submind("search", "x", "--since", "yesterday", *at)).code == 2


async def test_subminds_and_connections_are_listed(lived: Any, at: list[str]) -> None:
    shown = await submind("subminds", *at)
    assert "association" in shown.out
    assert "quarantined" in shown.out
    assert "\x1b" not in shown.out
    assert (await submind("subminds", "--json", *at)).objects[0]["state"] == "quarantined"
    edges = await submind("connections", "--json", *at)
    assert edges.objects[0]["owner"] == connection().owner
    assert connection().peer in (await submind("connections", *at)).out
    none = await submind("connections", "--owner", "nobody", *at)
    assert (none.code, none.out) == (1, "")
    assert "nobody here is called 'nobody'" in none.err


async def test_the_history_of_connections_is_told_with_reasons(lived: Any, at: list[str]) -> None:
    changes = (change(1), replace(change(2), reason=f"met {HOSTILE}"), change(3, "people"))
    for each in changes:
        await lived.stores.commit([WriteConnections(each.owner, (), (), (each,))])
    shown = await submind("connections", "--history", *at)
    assert shown.code == 0
    told = [line.partition(" credited   ")[2].partition(" about lost keys ")[0] for line in shown.out.splitlines()]
    assert told == ["causes > people", "causes > people", "people > people"]
    assert "reason 1" in shown.out
    assert "\x1b" not in shown.out
    asked = ("--history", "--submind", "causes", "--topic", "keys", "-n", "1", "--json")
    assert [each["weight"] for each in (await submind("connections", *asked, *at)).objects] == [0.3]
    since = await submind("connections", "--history", "--since", "1999-01-01T00:00:00Z", "--json", *at)
    assert len(since.objects) == 3
    none = await submind("connections", "--history", "--topic", "weather", *at)
    assert (none.code, none.out) == (0, "")
    assert (await submind("connections", "--follow", *at)).code == 2
    assert (await submind("connections", "--limit", 2, *at)).code == 2
    assert (await submind("connections", "--topic", "keys", "--json", *at)).code == 0


async def test_what_is_told_to_be_remembered_is_recalled_with_its_reasons(lived: Any, at: list[str]) -> None:
    kept = await submind("remember", "the spare key hangs behind the boiler", "--source", "ada", "--json", *at)
    (perception,) = await lived.stores.perceptions.read(0, 10)
    assert (kept.code, kept.objects[0]["id"]) == (0, perception.id)
    assert (perception.source, perception.labels) == ("ada", {"remember": "yes"})
    await lived.stores.perceptions.append([perception_of(2, f"the boiler hums {HOSTILE}"), perception_of(3, "lunch")])
    shown = await submind("recall", "where is Ada's key?", "-k", 1, *at)
    assert shown.code == 0
    assert "[ada] the spare key hangs behind the boiler  (words: Ada, key;" in shown.out
    assert "said by Ada" in shown.out
    told = await submind("recall", "boiler", "--source", "door", "--until", "2100-01-01", "--json", *at)
    assert [one["perception"]["source"] for one in told.objects] == ["door", "door"]
    assert [(one["words"], one["near"]) for one in told.objects] == [(["boiler"], []), ([], ["boiler"])]
    assert "\x1b" not in (await submind("recall", "boiler", "--context", *at)).out
    nothing = await submind("recall", "zebra", "--since", "2100-01-01", *at)
    assert (nothing.code, nothing.out) == (1, "")
    assert [(await submind(verb, " ", *at)).code for verb in ("recall", "remember")] == [2, 2]
