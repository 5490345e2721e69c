from actors.effects import Send
from actors.events import Broadcast, Observation, Observed, Post, Posted, Proposal, Propose, Tick, Vitals
from actors.growth import Gone
from actors.metacognition.control import ControlCore
from actors.metacognition.monitoring import MonitoringCore
from actors.metacognition.settings import MetacognitionSettings
from environment.messages import ThoughtKind
from tests.actors.making import DIM, entry, thought, trace, unit


def monitoring(**given) -> MonitoringCore:
    return MonitoringCore("monitoring", "watch", DIM, MetacognitionSettings(**given))


def sent(effects, kind):
    return [e.event for e in effects if isinstance(e, Send) and isinstance(e.event, kind)]


def tell(core, entries):
    effects = []
    for i, t in enumerate(entries):
        effects += core.handle(Broadcast(entry(i + 1, of=t), trace(t)), float(i))
    return effects


def test_repetition_is_said_once_and_control_hears_when_it_is_over():
    core = monitoring()
    effects = tell(core, [thought(vector=unit(1), source=f"s{i}") for i in range(8)])
    (trouble,) = sent(effects, Observed)
    assert (trouble.observation, trouble.over) == (Observation.REPETITION, False)
    ((reflection,),) = [p.thoughts for p in sent(effects, Post)]
    assert reflection.kind is ThoughtKind.REFLECTION
    assert reflection.perceptions
    later = [core.handle(Broadcast(entry(100 + i), trace(thought())), 100.0 + i) for i in range(20)]
    assert [o.over for e in later for o in sent(e, Observed) if o.observation is Observation.REPETITION] == [True]


def test_one_source_filling_the_stream_is_noticed():
    effects = tell(monitoring(window=10), [thought(source="flood") for _ in range(9)] + [thought(source="x")] * 1)
    assert Observation.DOMINANCE in {o.observation for o in sent(effects, Observed)}


def test_the_same_few_things_coming_back_are_a_loop():
    effects = tell(monitoring(loop=3), [thought(associations=("printer",)) for _ in range(6)])
    assert Observation.LOOP in {o.observation for o in sent(effects, Observed)}


def test_a_varied_stream_is_left_in_peace():
    effects = tell(monitoring(), [thought(source=f"s{i % 5}", associations=(f"a{i}",)) for i in range(40)])
    assert not sent(effects, Observed)


def test_drops_are_overload_and_fallbacks_are_budget():
    core = monitoring()
    core.handle(Vitals("text", {"messages_dropped_total": 0.0}), 0.0)
    assert not sent(core.handle(Vitals("text", {"messages_dropped_total": 0.0}), 3600.0), Observed)
    effects = core.handle(Vitals("text", {"messages_dropped_total": 50.0}), 7200.0)
    assert [o.observation for o in sent(effects, Observed)] == [Observation.OVERLOAD]
    effects = core.handle(Vitals("concern", {"fallbacks_total": 3.0}), 7300.0)
    assert [o.observation for o in sent(effects, Observed)] == [Observation.BUDGET]


def test_control_proposes_slowly_and_takes_back():
    core = ControlCore("control", "propose", MetacognitionSettings(act_every=1800.0))
    trouble = Observed(Observation.REPETITION, over=False, reason="alike")
    (proposal,) = sent(core.handle(trouble, 0.0), Propose)
    assert proposal.proposal is Proposal.WIDEN_INHIBITION
    assert not sent(core.handle(Observed(Observation.OVERLOAD, over=False, reason="drops"), 10.0), Propose)
    assert [p.proposal for p in sent(core.handle(Tick(), 1900.0), Propose)] == [Proposal.RAISE_THRESHOLD]
    core.handle(Observed(Observation.REPETITION, over=True, reason="fine"), 2000.0)
    reborn = ControlCore("control", "propose", MetacognitionSettings(act_every=1800.0))
    reborn.restore(core.snapshot())
    assert [p.proposal for p in sent(reborn.handle(Tick(), 4000.0), Propose)] == [Proposal.NARROW_INHIBITION]


def test_who_has_ended_is_in_no_trouble_and_leaves_nothing_behind():
    core = monitoring()
    tell(core, [thought(source=f"s{i}") for i in range(6)])
    empty = len(core.snapshot())
    for number in range(100):
        name = f"people-{number:03}"
        for dropped in (0.0, 5000.0):
            core.handle(Vitals(name, {"messages_dropped_total": dropped}), 100.0 * number + dropped / 100)
        over = sent(core.handle(Gone(name, "people"), 100.0 * number + 60), Observed)
        assert [(o.observation, o.over) for o in over] == [(Observation.OVERLOAD, True)]
    core.handle(Posted("", tuple(t.id for t in core._unacknowledged.dump())), 1e5)
    assert len(core.snapshot()) == empty
    assert core.describe().figures["troubles"] == 0


def test_monitoring_survives_a_snapshot():
    core = monitoring()
    tell(core, [thought(vector=unit(1)) for _ in range(8)])
    reborn = monitoring()
    reborn.restore(core.snapshot())
    assert reborn.describe() == core.describe()
    assert not sent(reborn.handle(Broadcast(entry(50, of=thought(vector=unit(1))), trace()), 60.0), Observed)
