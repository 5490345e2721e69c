"""Whose mail goes to whom once its receiver has ended, however many have."""

from actors.growth import Gone
from orchestration.runtime.worker.lives import ForwardingTable, InPopulation


def test_ten_thousand_ends_take_no_more_room_than_the_latest_of_them():
    table = ForwardingTable(most=100)
    actors = [InPopulation(f"a{n}", None, None, table) for n in range(5)]
    for n in range(10_000):
        for actor in actors:
            assert not actor.takes(Gone(f"child-{n}", f"child-{n + 1}"))
    assert len(table) == 100
    assert actors[0].present("child-9999") == "child-10000"
    assert actors[0].present("child-9901") == "child-10000", "along a line of which all but the last have ended"
    assert actors[0].present("child-3") == "child-3"
    assert actors[0].present("a1") == "a1"


def test_what_one_leaves_goes_to_who_is_there_when_the_heir_ends_as_well():
    table = ForwardingTable(most=2)
    table.add("first", "second")
    table.add("second", "third")
    table.add("other", "fourth")
    assert table.present("second") == "third"
    table.add("third", "first")  # a name that comes back leads nowhere round
    assert table.present("third") in {"first", "third"}
