"""The durable cache of answers, and the ledgers beside it."""

import pytest

from environment.errors import SubliminalError
from environment.stores.sqlite.answer_cache import open_answers


@pytest.fixture
async def answers(tmp_path):
    opened = await open_answers(tmp_path, "m", rows=3)
    yield opened
    await opened.close()


async def test_what_was_put_is_there(answers):
    await answers.put({"a": b"1", "b": b"\x00\xff"})
    assert await answers.get(["b", "a", "c"]) == {"a": b"1", "b": b"\x00\xff"}
    assert await answers.get([]) == {}
    await answers.put({"a": b"2"})
    assert await answers.get(["a"]) == {"a": b"2"}


async def test_the_least_recently_used_make_room(answers):
    await answers.put({"a": b"1"})
    await answers.put({"b": b"2"})
    await answers.put({"c": b"3"})
    await answers.get(["a"])
    await answers.put({"d": b"4"})
    assert set(await answers.get(["a", "b", "c", "d"])) == {"a", "c", "d"}


async def test_it_outlives_a_restart(tmp_path):
    first = await open_answers(tmp_path, "m")
    await first.put({"a": b"1"})
    await first.close()
    await first.close()
    again = await open_answers(tmp_path, "m")
    assert await again.get(["a"]) == {"a": b"1"}
    await again.close()


async def test_minds_do_not_see_each_other(tmp_path):
    one, two = await open_answers(tmp_path, "one", rows=2), await open_answers(tmp_path, "two", rows=2)
    await one.put({"a": b"1"})
    await two.put({"b": b"2", "c": b"3", "d": b"4"})
    assert await two.get(["a"]) == {}
    assert await one.get(["a"]) == {"a": b"1"}
    await one.close()
    await two.close()


async def test_a_file_that_is_none_of_ours_is_refused(tmp_path):
    (tmp_path / "answers.db").write_bytes(b"not a database at all, but long enough to be looked at" * 50)
    with pytest.raises(SubliminalError, match=r"answers\.db"):
        await open_answers(tmp_path, "m")
