"""What holds of any plan, and a few by hand."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestration.placement.planner import Need, Node, Rules, plan

SETTINGS = settings(max_examples=150, deadline=None)
NODES = st.lists(
    st.builds(
        Node,
        id=st.sampled_from("abcdef"),
        room=st.sampled_from([0.0, 1.0, 2.0, 3.5, 8.0]),
        drained=st.booleans(),
        steady=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda node: node.id,
)
NEEDS = st.lists(
    st.builds(
        Need,
        name=st.sampled_from([f"n{i}" for i in range(16)]),
        units=st.sampled_from([0.5, 1.0, 2.0]),
        kind=st.sampled_from(["", "singleton", "perceptual"]),
    ),
    max_size=16,
    unique_by=lambda need: need.name,
)
WHERE = st.dictionaries(st.sampled_from([f"n{i}" for i in range(18)]), st.sampled_from("abcdefgh"))
RULES = st.builds(
    Rules,
    quota=st.one_of(st.none(), st.sampled_from([0.5, 3.0, 7.0, 20.0])),
    moves=st.integers(1, 4),
    slack=st.sampled_from([0.0, 0.05, 0.3]),
)


def taken(made, needs):
    found = {}
    for need in needs:
        if need.name in made.places:
            node = made.places[need.name]
            found[node] = found.get(node, 0.0) + need.units
    return found


def possible(nodes, needs, where):
    """Where they can be in truth: nobody was ever put beyond a node's room. Nodes may have been lost since."""
    room = {node.id: node.room for node in nodes}
    kept = {}
    for need in needs:
        node = where.get(need.name)
        if node in room and room[node] >= need.units:
            room[node] -= need.units
            kept[need.name] = node
        elif node is not None and node not in room:
            kept[need.name] = node
    return kept


@SETTINGS
@given(NODES, NEEDS, WHERE, RULES)
def test_everybody_is_placed_within_room_and_quota_or_named_with_a_reason(nodes, needs, where, rules):
    made = plan(nodes, needs, where, rules)
    known = {node.id: node for node in nodes}
    assert set(made.places) | set(made.unschedulable) == {need.name for need in needs}
    assert not set(made.places) & set(made.unschedulable)
    assert all(made.unschedulable.values())
    for node, units in taken(made, needs).items():
        assert units <= known[node].room + 1e-6
    if rules.quota is not None:
        assert sum(taken(made, needs).values()) <= rules.quota + 1e-6
    for name, node in made.places.items():
        assert not known[node].drained or where.get(name) == node  # nobody is put on a drained node


@SETTINGS
@given(NODES, NEEDS, WHERE, RULES)
def test_moves_say_what_changed_and_few_are_moved_that_had_a_good_place(nodes, needs, where, rules):
    where = possible(nodes, needs, where)
    made = plan(nodes, needs, where, rules)
    known = {node.id for node in nodes}
    assert {m.name: m.target for m in made.moves} == {
        name: node for name, node in made.places.items() if where.get(name) != node
    }
    voluntary = [m for m in made.moves if m.source in known]
    evicted = [name for name, why in made.unschedulable.items() if "needs its place" in why]
    assert len(voluntary) <= rules.moves + len(evicted)


@SETTINGS
@given(NODES, NEEDS, WHERE, RULES)
def test_who_is_needed_more_is_never_left_out_for_who_is_needed_less(nodes, needs, where, rules):
    units = [replace(need, units=1.0) for need in needs]
    made = plan(nodes, units, possible(nodes, units, where), rules)
    room = {node.id for node in nodes if not node.drained and node.room >= 1}
    for rank, need in enumerate(units):
        if need.name in made.unschedulable:
            assert not [n.name for n in units[rank + 1 :] if made.places.get(n.name) in room]


