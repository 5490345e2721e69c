import math
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.perception.appraisal import Appraiser, SavedAppraiser, Threats, valences
from actors.perception.settings import AppraisalSettings
from actors.perception.wording import read
from actors.snapshots import pack, unpack
from tests.actors.perception.perceiving import DIM, EMBEDDER

WORDS = "pump valve room door van order bank letter meal fridge alarm light truck road coast depot".split()


def ordinary(n, seed=1):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=6)) for _ in range(n)]


def appraise(appraiser, texts, surprise=0.0, source="log"):
    vectors = EMBEDDER.embed_now(texts)
    return [
        appraiser.appraise(t, read(t).words, v, source, 60.0 * i, surprise)
        for i, (t, v) in enumerate(zip(texts, vectors, strict=True))
    ]


@settings(max_examples=25)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=40), st.floats(0, 1))
def test_salience_and_its_parts_stay_in_range(texts, surprise):
    for appraisal in appraise(Appraiser(DIM, AppraisalSettings()), texts, surprise):
        assert 0 <= appraisal.salience <= 1
        assert all(map(math.isfinite, appraisal.parts.values()))
        assert 0 <= appraisal.emotions["intensity"] <= 1
        assert -1 <= appraisal.emotions["valence"] <= 1


def test_who_knows_nothing_tells_alarms_and_no_routine():
    told = appraise(
        Appraiser(DIM, AppraisalSettings()),
        [
            "I0304 04:53:50.476529 1 scope.go:117] RemoveContainer",
            "I0304 04:53:58.150529 1 controller.go:211] Reconciled objects",
            "F0304 04:54:10.476529 1 store.go:99] cannot write the raft log: no space left on device",
        ],
    )
    assert told[2].salience > 0.5 > max(told[0].salience, told[1].salience)


def test_what_is_unlike_its_source_stands_out_whatever_others_say():
    appraiser = Appraiser(DIM, AppraisalSettings())
    appraise(appraiser, [f"{line} {i}" for i, line in enumerate(ordinary(400))], source="depot")
    odd = ["water is coming through the ceiling of the engine room and the pumps cannot hold it"]
    usual = appraise(appraiser, ordinary(20, seed=2), source="depot")
    (told,) = appraise(appraiser, odd, source="depot")
    assert told.salience > 0.6 > max(a.salience for a in usual)
    (again,) = appraise(appraiser, odd, source="depot")
    assert again.salience < told.salience


def test_a_new_word_alone_says_nothing():
    appraiser = Appraiser(DIM, AppraisalSettings())
    appraise(appraiser, ordinary(400))
    assert max(a.salience for a in appraise(appraiser, ["roger", "wilco", "pardon?"])) < 0.42


def test_an_alarm_that_is_usual_where_it_comes_from_is_none():
    appraiser = Appraiser(DIM, AppraisalSettings())
    first, *_, last = appraise(appraiser, [f"CRITICAL: no display {i}" for i in range(200)])
    (other,) = appraise(appraiser, ["CRITICAL: no display 9"], source="elsewhere")
    assert last.parts["alarm"] < 0.2 * first.parts["alarm"]
    assert last.parts["alarm"] < other.parts["alarm"] or other.parts["alarm"] < first.parts["alarm"]


def test_a_level_is_believed_less_where_nobody_knows_yet_what_it_is_used_for():
    levels = ["WARN late", "ERROR card declined", "CRITICAL no display", "PANIC cannot write"]
    born = [appraise(Appraiser(DIM, AppraisalSettings()), [line])[0].parts["alarm"] for line in levels]
    grown = Appraiser(DIM, AppraisalSettings())
    appraise(grown, [f"INFO order {i} placed" for i in range(400)])
    known = [appraisal.parts["alarm"] for appraisal in appraise(grown, levels)]
    assert born == sorted(born)
    assert 0 < born[1] < 0.35, "an error in four lines says next to nothing"
    assert all(after > 2 * before for before, after in zip(born[1:], known[1:], strict=True))


def test_threats_are_known_by_meaning():
    settings = AppraisalSettings()
    sense = Threats(EMBEDDER.embed_now(settings.threats), EMBEDDER.embed_now(settings.harmless))
    harm, none = EMBEDDER.embed_now(["smoke comes out of the cabinet and two are burnt", "parcel delivered, thank you"])
    assert sense.of(harm) > 0.05 > sense.of(none)


