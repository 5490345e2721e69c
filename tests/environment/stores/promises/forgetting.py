"""What every store promises of forgetting on request. See ``contract.py``."""

import json
from dataclasses import replace

import msgspec
import pytest

from environment.collections import Collection, RemoveDocument, WriteDocument
from environment.configuration import CONFIGURATIONS, Configuration, write_configuration
from environment.erasure import GONE, LegalHold, ScopeKind, scope_of
from environment.errors import FencedOut
from environment.identity import perception_id
from environment.messages import ChangeKind, ConnectionChange, Image, Level, Modality, PerceptionRef
from environment.ports import WriteConnections, WriteEntries, WriteLevel, WriteReport, WriteState, WriteTrace
from environment.stores.erasing import Eraser, UnderHold, survey
from tests.environment.stores.making import (
    NOON,
    connection,
    document,
    entry,
    live_ids,
    name,
    perception,
    report,
    revision,
    trace,
    vector,
)

NOTES = Collection("notes", dict)
ZOE = scope_of(ScopeKind.PERSON, ["Zoe Quill", "@zq"], "salt")


def resting(number, *seqs, **changes):
    """A trace of perceptions."""
    made = trace(number)
    refs = tuple(PerceptionRef(perception_id(seq), NOON + seq, "ops") for seq in seqs)
    thought = replace(made.thought, perceptions=refs, parents=tuple(ref.id for ref in refs), **changes)
    return replace(made, thought=thought)


