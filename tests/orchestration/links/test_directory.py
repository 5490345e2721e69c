"""The directory: who is where, how they are, and that everybody is told."""

import asyncio

from orchestration.links.addresses import AddressBook, Endpoint
from orchestration.links.directory import Directory
from orchestration.links.frames import Configure, Stop
from orchestration.membership.tunables import settings_update
from orchestration.settings import Settings
from tests.orchestration.links.processes import SETTINGS, Listener, Mesh, event
from tests.orchestration.links.test_links import MACHINES
from tests.orchestration.until import until


@MACHINES
async def test_it_asks_how_an_actor_is_and_tells_it_what_it_shall_do(tmp_path, machine):
    async with Mesh(tmp_path) as mesh:
        assert await mesh.directory.ping("peer", 60) is None
        _, peer, other = await mesh.start("peer", "other", machine=machine)
        await until(lambda: mesh.directory.find("other"))
        changed = settings_update(Settings(), 7)
        pongs = await asyncio.gather(mesh.directory.ping("other", 60), mesh.directory.ping("peer", 60))
        assert [pong.name for pong in pongs] == ["other", "peer"]
        assert pongs[0].health == {"born": 1.0}
        mesh.directory.tell(Configure("peer", changed))
        mesh.directory.tell(Stop("peer"))
        await until(lambda: peer.stopped)
        assert peer.configured == [changed]
        assert (other.stopped, other.configured) == (False, [])
        assert await mesh.directory.ping("nobody", 60) is None


async def test_who_does_not_answer_in_time_has_not_answered(tmp_path):
    async with Mesh(tmp_path) as mesh:
        links, _ = await mesh.start("peer")
        await until(lambda: mesh.directory.find("peer"))
        links._inbox.hosted.clear()
        assert await mesh.directory.ping("peer", 0.05) is None


async def test_all_are_told_who_comes_goes_and_moves(tmp_path):
    async with Mesh(tmp_path) as mesh:
        one, _ = await mesh.start("one")
        two, _ = await mesh.start("two", machine="other")
        await until(lambda: len(one.book) == len(two.book) == 2)
        assert {one.book.get("two").machine, two.book.get("one").machine} == {
            two._context.machine,
            one._context.machine,
        }
        two.register("born", Listener())
        await until(lambda: one.book.get("born") is not None)
        two.forget("born")
        await until(lambda: one.book.get("born") is None)
        await two.close()
        await until(lambda: len(one.book) == 1)
        late, _ = await mesh.start("late")
        await until(lambda: len(late.book) == len(one.book) == 2)


async def test_a_line_that_breaks_is_made_anew_and_everything_told_again(tmp_path):
    async with Mesh(tmp_path) as mesh:
        one, _ = await mesh.start("one")
        await mesh.start("two")
        await until(lambda: len(one.book) == 2)
        one._line.abort()
        await until(lambda: mesh.directory.find("one") is None or one._line.open)
        await until(lambda: mesh.directory.find("one") is not None and len(one.book) == 2)
        assert await mesh.directory.ping("one", 60) is not None


async def test_the_end_of_an_old_life_does_not_unlist_the_new_one(tmp_path):
    async with Mesh(tmp_path) as mesh:
        old, _ = await mesh.start("peer", process="old")
        await until(lambda: mesh.directory.find("peer"))
        was = mesh.directory.find("peer")
        new, _ = await mesh.start("peer", process="new")
        await until(lambda: mesh.directory.find("peer") != was)
        await old.close()
        watcher, _ = await mesh.start("watcher")
        await until(lambda: watcher.book.get("peer"))
        assert watcher.book.get("peer") == new._endpoint
        assert await mesh.directory.ping("peer", 60) is not None


async def test_who_comes_back_after_another_took_its_place_is_told_to_stop_and_found_by_nobody(tmp_path):
    """It slept, and its line with it; or it was cut off, and makes its line anew."""
    async with Mesh(tmp_path) as mesh:
        told, directory = [], mesh.directory
        directory._outlived = told.append
        watcher, _ = await mesh.start("watcher")
        directory.begin("pack", 1)
        asleep, process, _ = await mesh.start("pack", "member", process="pack-1", number=1)
        await until(lambda: watcher.book.get("member"))
        directory.begin("pack", 3)
        await until(lambda: process.stopped and told == ["pack"])
        assert directory.find("pack") is None
        assert directory.find("member") is None
        new, its_own, _ = await mesh.start("pack", "member", process="pack-3", number=3)
        await until(lambda: watcher.book.get("member") == new._endpoint)
        asleep.register("late", Listener())  # it knows nothing of that yet, and says who lives there

        cut_off, lost, _ = await mesh.start("pack", "member", process="pack-2", number=2)
        await until(lambda: lost.stopped and len(told) == 2)
        for late in (asleep, cut_off):
            late._line.abort()
        await until(lambda: len(told) == 4)
        assert watcher.book.get("member") == directory.find("pack") == new._endpoint
        assert directory.find("late") is None
        assert await directory.ping("pack", 60) is not None
        for late in (asleep, cut_off):
            await late.close()
        assert watcher.book.get("member") == directory.find("pack") == new._endpoint
        assert not its_own.stopped


async def test_the_end_of_an_old_life_leaves_the_socket_to_the_new_one(tmp_path):
    async with Mesh(tmp_path) as mesh:
        old, _ = await mesh.start("peer")
        new, heard = await mesh.start("peer")
        await old.close()
        sender, _ = await mesh.start("sender")
        await until(lambda: sender.book.get("peer") == new._endpoint)
        sender.outboxes.put("peer", event(1), 0.5)
        await until(lambda: heard.heard == ["1"])


async def test_processes_wait_for_a_directory_that_is_not_open_yet(tmp_path):
    mesh = Mesh(tmp_path)
    directory = Directory(mesh.place("mind"), SETTINGS)
    path = str(mesh.place("mind") / "~mind.sock")
    directory._endpoint = Endpoint(directory._listener._context.machine, path)
    mesh.directory = directory
    links, _ = await mesh.start("early")
    await directory.open()
    await until(lambda: directory.find("early") is not None)
    await links.close()
    await directory.close()


def test_a_book_tells_what_changed_and_nothing_else():
    a, b = Endpoint("m", "a"), Endpoint("m", "b")
    book = AddressBook()
    assert book.learn({"one": a, "two": b}) == {"one", "two"}
    assert book.learn({"one": a}) == book.learn({"three": None}) == frozenset()
    assert book.learn({"two": a, "one": None}) == {"one", "two"}
    assert book.learn({"four": b}, whole=True) == {"two", "four"}
    assert book == {"four": b}
