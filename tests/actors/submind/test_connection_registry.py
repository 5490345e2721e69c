import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.settings import ConnectionSettings
from actors.snapshots import pack, unpack
from actors.submind.connection_registry import ConnectionRegistry, SavedConnections
from environment.messages import ChangeKind

DAY = 86_400.0
SMALL = ConnectionSettings(
    per_topic=3, total=5, half_life=2 * DAY, credit_window=1800.0, eta=0.3, promote_uses=2, history=4
)
TOPICS, PEERS = ["k1", "k2", "k3"], ["a", "b", "c", "d", "owner"]


def registry(settings_=SMALL):
    return ConnectionRegistry("owner", settings_)


def restored(one, settings_=SMALL):
    again = registry(settings_)
    again.load(unpack(pack(one.dump()), SavedConnections))
    return again


def links(one):
    return {(c.topic, c.peer): c for c in one.all()}


def do(one, step, now):
    match step:
        case ("open", topic, peer):
            return one.open(topic, f"about {topic}", peer, now, "test")
        case ("use", topic, peer):
            one.use(topic, peer, now)
        case ("credit", topic, peer):
            one.credit(topic, peer, now, "conscious")
        case ("refuse", topic, peer):
            one.refuse(topic, peer, now, "test")
        case ("merge", gone, kept):
            if gone != kept:
                one.merge(gone, kept, f"about {kept}", now)
        case ("drop", topic, _):
            one.drop(topic, now, "test")
        case ("tend", _, _):
            one.tend(now)
    return None


topic, peer = st.sampled_from(TOPICS), st.sampled_from(PEERS)
step = st.one_of(
    st.tuples(st.sampled_from(["open", "open", "use", "use", "credit", "credit", "credit", "refuse"]), topic, peer),
    st.tuples(st.just("merge"), topic, topic),
    st.tuples(st.sampled_from(["drop", "tend"]), topic, st.just("")),
)
gap = st.sampled_from([0.0, 1.0, 600.0, 1801.0, 3600.0, DAY, 5 * DAY])
life = st.lists(st.tuples(step, gap), max_size=80)


@settings(max_examples=250)
@given(life)
def test_what_holds_under_any_sequence_of_operations(script):
    it, now, view = registry(), 1e9, {}
    flags: dict[tuple[str, str], bool] = {}
    for what, passed in script:
        now += passed
        do(it, what, now)
        current = links(it)
        assert len(it) == len(current) <= SMALL.total
        for (t, p), c in current.items():
            assert 0 <= c.weight <= 1
            assert p != "owner"
            assert c.credited <= c.uses
            assert len(c.history) <= SMALL.history
            assert list(c.history) == sorted(c.history, key=lambda h: h[0])
            assert c.ltp or c.weight < SMALL.promote_at or c.credited < SMALL.promote_uses
            assert sum(1 for other, _ in current if other == t) <= SMALL.per_topic
        kept, gone, changes = it.drain()
        assert not {(c.topic, c.peer) for c in kept} & set(gone)
        view.update({(c.topic, c.peer): c for c in kept})
        for key in gone:
            view.pop(key, None)
        assert view.keys() == current.keys()
        for key, c in current.items():
            seen = view[key]
            assert (seen.ltp, seen.uses, seen.credited, seen.history) == (c.ltp, c.uses, c.credited, c.history)
            assert seen.weight >= c.weight
        for change in changes:
            assert change.owner == "owner"
            assert change.reason
            assert change.at <= now
            if change.kind is ChangeKind.PROMOTED:
                assert change.weight >= SMALL.promote_at
            if change.kind is ChangeKind.DEMOTED:
                assert change.weight < SMALL.demote_at
        if not any(w[0] == "merge" for w, _ in script):
            for change in changes:
                key = (change.topic, change.peer)
                if change.kind in {ChangeKind.PROMOTED, ChangeKind.DEMOTED}:
                    assert flags.get(key, False) is (change.kind is ChangeKind.DEMOTED)
                    flags[key] = change.kind is ChangeKind.PROMOTED
                if change.kind in {ChangeKind.FORGOTTEN, ChangeKind.EVICTED, ChangeKind.OPENED}:
                    flags[key] = False
    assert it.drain() == ([], [], [])


@settings(max_examples=150)
@given(life, st.lists(st.floats(0, 1), max_size=4))
def test_decay_does_not_depend_on_how_often_somebody_tends(script, shares):
    seldom, often, now = registry(), registry(), 1e9
    for what, passed in script:
        for share in sorted(shares):
            often.tend(now + share * passed)
        now += passed
        assert do(seldom, what, now) == do(often, what, now)
    seldom.tend(now)
    often.tend(now)
    one, other = links(seldom), links(often)
    assert one.keys() == other.keys()
    for key, c in one.items():
        assert c.weight == pytest.approx(other[key].weight, rel=1e-9)
        assert (c.ltp, c.uses, c.credited) == (other[key].ltp, other[key].uses, other[key].credited)


