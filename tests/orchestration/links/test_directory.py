"""The directory: who is where, how they are, and that everybody is told."""

import asyncio

from orchestration.host.supervise import _configured
from orchestration.links.addresses import AddressBook, Endpoint
from orchestration.links.directory import Directory
from orchestration.settings import Settings
from tests.orchestration.links.houses import SETTINGS, Listener, Town
from tests.orchestration.links.test_links import MACHINES
from tests.orchestration.until import until


@MACHINES
async def test_it_asks_how_an_actor_is_and_tells_it_what_it_shall_do(tmp_path, machine):
    async with Town(tmp_path) as town:
        assert await town.directory.ping("peer", 60) is None
        _, peer, other = await town.house("peer", "other", machine=machine)
        await until(lambda: town.directory.find("other"))
        changed = _configured(Settings(), 7)
        pongs = await asyncio.gather(town.directory.ping("other", 60), town.directory.ping("peer", 60))
        assert [pong.name for pong in pongs] == ["other", "peer"]
        assert pongs[0].health == {"born": 1.0}
        town.directory.configure("peer", changed)
        town.directory.stop("peer")
        await until(lambda: peer.stopped)
        assert peer.configured == [changed]
        assert (other.stopped, other.configured) == (False, [])
        assert await town.directory.ping("nobody", 60) is None


async def test_who_does_not_answer_in_time_has_not_answered(tmp_path):
    async with Town(tmp_path) as town:
        links, _ = await town.house("peer")
        await until(lambda: town.directory.find("peer"))
        links._inbox.residents.clear()
        assert await town.directory.ping("peer", 0.05) is None


async def test_all_are_told_who_comes_goes_and_moves(tmp_path):
    async with Town(tmp_path) as town:
        one, _ = await town.house("one")
        two, _ = await town.house("two", machine="other")
        await until(lambda: len(one.book) == len(two.book) == 2)
        assert {one.book.find("two").machine, two.book.find("one").machine} == {
            two._here.machine,
            one._here.machine,
        }
        two.house("born", Listener())
        await until(lambda: one.book.find("born") is not None)
        two.forget("born")
        await until(lambda: one.book.find("born") is None)
        await two.close()
        await until(lambda: len(one.book) == 1)
        late, _ = await town.house("late")
        await until(lambda: len(late.book) == len(one.book) == 2)


async def test_a_line_that_breaks_is_made_anew_and_everything_told_again(tmp_path):
    async with Town(tmp_path) as town:
        one, _ = await town.house("one")
        await town.house("two")
        await until(lambda: len(one.book) == 2)
        one._line.abort()
        await until(lambda: town.directory.find("one") is None or one._line.open)
        await until(lambda: town.directory.find("one") is not None and len(one.book) == 2)
        assert await town.directory.ping("one", 60) is not None


async def test_the_end_of_an_old_life_does_not_unlist_the_new_one(tmp_path):
    async with Town(tmp_path) as town:
        old, _ = await town.house("peer", process="old")
        await until(lambda: town.directory.find("peer"))
        was = town.directory.find("peer")
        new, _ = await town.house("peer", process="new")
        await until(lambda: town.directory.find("peer") != was)
        await old.close()
        watcher, _ = await town.house("watcher")
        await until(lambda: watcher.book.find("peer"))
        assert watcher.book.find("peer") == new._endpoint
        assert await town.directory.ping("peer", 60) is not None


async def test_processes_wait_for_a_directory_that_is_not_open_yet(tmp_path):
    town = Town(tmp_path)
    directory = Directory(town.place("mind"), SETTINGS)
    path = str(town.place("mind") / "~mind.sock")
    directory._endpoint = Endpoint(directory._doors._here.machine, path)
    town.directory = directory
    links, _ = await town.house("early")
    await directory.open()
    await until(lambda: directory.find("early") is not None)
    await links.close()
    await directory.close()


def test_a_book_tells_what_changed_and_nothing_else():
    told, a, b = [], Endpoint("m", "a"), Endpoint("m", "b")
    book = AddressBook()
    book.listeners.append(told.append)
    book.update({"one": a, "two": b})
    book.update({"one": a})
    book.update({"three": None})
    book.update({"two": a, "one": None})
    book.update({"four": b}, whole=True)
    assert told == [{"one", "two"}, {"one", "two"}, {"two", "four"}]
    assert (len(book), book.find("four")) == (1, b)


async def test_of_a_large_process_only_changes_are_told(tmp_path):
    names = [f"scout-{number}" for number in range(300)]
    async with Town(tmp_path) as town:
        told, heard = [], town.directory._house
        town.directory._house = lambda frame, connection: (told.append(frame), heard(frame, connection))
        pack, *_ = await town.house(*names, process="pack")
        await until(lambda: town.directory.find(names[-1]))
        for name in names[:100]:
            pack.forget(name)
            await asyncio.sleep(0)
        pack.house("born", Listener())
        await until(lambda: town.directory.find("born") and town.directory.find(names[99]) is None)
        assert sum(len(frame.names) + len(frame.gone) for frame in told) == 300 + 100 + 1
        assert [frame.whole for frame in told[:2]] == [True, False]
        late, _ = await town.house("late")
        await until(lambda: len(late.book) == 202)
        pack._line.abort()
        await until(lambda: town.directory.find("born") is None or told[-1].names != ("born",))
        await until(lambda: len(late.book) == 202 and town.directory.find("born") is not None)
        assert told[-1].whole or told[-1].names == ("late",)
