"""Any thought can be explained, whatever has become of what is behind it."""

import math
import pickle
from dataclasses import replace

import pytest

from environment.decisions import Decision, Ground
from environment.lineage import Bounds, Explanation, NodeKind, Standing, UnknownId, explain
from environment.messages import EntryKind, Image, Level, NewPerception, PerceptionRef, StreamEntry, Trace
from environment.ports import WriteEntries, WriteLevel, WriteTrace
from environment.relations import Relation, RelationKind
from environment.severity import Severity, salience_of
from tests.environment.worlds import NOON, thought

LEVEL = Level(0.5, NOON, 1800.0)


def kept(number: int, *parents: str, refs: tuple[PerceptionRef, ...] = (), **changes: object) -> Trace:
    return Trace(thought(number, parents=parents, perceptions=refs, **changes), 1, LEVEL, authors=("text",))


def entry(seq: int, focus: str, *lineage: str, **changes: object) -> StreamEntry:
    base = StreamEntry(
        seq, f"c-{seq:020x}", EntryKind.THOUGHT, "said", NOON, NOON, 0.9, 0.8, 0.4, (), lineage, focus, "causes"
    )
    return replace(base, **changes)


async def perceive(stores, *perceptions: NewPerception) -> list[PerceptionRef]:
    receipts = await stores.perceptions.append(list(perceptions))
    return [PerceptionRef(r.id, p.time, p.source) for r, p in zip(receipts, perceptions, strict=True)]


def line(text: str = "the disk is full", **changes: object) -> NewPerception:
    return NewPerception(**({"source": "ops", "time": NOON, "received": NOON, "text": text, "trust": 0.7} | changes))


def tree(node: Explanation) -> object:
    return (node.id, *[tree(child) for child in node.children])


def nodes(node: Explanation) -> list[Explanation]:
    return [node, *(found for child in node.children for found in nodes(child))]


async def test_it_says_why_what_was_joined_belongs_together(stores):
    one, two = kept(1), kept(2)
    top = entry(1, one.id, one.id, two.id, links=(Relation(two.id, RelationKind.ANSWER, "speaks to ann"),))
    await stores.commit([*map(WriteTrace, (one, two)), WriteEntries((top,))])
    assert [child.link for child in (await explain(stores, "1")).children] == ["", "answer: speaks to ann"]


async def test_an_entry_leads_down_to_its_perceptions(stores):
    text, telemetry, image = await perceive(
        stores,
        line(),
        line(text=None, telemetry={"load": 1.5, "temp": 80.25}, source="host"),
        line(text=None, image=Image(b"x" * 1234, "image/png")),
    )
    one, two = kept(1, text.id, refs=(text,)), kept(2, refs=(telemetry, image))
    bound = kept(3, one.id, two.id, refs=(text, telemetry))
    bound = replace(bound, thought=replace(bound.thought, worded_by="rule"))
    parts = {"threat": 1.25, "judge": 0.4}
    why = Decision(Ground.STOOD_OUT, parts, 0.9, 0.8, 64, 0.5, quoted=True, beaten="t-1", beaten_text="lunch")
    why = replace(why, judged="it matters", judged_by="small-model")
    said = entry(1, bound.id, bound.id, worded_by="small-model", severity=Severity.WARNING, why=why)
    await stores.commit([*map(WriteTrace, (one, two, bound)), WriteEntries((said,))])
    found = await explain(stores, "1")
    expected = (said.id, (bound.id, (one.id, (text.id,)), (two.id, (telemetry.id,), (image.id,))))
    assert tree(found) == expected
    assert tree(await explain(stores, said.id)) == expected
    assert tree(await explain(stores, f" {bound.id} ")) == expected[1]
    assert (found.kind, found.author, found.salience, found.trust) == (NodeKind.ENTRY, "causes", 0.9, 0.4)
    assert (found.severity, found.why) == (Severity.WARNING, why)
    by_id = {node.id: node for node in nodes(found)}
    assert [by_id[node.id].worded_by for node in (said, bound, one, text)] == ["small-model", "rule", "", ""]
    assert (by_id[one.id].kind, by_id[one.id].author) == (NodeKind.TRACE, "text")
    assert by_id[one.id].salience == salience_of(0.5)
    assert (by_id[text.id].text, by_id[text.id].source, by_id[text.id].trust) == ("the disk is full", "ops", 0.7)
    assert by_id[text.id].salience is None
    assert by_id[telemetry.id].text == "load 1.5, temp 80.25"
    assert by_id[image.id].text == "image/png, 1,234 bytes"
    assert not any(node.truncated for node in by_id.values())
    assert {node.standing for node in by_id.values()} == {Standing.KEPT}
    assert tree(await explain(stores, text.id)) == (text.id,)


