import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.chance import Chance
from actors.effects import Commit, Send
from actors.events import Credit, Message, Register
from actors.peers import Peer, PeerDirectory
from actors.settings import ConnectionSettings, TopicSettings
from actors.snapshots import pack, unpack
from actors.submind.message_router import MessageRouter, RouterState
from environment.messages import ChangeKind
from tests.actors.making import DIM, thought, unit

NAMES = ["own", "cold", "bank", "help", "plan"]
PEERS = [Peer(name, True, name, unit(700 + i)) for i, name in enumerate(NAMES)]
PEERS += [Peer("watcher", False, "watch", unit(800)), Peer("text", False, "read", unit(801))]


def router(peers=PEERS, **given):
    connections = ConnectionSettings(**{"explore": 0.3, "fan_out": 2, "per_topic": 4, **given})
    return MessageRouter(
        "own", DIM, TopicSettings(capacity=6), connections, PeerDirectory(peers), Chance(1, "own/voice")
    )


def restored(one, **given):
    again = router(**given)
    again.load(unpack(pack(one.dump()), RouterState))
    return again


def sends(effects):
    return [e for e in effects if isinstance(e, Send)]


def asks_who_only_tells(effect):
    """What a submind asks once in its life, and once more after a restart."""
    return effect.to == "watcher" and isinstance(effect.event, Register)


def do(it, step, now):
    what, seed, name = step
    about = thought(vector=unit(seed), associations=(f"w{seed}",), time=float(seed), perception=f"p-{seed}")
    match what:
        case "speak":
            it.place(about.vector, about.associations, now)
            return it.speak(about, now, frozenset({name}))
        case "meet":
            return it.meet(name, about, now)
        case "asked":
            it.asked(Register(name, unit(seed), "label", "t-1"), now)
        case "credit":
            it.credited(Credit(name, f"k{1 + seed % 6}", "t-1", "conscious"), now)
        case "tend":
            it.tend(now)
    return []


steps = st.lists(
    st.tuples(
        st.sampled_from(["speak", "speak", "speak", "meet", "asked", "credit", "tend"]),
        st.integers(0, 12),
        st.sampled_from([*NAMES, "stranger", "watcher"]),
    ),
    max_size=60,
)


@settings(max_examples=150)
@given(steps)
def test_it_speaks_to_few_and_never_to_itself_the_excluded_or_strangers(script):
    it, view = router(), {}
    for i, step in enumerate(script):
        effects = sends(do(it, step, 1e9 + 600.0 * i))
        told = [e.to for e in effects]
        assert "own" not in told
        assert "stranger" not in told
        if step[0] == "speak":
            assert step[2] not in told
            assert len(told) == len(set(told)) <= 2
            for e in effects:
                assert isinstance(e.event, Message)
                assert 0 <= e.priority <= 1
        for effect in it.record():
            assert isinstance(effect, Commit)
            view.update({(c.topic, c.peer): c for c in effect.write.kept})
            for key in effect.write.gone:
                view.pop(key, None)
        assert {(c.topic, c.peer) for c in it.registry.all()} == view.keys()
        assert {c.topic for c in it.registry.all()} <= {t.key for t in it.topics._topics}
        assert it.record() == []


@settings(max_examples=60)
@given(steps, st.integers(0, 60))
def test_a_snapshot_continues_the_same(script, cut):
    def run(it, part, first):
        out = []
        for i, step in enumerate(part, first):
            effects = [e for e in sends(do(it, step, 1e9 + 600.0 * i)) if not asks_who_only_tells(e)]
            out.append([(e.to, e.priority, e.event.topic if isinstance(e.event, Message) else "") for e in effects])
            out.append(it.record())
        return out

    whole = run(router(), script, 0)
    it = router()
    first = run(it, script[:cut], 0)
    assert first + run(restored(it), script[cut:], len(script[:cut])) == whole


def test_a_new_topic_begins_with_those_whose_goals_are_nearest():
    it = router(explore=0.0)
    about = thought(vector=unit(702))
    it.place(about.vector, ["bank"], 0.0)
    told = [e.to for e in sends(it.speak(about, 0.0))]
    assert "bank" in told
    assert len(told) == 2
    assert "watcher" not in told


def test_exploring_says_something_to_somebody_new():
    it = router(explore=0.0)
    about = thought(vector=unit(702))
    it.place(about.vector, ["bank"], 0.0)
    usual = {e.to for e in sends(it.speak(about, 0.0))}
    curious = restored(it, explore=1.0)
    told = [e.to for e in sends(curious.speak(about, 1.0))]
    assert len(told) == 2
    assert len(usual & set(told)) == 1


def test_the_stronger_connection_is_preferred():
    it = router(explore=0.0, fan_out=1)
    about = thought(vector=unit(1))
    it.place(about.vector, ["x"], 0.0)
    ((key, label),) = [(t.key, t.label) for t in it.topics._topics]
    it.registry.open(key, label, "plan", 0.0, "test")
    it.registry.open(key, label, "cold", 0.0, "test")
    it.registry.use(key, "plan", 0.0)
    it.credited(Credit("plan", key, "t-1", "conscious"), 1.0)
    (sent,) = sends(it.speak(about, 2.0))
    assert sent.to == "plan"
    assert sent.priority == pytest.approx(sent.event.weight * about.salience)


def test_strangers_and_foreign_topics_are_refused_with_the_reason():
    it = router()
    for i in range(10):
        it.place(unit(1), ["x"], float(i))
    it.asked(Register("stranger", unit(1), "label", "t-1"), 20.0)
    it.asked(Register("cold", -unit(1), "label", "t-1"), 20.0)
    it.asked(Register("own", unit(1), "label", "t-1"), 20.0)
    changes = it.record()[0].write.changes
    assert {c.kind for c in changes} == {ChangeKind.REFUSED}
    assert [c.reason for c in changes] == ["nobody I know", "not a topic of mine", "nobody I know"]
    assert len(it.registry) == 0


def test_meeting_an_author_connects_and_asks_to_be_registered_in_return_once():
    it = router()
    about = thought(vector=unit(1))
    (asked,) = sends(it.meet("bank", about, 0.0))
    assert asked.to == "bank"
    assert isinstance(asked.event, Register)
    assert asked.event.sender == "own"
    assert it.meet("bank", about, 1.0) == []
    assert it.meet("own", about, 1.0) == []
    assert it.meet("stranger", about, 1.0) == []


def test_who_only_tells_is_asked_once_in_a_life():
    it = router()
    about = thought(vector=unit(1))
    assert [e.to for e in sends(it.meet("watcher", about, 0.0))] == ["watcher"]
    assert it.meet("watcher", about, 1.0) == []
    again = restored(it)
    assert [e.to for e in sends(again.meet("watcher", about, 2.0))] == ["watcher"]  # the first may not have arrived
    assert again.meet("watcher", about, 3.0) == []


def test_a_peer_that_is_no_longer_there_is_not_spoken_to():
    it = router(explore=0.0)
    about = thought(vector=unit(702))
    it.place(about.vector, ["bank"], 0.0)
    before = {e.to for e in sends(it.speak(about, 0.0))}
    fewer = router(peers=[p for p in PEERS if p.name not in before], explore=0.0)
    fewer.load(unpack(pack(it.dump()), RouterState))
    after = {e.to for e in sends(fewer.speak(about, 1.0))}
    assert after
    assert not after & before
