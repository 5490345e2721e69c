import numpy as np
import pytest

from actors.perception.image import ImageInterpreter
from actors.perception.settings import PerceptionSettings
from actors.snapshots import pack
from tests.actors.perception.perceiving import DIM, START, encoded, perceive, restored, shown, told
from tests.actors.perception.pictures import photo, plain, screen

YARD, EMPTY = encoded(photo(1)), encoded(photo(2))


def seeing(**given):
    return ImageInterpreter(DIM, PerceptionSettings(**given))


def test_the_first_image_is_described():
    (event,) = perceive(seeing(), [shown(1, YARD)])
    assert event.text.startswith("gate camera: image, PNG 320×240, landscape, mostly ")
    assert event.insights == ()
    assert event.confidence < 1
    assert np.linalg.norm(event.vector) == pytest.approx(1, abs=1e-4)


def test_unchanged_images_fold_and_a_change_says_how_much():
    interpreter = seeing()
    perceive(interpreter, [shown(1, YARD)])
    same = [shown(i, encoded(photo(1), "JPEG", quality=60 + i)) for i in range(2, 20)]
    assert perceive(interpreter, same) == []
    (event,) = perceive(interpreter, [shown(20, EMPTY)])
    percent = int(event.insights[0].removeprefix("changed ").removesuffix(" %"))
    assert 30 <= percent <= 100
    assert event.text.endswith(f"changed {percent} % since the one before")
    assert event.count == 19
    assert interpreter.figures()["perceptions_folded_total"] == 18


def test_sources_are_compared_with_themselves():
    interpreter = seeing()
    perceive(interpreter, [shown(1, YARD, source="gate"), shown(2, EMPTY, source="yard")])
    assert perceive(interpreter, [shown(3, YARD, source="gate"), shown(4, EMPTY, source="yard")]) == []


def test_a_caption_is_told_even_when_the_image_is_the_same():
    interpreter = seeing()
    perceive(interpreter, [shown(1, YARD)])
    (event,) = perceive(interpreter, [shown(2, YARD, caption="Smoke at\x00 the gate\u202e!")])
    assert event.text.startswith("gate camera: “Smoke at the gate!” (image, PNG 320×240")
    assert event.insights == ("unchanged",)
    assert "smoke" in event.terms
    assert perceive(interpreter, [shown(3, YARD, alt="Smoke at\x00 the gate\u202e!")]) == []


def test_a_scene_that_always_changes_is_told_now_and_then():
    interpreter = seeing()
    events = perceive(interpreter, [shown(i, encoded(photo(i, (64, 48))), START + i) for i in range(1, 200)])
    assert 2 <= len(events) <= 20
    slow = perceive(seeing(), [shown(i, encoded(photo(i, (64, 48))), START + 1800 * i) for i in range(1, 30)])
    assert len(slow) == 29


def test_what_cannot_be_read_is_said_with_little_confidence_and_ever_rarer():
    interpreter = seeing()
    (event, *more) = perceive(interpreter, [shown(i, YARD[: 200 + i]) for i in range(1, 200)])
    assert event.text == "gate camera: image, 201 bytes, damaged or cut off"
    assert event.confidence == 0.2
    assert event.salience < 0.5
    assert len(more) <= 7
    assert interpreter.figures()["images_unreadable_total"] == 199
    (seen,) = perceive(interpreter, [shown(300, YARD)])
    assert seen.confidence > 0.5


def test_a_camera_that_stops_is_silent_and_its_return_is_told():
    interpreter = seeing()
    perceive(interpreter, [shown(i, YARD) for i in range(1, 30)])
    (silence,) = interpreter.quiet(START + 60 * 29 + 300)
    assert silence.text.startswith("gate camera went silent: no more images, which came every 60 s; the last was image")
    assert silence.perceptions[0].id == f"p-{29:020x}"
    (back,) = perceive(interpreter, [shown(100, YARD)])
    assert back.text.endswith("(back after 71 min of silence)")


def test_memory_is_bounded():
    interpreter = seeing(series=20, batch=16)
    for i in range(1, 200):
        perceive(interpreter, [shown(i, plain("red", (16, 1 + i)), source=f"camera {i}")])
    assert interpreter.figures()["limit_hits:series"] == 179
    assert len(interpreter._looks) == 16
    assert len(interpreter._views) == 20


@pytest.mark.parametrize("cut", [1, 12, 39])
def test_a_snapshot_continues_the_same(cut):
    kinds = [YARD, EMPTY, encoded(screen()), b"broken", plain("black")]
    log = [
        shown(i, kinds[(i * i) % 5 if i % 3 else 0], source=f"camera {i % 2}", caption="x" * (i % 4))
        for i in range(1, 60)
    ]
    log += [shown(i, YARD, source="late") for i in range(60, 90)] + [shown(200, EMPTY, source="late")]
    whole = perceive(seeing(), log, batch=1)
    interpreter = seeing()
    first = perceive(interpreter, log[:cut], batch=1)
    again = restored(interpreter, seeing())
    assert again.figures() == interpreter.figures()
    assert told(first + perceive(again, log[cut:], batch=1)) == told(whole)
    assert len(pack(interpreter.dump())) < 300_000