@SETTINGS
@given(NODES, NEEDS, WHERE, RULES)
def test_it_comes_to_rest_and_stays_there(nodes, needs, where, rules):
    where = possible(nodes, needs, where)
    for _ in range(4 * len(needs) + 4):
        made = plan(nodes, needs, where, rules)
        if not made.moves:
            break
        where = made.places
    assert plan(nodes, needs, where, rules).moves == ()
    drained = {node.id for node in nodes if node.drained}
    left = {need.name: need.units for need in needs if made.places.get(need.name) in drained}
    full = taken(made, needs)
    for node in nodes:  # who is left on a drained node has nowhere to go
        assert node.drained or all(full.get(node.id, 0.0) + units > node.room for units in left.values())


@SETTINGS
@given(NEEDS.filter(bool), st.integers(1, 5), st.integers(0, 3))
def test_equal_nodes_are_even_in_the_end_and_a_new_one_takes_its_share(needs, before, more):
    needs = [replace(need, units=1.0) for need in needs]
    rules = Rules(moves=2, slack=0.01)
    nodes = [Node(f"x{i}", 20.0) for i in range(before)]
    where = plan(nodes, needs, {}, rules).places
    assert max(taken(plan(nodes, needs, {}, rules), needs).values()) <= -(-len(needs) // before) + 1
    nodes += [Node(f"y{i}", 20.0) for i in range(more)]
    moved = set()
    while (made := plan(nodes, needs, where, rules)).moves:
        assert not moved & {m.name for m in made.moves}  # nobody twice
        moved |= {m.name for m in made.moves}
        where = made.places
    counts = [list(where.values()).count(node.id) for node in nodes]
    assert max(counts) - min(counts) <= 1
    assert len(moved) <= len(needs)


def test_actors_of_a_kind_keep_apart():
    needs = [Need("environment", kind="singleton"), Need("a"), Need("b"), Need("stream", kind="singleton")]
    made = plan([Node("x", 4), Node("y", 4)], needs, {}, Rules())
    assert made.places["environment"] != made.places["stream"]


def test_the_loss_of_a_node_moves_all_it_had_at_once():
    needs = [Need(f"n{i}") for i in range(6)]
    where = {f"n{i}": "abc"[i % 3] for i in range(6)}
    made = plan([Node("a", 4), Node("b", 4)], needs, where, Rules(moves=1))
    assert {m.name for m in made.moves} == {"n2", "n5"}
    assert not made.unschedulable


def test_a_drained_node_gives_up_a_few_at_a_time_and_keeps_whom_nobody_can_take():
    needs = [Need(f"n{i}") for i in range(4)]
    where = dict.fromkeys([n.name for n in needs], "a")
    nodes = [Node("a", 4, drained=True), Node("b", 3)]
    first = plan(nodes, needs, where, Rules(moves=2))
    assert len(first.moves) == 2
    second = plan(nodes, needs, first.places, Rules(moves=2))
    assert len(second.moves) == 1
    assert sorted(second.places.values()) == ["a", "b", "b", "b"]


def test_without_room_the_last_give_way_and_it_says_to_whom():
    needs = [Need("environment"), Need("x"), Need("y")]
    made = plan([Node("a", 2)], needs, {"x": "a", "y": "a", "environment": "gone"}, Rules())
    assert made.places == {"environment": "a", "x": "a"}
    assert made.unschedulable == {"y": "environment needs its place more"}


def test_a_node_that_has_just_come_takes_the_unschedulable_but_moves_nobody():
    needs = [Need(f"n{i}") for i in range(4)]
    nodes = [Node("a", 3), Node("b", 4, steady=False)]
    made = plan(nodes, needs, {"n0": "a", "n1": "a", "n2": "a"}, Rules())
    assert [(m.name, m.target) for m in made.moves] == [("n3", "b")]


def test_a_flapping_difference_moves_nobody():
    needs = [Need(f"n{i}") for i in range(4)]
    where = {"n0": "a", "n1": "a", "n2": "b", "n3": "b"}
    for room in (3.6, 4.0, 4.4, 3.7, 4.3):
        assert not plan([Node("a", 4), Node("b", room)], needs, where, Rules(slack=0.2)).moves
