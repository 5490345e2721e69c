"""Input line by line: files, growing and rotated ones, pipes; bounded whatever comes."""

import asyncio
import os
import random
import threading
from collections.abc import AsyncIterator
from io import BufferedReader
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.cli.failure import Failure
from orchestration.cli.input.lines import BadLine
from orchestration.cli.input.reading import InputLine, Splitter, file_lines, growing_lines, stream_lines

NOISE = random.Random(1).randbytes(3000)


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_lines_do_not_depend_on_how_the_input_is_cut(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    splitter = Splitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.finish()
    expected = whole.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    assert [line.raw for line in lines] == (expected if expected[-1] else expected[:-1])
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))


def test_of_a_line_that_is_too_long_only_the_length_is_kept() -> None:
    splitter = Splitter(most=10)
    lines = [line for _ in range(100) for line in splitter.feed(b"x" * 7)] + splitter.feed(b"\nshort\n")
    assert [(line.raw, line.length) for line in lines] == [(b"", 700), (b"short", 5)]
    with pytest.raises(BadLine, match="700 bytes"):
        lines[0].whole()
    assert lines[1].whole() == b"short"


async def test_a_growing_file_is_followed_through_rotation_and_truncation(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntw")
    lines = growing_lines(path, poll=0.01)
    assert await following(lines) == b"one"
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert [await following(lines), await following(lines)] == [b"two", b"three"]

    with path.open("ab") as file:
        file.write(b"last words")
    path.rename(tmp_path / "log.1")
    await asyncio.sleep(0.03)
    path.write_bytes(b"four\n")
    assert [await following(lines), await following(lines)] == [b"last words", b"four"]

    path.write_bytes(b"")  # cut short, as with copytruncate
    await asyncio.sleep(0.05)
    with path.open("ab") as file:
        file.write(b"5\n")
    assert await following(lines) == b"5"


async def test_a_pipe_gives_each_line_as_soon_as_it_is_there() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        lines = stream_lines(source, "pipe")
        sink.write(b"one\ntwo\nthr")
        assert [await following(lines), await following(lines)] == [b"one", b"two"]
        sink.write(b"ee\nfo")
        assert await following(lines) == b"three"
        sink.close()
        assert await following(lines) == b"fo"
        assert await anext(lines, None) is None


def test_who_is_stopped_while_more_comes_stops_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C does it: the loop ends while the thread that reads still waits to hand something on."""
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    reading, writing = os.pipe()

    async def stopped(source: BufferedReader) -> None:
        lines = stream_lines(source, "pipe")
        for each in (b"one\n", b"two\n", b"three\n", b"four\n"):
            os.write(writing, each)
            await following(lines) if each == b"one\n" else await asyncio.sleep(0.1)

    with os.fdopen(reading, "rb") as source:
        asyncio.run(stopped(source))
        os.close(writing)
        for thread in threading.enumerate():
            if thread.name == "input":
                thread.join(10)
    assert raised == []


async def following(lines: AsyncIterator[InputLine]) -> bytes:
    return (await asyncio.wait_for(anext(lines), 60)).raw


@pytest.mark.parametrize(
    ("beginning", "told"),
    [
        (b"\xff\xfea\x00", "UTF-16"),
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"\x89PNG\r\n\x1a\n" + NOISE, "no text in UTF-8"),
        (b"\x7fELF" + b"\0" * 500 + NOISE, "no text in UTF-8"),
        (NOISE, "no text in UTF-8"),
    ],
    ids=["utf-16", "gzip", "picture", "program", "noise"],
)
def test_what_is_no_text_is_refused_with_the_way_out(tmp_path: Path, beginning: bytes, told: str) -> None:
    path = tmp_path / "log"
    path.write_bytes(beginning)
    with pytest.raises(Failure, match=told):
        list(file_lines(path))


@pytest.mark.parametrize(
    "text",
    [
        "Überraschung im Café, 12 Gäste, à la carte – tout est prêt\n".encode("cp1252") * 20,
        b"\0" * 9000 + b"after a rotation that left a hole\n",
        b"\x1b[31mERROR\x1b[0m red as it came\r\n" * 100,
        "все спокойно, 零件到了\n".encode() * 100,
    ],
)
def test_text_that_is_only_odd_is_read(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "log"
    path.write_bytes(text)
    assert b"\n".join(line.raw for line in file_lines(path)) == text.rstrip(b"\n")
