import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from actors.perception.image_decoding import look
from tests.actors.perception.perceiving import encoded
from tests.actors.perception.pictures import bomb, photo, plain, screen

MOST = 1_000_000


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_formats_and_dimensions_are_told(kind):
    seen = look(encoded(photo(), kind), MOST)
    assert seen.problem == ""
    assert seen.words.startswith(f"image, {kind} 320×240, landscape, mostly ")
    assert len(seen.bits) == 32
    assert len(seen.grid) == 192


def test_colours_are_named_and_never_averaged():
    picture = Image.new("RGB", (100, 100), "red")
    picture.paste("blue", (0, 0, 100, 50))
    words = look(encoded(picture), MOST).words
    assert "mostly blue and red" in words
    assert "purple" not in words


@pytest.mark.parametrize(
    ("size", "word"),
    [
        ((100, 100), "square"),
        ((100, 150), "portrait"),
        ((400, 100), "wide"),
        ((50, 400), "tall"),
        ((150, 100), "landscape"),
    ],
)
def test_orientation(size, word):
    assert f", {word}, " in look(encoded(photo(1, size)), MOST).words


def test_an_image_held_sideways_is_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6
    assert "JPEG 240×320, portrait" in look(encoded(photo(), "JPEG", exif=exif), MOST).words


def test_light_and_contrast_are_told_where_they_are_worth_it():
    dark = Image.fromarray((np.asarray(photo()) * 0.15).astype(np.uint8))
    assert look(encoded(dark), MOST).words == "image, PNG 320×240, landscape, mostly black, very dark, low contrast"
    flat = Image.fromarray((110 + np.asarray(photo()) * 0.1).astype(np.uint8))
    assert "low contrast" in look(encoded(flat), MOST).words
    assert "without colour" in look(encoded(photo().convert("L")), MOST).words


def test_blank_images_and_screens_are_told_apart_from_photographs():
    assert "blank, all black" in look(plain("black"), MOST).words
    assert "screenshot" in look(encoded(screen()), MOST).words
    assert "screenshot" not in look(encoded(photo()), MOST).words
    assert "screenshot" not in look(plain("black"), MOST).words


def test_an_animation_is_told():
    frames = [Image.new("RGB", (32, 32), c) for c in ("red", "blue", "green")]
    seen = look(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]), MOST)
    assert "animated GIF" in seen.words


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "I;16", "F", "YCbCr", "LAB"])
def test_every_kind_of_pixel_can_be_looked_at(mode):
    picture = photo().convert("I").convert("I;16") if mode == "I;16" else photo().convert(mode)
    assert look(encoded(picture, "TIFF"), MOST).problem == ""


def test_what_is_transparent_is_not_seen():
    picture = Image.new("RGBA", (64, 64), (255, 0, 0, 0))
    assert "all white" in look(encoded(picture), MOST).words


@pytest.mark.parametrize(
    ("width", "height"), [(20_000, 20_000), (60_000, 60_000), (2**31 - 1, 2**31 - 1), (1001, 1000)]
)
def test_a_bomb_is_not_decoded(width, height):
    data = bomb(width, height)
    tracemalloc.start()
    seen = look(data, MOST)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen.problem == "too large to look at"
    assert peak < 2_000_000


@pytest.mark.parametrize(
    "data", [b"", b"x", b"not an image" * 100, b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"]
)
def test_what_is_no_image_is_said_to_be_none(data):
    seen = look(data, MOST)
    assert seen.problem == "in no format I know"
    assert seen.words.isprintable()


DAMAGED = [encoded(photo(1, (48, 32)), kind) for kind in ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(DAMAGED), st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=20))
def test_damaged_images_are_never_an_exception(data, flips):
    damaged = bytearray(data)
    for place, value in flips:
        damaged[place % len(damaged)] = value
    seen = look(bytes(damaged), MOST)
    assert seen.words.isprintable()
    assert bool(seen.problem) != bool(seen.bits)


def test_change_is_nothing_for_the_same_and_much_for_another():
    one, other = look(encoded(photo(1)), MOST), look(encoded(photo(2)), MOST)
    recoded = look(encoded(photo(1), "JPEG", quality=70), MOST)
    assert one.change(one) == 0
    assert one.change(recoded) < 0.03
    assert one.change(other) > 0.3
    assert one.change(other) == other.change(one)
    assert look(plain("black"), MOST).change(look(plain("white"), MOST)) == 1