async def test_a_segue_leads_to_the_entries_it_joins(stores):
    (ref,) = await perceive(stores, line())
    trace = kept(1, ref.id, refs=(ref,))
    entries = [entry(1, trace.id, trace.id), entry(2, "", f"c-{1:020x}", f"c-{3:020x}", kind=EntryKind.SEGUE)]
    bare = entry(3, "", perceptions=(ref,))
    await stores.commit([WriteTrace(trace), WriteEntries((*entries, bare))])
    assert tree(await explain(stores, "2")) == (
        entries[1].id,
        (entries[0].id, (trace.id, (ref.id,))),
        (bare.id, (ref.id,)),
    )


async def test_what_retired_and_what_is_forgotten_is_shown_as_such(stores):
    (old,), (new,) = await perceive(stores, line(received=NOON - 100)), await perceive(stores, line(text="later"))
    lost, retired = kept(1, old.id, refs=(old,)), kept(2, new.id, refs=(new,))
    top = kept(3, lost.id, retired.id, refs=(old, new))
    await stores.commit([*map(WriteTrace, (lost, retired, top))])
    await stores.commit([WriteLevel(retired.id, Level(0.01, NOON + 9, 1.0), live=False, conscious=None)])
    await stores.commit([WriteLevel(lost.id, Level(0.01, NOON - 9, 1.0), live=False, conscious=None)])
    assert await stores.traces.forget(NOON) == 1
    assert await stores.perceptions.forget(NOON - 50, 1 << 60) == 1
    found = await explain(stores, top.id)
    assert tree(found) == (top.id, (lost.id,), (retired.id, (new.id,)), (old.id,), (new.id,))
    by_id = {node.id: node for node in nodes(found)}
    assert by_id[retired.id].standing is Standing.RETIRED
    assert by_id[retired.id].salience == salience_of(0.01)
    for gone in (lost, old):
        assert by_id[gone.id].standing is Standing.FORGOTTEN
        assert by_id[gone.id].text
    assert (by_id[old.id].kind, by_id[old.id].source, by_id[old.id].time) == (NodeKind.PERCEPTION, "ops", NOON)
    assert by_id[lost.id].kind is NodeKind.TRACE
    assert math.isfinite(by_id[lost.id].time)


async def test_circles_end_and_a_diamond_is_followed_once(stores):
    (ref,) = await perceive(stores, line())
    ids = [thought(n).id for n in range(4)]
    await stores.commit(
        [
            WriteTrace(kept(0, ids[1], ids[2], ids[0])),
            WriteTrace(kept(1, ids[3])),
            WriteTrace(kept(2, ids[3])),
            WriteTrace(kept(3, ids[0], ref.id)),
        ]
    )
    found = await explain(stores, ids[0])
    assert tree(found) == (ids[0], (ids[1], (ids[3], (ids[0],), (ref.id,))), (ids[2], (ids[3],)), (ids[0],))
    repeats = [found.children[1].children[0], found.children[2], found.children[0].children[0].children[0]]
    assert all(node.truncated for node in repeats)
    assert sum(node.truncated for node in nodes(found)) == 3


async def test_an_explanation_is_bounded_in_depth_and_size(stores):
    chain = [kept(0)]
    for number in range(1, 40):
        chain.append(kept(number, chain[-1].id))
    wide = kept(99, *(trace.id for trace in chain[:30]))
    await stores.commit([*map(WriteTrace, (*chain, wide))])
    deep = await explain(stores, chain[-1].id, Bounds(depth=5))
    assert [node.id for node in nodes(deep)] == [trace.id for trace in chain[:-7:-1]]
    assert [node.truncated for node in nodes(deep)] == [False] * 5 + [True]
    small = await explain(stores, wide.id, Bounds(nodes=10))
    assert len(nodes(small)) == 10
    assert small.truncated
    assert len(nodes(await explain(stores, wide.id))) <= Bounds().nodes


async def test_a_megabyte_in_a_perception_is_cut(stores):
    (ref,) = await perceive(stores, line("x" * 1_000_000))
    assert len((await explain(stores, ref.id)).text) == 4000


@pytest.mark.parametrize(
    "wanted",
    ["", "0", "7", "-1", "9" * 30, "٣", "t-nowhere", "c-nowhere", "p-nowhere", "x-1", "t-" + "a" * 99_999, "\0"],
)
async def test_what_is_not_there_is_said_not_to_be(stores, wanted):
    await stores.commit([WriteEntries((entry(1, ""),))])
    with pytest.raises(UnknownId) as refused:
        await explain(stores, wanted)
    assert len(str(refused.value)) < 600
    twin = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - our own bytes
    assert str(twin) == str(refused.value)