@settings(max_examples=100)
@given(life, st.integers(0, 80))
def test_a_snapshot_continues_the_same(script, cut):
    def run(one, part, now):
        out = []
        for what, passed in part:
            now += passed
            out.append((do(one, what, now), one.drain()))
        return out, now

    whole, _ = run(registry(), script, 1e9)
    it = registry()
    first, now = run(it, script[:cut], 1e9)
    assert first + run(restored(it), script[cut:], now)[0] == whole


def test_credit_strengthens_until_ltp_and_neglect_weakens_until_gone():
    settings_ = ConnectionSettings()
    it, now = registry(settings_), 1e9
    it.open("k1", "cold", "a", now, "test")
    kinds = []
    while not it.all()[0].ltp:
        now += 60
        it.use("k1", "a", now)
        before = it.all()[0].weight
        it.credit("k1", "a", now + 1, "conscious")
        assert it.all()[0].weight == pytest.approx(before + settings_.eta * (1 - before), rel=1e-4)
    link = it.all()[0]
    assert link.weight >= settings_.promote_at
    assert link.credited >= settings_.promote_uses
    kinds += [c.kind for c in it.drain()[2]]
    now += settings_.half_life
    it.tend(now)
    assert it.all()[0].weight == pytest.approx(link.weight / 2, rel=1e-3)
    assert not it.all()[0].ltp
    it.tend(now + 4 * settings_.half_life)
    assert it.all() == []
    kinds += [c.kind for c in it.drain()[2]]
    assert kinds[0] is ChangeKind.OPENED
    assert kinds[-3:] == [ChangeKind.PROMOTED, ChangeKind.DEMOTED, ChangeKind.FORGOTTEN]


def test_between_the_two_bounds_nothing_changes():
    it, now = registry(), 1e9
    it.open("k1", "cold", "a", now, "test")
    for _ in range(6):
        it.use("k1", "a", now)
        it.credit("k1", "a", now, "built on")
    assert it.all()[0].ltp
    it.drain()
    for _ in range(30):
        now += 0.4 * DAY
        it.tend(now)
        weight = it.all()[0].weight
        it.use("k1", "a", now)
        if weight < 0.5:
            it.credit("k1", "a", now, "built on")
    assert not {c.kind for c in it.drain()[2]} & {ChangeKind.PROMOTED, ChangeKind.DEMOTED}


def test_a_use_without_credit_costs_a_little_once():
    it = registry(ConnectionSettings())
    it.open("k1", "cold", "a", 0.0, "test")
    it.use("k1", "a", 0.0)
    it.tend(1799.0)
    assert [c.kind for c in it.drain()[2]] == [ChangeKind.OPENED]
    it.tend(1801.0)
    (change,) = it.drain()[2]
    assert change.kind is ChangeKind.UNREWARDED
    assert change.weight == pytest.approx(0.2 * 0.96, rel=3e-3)
    it.tend(9999.0)
    assert it.drain()[2] == []


def test_one_message_praised_five_times_is_one_credited_use():
    it = registry(ConnectionSettings())
    it.open("k1", "cold", "a", 0.0, "test")
    it.use("k1", "a", 0.0)
    for _ in range(20):
        it.credit("k1", "a", 1.0, "reinforced")
    (link,) = it.all()
    assert link.credited == 1
    assert not link.ltp


def test_the_weakest_makes_room_and_ltp_stays():
    it = registry()
    for name in "abc":
        it.open("k1", "cold", name, 0.0, "test")
    for _ in range(6):
        it.use("k1", "a", 1.0)
        it.credit("k1", "a", 1.0, "conscious")
    it.use("k1", "b", 1.0)
    it.credit("k1", "b", 1.0, "conscious")
    assert it.open("k1", "cold", "d", 2.0, "exploring")
    assert [link.peer for link in it.peers("k1")] == ["a", "b", "d"]
    assert it.drain()[1] == [("k1", "c")]


def test_a_merged_topic_takes_its_connections_and_their_credit_along():
    it = registry()
    it.open("k1", "cold", "a", 0.0, "test")
    it.open("k2", "chill", "a", 0.0, "test")
    it.open("k2", "chill", "b", 0.0, "test")
    it.use("k2", "a", 1.0)
    it.credit("k2", "a", 1.0, "conscious")
    it.use("k2", "b", 1.0)
    strong = links(it)[("k2", "a")].weight
    it.drain()
    it.merge("k2", "k1", "cold", 2.0)
    kept, gone, _ = it.drain()
    assert {(c.topic, c.peer) for c in kept} == {("k1", "a"), ("k1", "b")}
    assert gone == [("k2", "a"), ("k2", "b")]
    assert links(it)[("k1", "a")].weight == pytest.approx(strong, rel=1e-4)
    it.credit("k2", "b", 3.0, "conscious")
    assert links(it)[("k1", "b")].credited == 1
    assert restored(it).dump() == it.dump()