class ForgettingPromises:
    """What every store promises of forgetting on request."""

    async def test_erased_perceptions_are_gone_one_by_one_and_their_numbers_stay_given(self, stores, backend):
        log = stores.perceptions
        given = [perception(n, key=f"k{n}") for n in range(300)]
        given[7] = perception(7, image=Image(b"\x89PNG\0\xff" * 20_000, "image/png"), key="k7")
        given[9] = perception(9, telemetry={"load": 1.5}, key="k9")
        await log.append(given)
        await log.append([perception(900)])
        gone = [1, 2, 8, 10, 100, 299, 301, 5000]
        assert await log.erase(gone) == 7
        assert await log.erase(gone) == 0
        left = [n for n in range(1, 301) if n not in gone]
        assert [p.seq for p in await log.read(0, 1000)] == left
        assert [p.seq for p in await log.read(0, 1)] == [3]
        assert [p.seq for p in await log.read(99, 1)] == [101]
        assert await log.read(0, 10, Modality.IMAGE) == []
        assert await log.read(0, 10, Modality.TELEMETRY) == []
        assert [p.seq for p in await log.read(97, 2, Modality.TEXT)] == [98, 99]
        assert list(await log.get([perception_id(seq) for seq in (1, 3, 100, 301)])) == [perception_id(3)]
        assert await log.head() == 301
        again = await log.append([perception(99, key="k99"), perception(98, key="k98")])
        assert [(r.new, r.seq) for r in again] == [(True, 302), (False, 99)]
        other = await backend.open("alpha")
        try:
            assert [p.seq for p in await other.perceptions.read(0, 1000)] == [*left, 302]
            assert not (await other.perceptions.append([perception(3, key="k3")]))[0].new
        finally:
            await other.close()
        assert await log.forget(NOON + 1000, 400, 1000) >= 302
        assert await log.read(0, 10) == []

    async def test_who_led_the_log_before_may_not_erase(self, stores, backend):
        await stores.perceptions.lead()
        await stores.perceptions.append([perception(1)])
        elsewhere = await backend.open("alpha")
        try:
            await elsewhere.perceptions.lead()
            with pytest.raises(FencedOut):
                await stores.perceptions.erase([1])
        finally:
            await elsewhere.close()
        assert len(await stores.perceptions.read(0, 9)) == 1

    async def test_an_entry_keeps_its_number_without_its_words(self, stores):
        await stores.commit([WriteEntries(tuple(map(entry, range(1, 5))))])
        bare = replace(entry(2), text=GONE)
        await stores.commit([WriteEntries((bare, replace(entry(9), text=GONE)), redacted=True)])
        assert [each.text for each in await stores.stream.read(1, 9)] == [
            "conscious 1",
            GONE,
            *map("conscious {}".format, (3, 4)),
        ]
        assert await stores.stream.find(bare.id) == bare
        await stores.commit([WriteEntries((entry(5),))])
        assert await stores.stream.head() == 5

    async def test_nothing_is_left_that_names_somebody_or_rests_on_what_they_said(self, stores):  # noqa: PLR0915
        texts = ["the door is open", "Zoe Quill: bring the marzipan", "who asked?", "thanks @zq!", "the zoo is shut"]
        said = [perception(n, text=text, key=f"k{n}") for n, text in enumerate(texts)]
        await stores.perceptions.append([*said, perception(7, source="zoe-quill", text="good night")])
        ours, theirs = resting(1, 1, text="the door"), resting(2, 2, text="a cake")
        built = trace(3)
        built = replace(built, thought=replace(built.thought, parents=(theirs.id, ours.id), text="door and cake"))
        sunk = resting(4, 4)
        await stores.commit([WriteTrace(each) for each in (ours, theirs, built, sunk)])
        await stores.commit([WriteTrace(revision(theirs, "people", "a larger cake"))])
        await stores.commit(
            [
                WriteLevel(theirs.id, Level(0.5, NOON, 60.0), True, 2),
                WriteLevel(sunk.id, Level(0, NOON, 9), False, None),
            ]
        )
        told = [
            replace(entry(n), lineage=(of.id,), focus=of.id, perceptions=())
            for n, of in ((1, ours), (2, theirs), (3, built))
        ]
        segue = replace(entry(4), lineage=(told[0].id, told[1].id), focus="", perceptions=(), vector=vector(4))
        await stores.commit([WriteEntries((*told, segue))])
        ref = {"id": perception_id(2), "time": NOON, "source": "ops"}
        kept = {"id": perception_id(1), "time": NOON, "source": "ops"}
        notes = {
            "m-1": {"id": "m-1", "title": "the door", "lines": [{"text": "x", "by": kept}, {"text": "y", "by": ref}]},
            "m-2": {"id": "m-2", "title": "cake", "lines": [{"text": "y", "by": ref}]},
            "m-3": {"id": "m-3", "title": "the same as m-2", "lineage": ["m-2"]},
            "e-1": {"key": "e-1", "name": "door", "first": ref, "last": kept, "counts": {"zoe quill": 1, "ops": 2}},
            "zoe quill": "e-9",
        }
        await stores.commit([NOTES.write(key, value, time=NOON) for key, value in notes.items()])
        await stores.commit([NOTES.write("old @zq", {}), RemoveDocument("notes", "old @zq")])
        kind = ChangeKind.CREDITED
        changes = [
            ConnectionChange("causes", "k1", "people", NOON + n, kind, 0.3, "use", label)
            for n, label in ((1, "door"), (2, "of Zoe Quill"), (3, "door"))
        ]
        links = (connection(label="door"), connection(topic="k2", label="marzipan"))
        await stores.commit([WriteConnections("causes", links, (), tuple(changes))])
        given = Configuration(1, NOON, "somebody", '{"trust": {"zoe quill": 1.0, "ops": 0.5}, "note": "tide"}')
        await stores.commit([write_configuration(given)])
        state = {
            "terms": {"door": 2, "marzipan": 1},
            "seen": [["zq", 1], ["ops", 2]],
            "cursor": 4,
            "topics": [
                {"label": "marzipan", "centroid": vector(1).tobytes()},
                {"label": "door", "centroid": vector(2).tobytes()},
            ],
            "waiting": [{"id": "t-9", "text": "so", "perceptions": [ref]}],
            "inner": msgspec.msgpack.encode({"last": "Zoe Quill"}),
        }
        await stores.commit(
            [
                WriteState("text", msgspec.msgpack.encode(state)),
                WriteReport(report("text", topics=("marzipan", "door"))),
            ]
        )
        hold = LegalHold("h-1", scope_of(ScopeKind.RANGE, [], "s", since=NOON + 3), "", "a case", NOON, "me", 4, NOON)
        with pytest.raises(UnderHold, match="h-1 holds some of it"):
            await Eraser(stores, ZOE, 0).run([hold])
        assert (await survey(stores, ZOE)).seqs == {2, 4, 6}

        eraser = Eraser(stores, ZOE, await stores.lead())
        await eraser.run()
        assert [p.text for p in await stores.perceptions.read(0, 9)] == [texts[0], texts[2], texts[4]]
        assert await live_ids(stores) == [ours.id]
        assert await stores.traces.get([theirs.id, built.id, sunk.id]) == {}
        assert await stores.traces.revisions(theirs.id) == []
        (settings,) = (await CONFIGURATIONS.all_of(stores.collections)).values()
        assert json.loads(settings.body) == {"trust": {"ops": 0.5}, "note": "tide"}
        entries = await stores.stream.read(1, 9)
        assert [each.text for each in entries] == ["conscious 1", GONE, GONE, GONE]
        assert (entries[3].vector, entries[1].lineage) == (None, ())
        left = await NOTES.all_of(stores.collections)
        assert left["m-1"]["lines"] == [{"text": "x", "by": kept}]
        assert left["e-1"] == {"key": "e-1", "name": "door", "first": kept, "last": kept, "counts": {"ops": 2}}
        assert set(left) == {"m-1", "e-1"}
        assert {each.label for each in await stores.registry.connections()} == {"door"}
        assert [each.label for each in await stores.registry.history()] == ["door"]
        now = msgspec.msgpack.decode(await stores.registry.state("text"))
        assert (now["terms"], now["seen"], now["waiting"]) == ({"door": 2}, [["ops", 2]], [])
        assert [each["label"] for each in now["topics"]] == ["door"]
        assert (msgspec.msgpack.decode(now["inner"]), now["cursor"]) == ({"last": GONE}, 4)
        assert (await stores.registry.reports())[0].topics == (GONE, "door")
        assert eraser.removed == {"perceptions": 3, "traces": 3, "notes": 3, "changes": 1, "connections": 1}
        assert eraser.redacted == {"entries": 3, "notes": 2, "states": 1, "reports": 1, CONFIGURATIONS.name: 1}
        again = Eraser(stores, ZOE, await stores.lead())
        await again.run()
        assert +again.removed == {}
        assert +again.redacted == {}
        await stores.scrub()

    async def test_a_source_and_a_stretch_of_time_are_forgotten_and_who_leads_later_is_not_overwritten(self, stores):
        await stores.perceptions.append([perception(n, source="radio" if n % 2 else "ops") for n in range(6)])
        await stores.commit([WriteDocument(document(1, body=msgspec.msgpack.encode({"pace": {"radio": 1, "ops": 2}})))])
        fence = await stores.lead()
        await stores.lead()
        radio = scope_of(ScopeKind.SOURCE, ["radio"], "salt")
        with pytest.raises(FencedOut):
            await Eraser(stores, radio, fence).run()
        assert len(await stores.perceptions.read(0, 9)) == 6
        await Eraser(stores, radio, 0).run()
        assert [p.seq for p in await stores.perceptions.read(0, 9)] == [1, 3, 5]
        assert await NOTES.all_of(stores.collections) == {"1": {"pace": {"ops": 2}}}
        await Eraser(stores, scope_of(ScopeKind.RANGE, [], "s", since=NOON + 1, until=NOON + 4), 0).run()
        await Eraser(stores, scope_of(ScopeKind.PERCEPTION, [], "s", perception=perception_id(5)), 0).run()
        assert [p.seq for p in await stores.perceptions.read(0, 9)] == [1]
        assert name("t", 1) not in await live_ids(stores)