def test_a_burst_of_talk_lifts_what_is_said_in_it():
    def last(pace):
        appraiser = Appraiser(DIM, AppraisalSettings())
        for i, line in enumerate(ordinary(120)):
            appraiser.appraise(line, read(line).words, EMBEDDER.embed_now([line])[0], "log", 60.0 * i)
        lines = [
            f"{word} {word}ing the {word}er at gate{i}" for i, word in enumerate("zorn brul kems dalt wopf".split())
        ]
        found = [
            appraiser.appraise(line, read(line).words, EMBEDDER.embed_now([line])[0], "log", 7200.0 + pace * i)
            for i, line in enumerate(lines)
        ]
        return found[-1].parts["tempo"]

    assert last(5.0) > last(600.0) + 0.2


def test_surprise_raises_and_never_beyond_one():
    text = ["pump valve room"]
    plain, raised, sure = (appraise(Appraiser(DIM, AppraisalSettings()), text, s)[0].salience for s in (0.0, 0.5, 1.0))
    assert plain < raised < sure == 1.0


def test_opposite_feelings_do_not_cancel():
    said = [*ordinary(60), "wonderful disaster", "the pump", "lovely"]
    energies = [a.emotions["intensity"] for a in appraise(Appraiser(DIM, AppraisalSettings()), said)]
    assert energies[-3] > energies[-1] > energies[-2]


def test_the_lexicon_is_the_published_one():
    assert len(valences()) > 7000
    assert valences()["catastrophe"] < -2 < 2 < valences()["wonderful"]


def test_memory_is_bounded():
    given_ = AppraisalSettings(words=100, sources=20, rank_window=16, novelty_window=8)
    appraiser = Appraiser(8, given_)
    vector = np.ones(8, np.float32) / np.sqrt(8).astype(np.float32)
    sizes = []
    for i in range(3000):
        appraiser.appraise(f"word{i} other{i}", (f"word{i}", f"other{i}"), vector, f"source{i}", 60.0 * i)
        if i % 500 == 499:
            sizes.append(len(pack(appraiser.dump())))
    assert max(sizes[1:]) < 1.5 * sizes[0]


def test_a_snapshot_of_another_embedder_or_window_is_learned_anew():
    appraiser = Appraiser(DIM, AppraisalSettings())
    appraise(appraiser, ordinary(50))
    other = Appraiser(8, AppraisalSettings(novelty_window=16))
    other.load(unpack(pack(appraiser.dump()), SavedAppraiser))
    assert 0 <= other.appraise("pump", ("pump",), np.ones(8, np.float32), "log", 0.0).salience <= 1


def test_among_people_who_talk_what_stands_out_counts_and_what_a_machine_repeats_does_not():
    chance = random.Random(5)
    appraiser = Appraiser(DIM, AppraisalSettings())
    said = [" ".join(chance.choices(WORDS, k=chance.randint(3, 9))) + f" {i}" for i in range(600)]
    usual = appraise(appraiser, said, source="radio")
    assert all(abs(a.parts["talk"]) < 0.01 for a in usual[:10])  # nothing is known yet
    later = usual[300:]
    assert sum(a.salience > 0.5 for a in later) < 0.2 * len(later)
    (told,) = appraise(appraiser, ["marquee collapsed onto eleven toddlers beside the carousel"], source="radio")
    assert told.parts["talk"] > 0
    assert told.salience > 0.6
    for _ in range(500):
        appraiser.repeated("press")
    appraise(appraiser, [f"{line} {i}" for i, line in enumerate(ordinary(20))], source="press")
    (machine,) = appraise(appraiser, ["marquee pegs counted"], source="press")
    assert machine.parts["talk"] == 0


def test_where_machines_are_heard_as_well_standing_out_of_talk_counts_later():
    chance = random.Random(5)
    said = [" ".join(chance.choices(WORDS, k=chance.randint(3, 9))) + f" {i}" for i in range(200)]
    told = "marquee collapsed onto eleven toddlers beside the carousel"
    alone, beside = Appraiser(DIM, AppraisalSettings()), Appraiser(DIM, AppraisalSettings())
    for line in said:
        appraise(alone, [line], source="radio")
        appraise(beside, [line], source="radio")
        beside.repeated("press")
    (among_talkers,), (among_machines,) = (appraise(each, [told], source="radio") for each in (alone, beside))
    assert among_talkers.parts["talk"] > among_machines.parts["talk"]
    saved = Appraiser(DIM, AppraisalSettings())
    saved.load(unpack(pack(alone.dump()), SavedAppraiser))
    lines = ["the marquee was mended"]
    assert appraise(saved, lines, source="radio")[0].parts == appraise(alone, lines, source="radio")[0].parts


def test_what_declares_itself_is_judged_by_that_also_among_talk():
    appraiser = Appraiser(DIM, AppraisalSettings())
    appraise(appraiser, [f"{line} {i}" for i, line in enumerate(ordinary(600))], source="radio")
    (told,) = appraise(appraiser, ["ERROR: depot road order"], source="radio")
    assert "talk" not in told.parts
