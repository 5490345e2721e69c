import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from orchestration.pb.submind.v1 import matters_pb2 as _matters_pb2
from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from orchestration.pb.submind.v1 import perception_pb2 as _perception_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FactKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_KIND_UNSPECIFIED: _ClassVar[FactKind]
    FACT_KIND_EMOTIONAL: _ClassVar[FactKind]
    FACT_KIND_STANDARD: _ClassVar[FactKind]
    FACT_KIND_OPERATIONAL: _ClassVar[FactKind]
    FACT_KIND_PLACE: _ClassVar[FactKind]

class FactStanding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FACT_STANDING_UNSPECIFIED: _ClassVar[FactStanding]
    FACT_STANDING_HELD: _ClassVar[FactStanding]
    FACT_STANDING_DISPUTED: _ClassVar[FactStanding]
    FACT_STANDING_WRONG: _ClassVar[FactStanding]

class GoalLayer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GOAL_LAYER_UNSPECIFIED: _ClassVar[GoalLayer]
    GOAL_LAYER_NONE: _ClassVar[GoalLayer]
    GOAL_LAYER_GOAL: _ClassVar[GoalLayer]
    GOAL_LAYER_IDENTITY: _ClassVar[GoalLayer]

class SignalKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SIGNAL_KIND_UNSPECIFIED: _ClassVar[SignalKind]
    SIGNAL_KIND_CONSCIOUS: _ClassVar[SignalKind]
    SIGNAL_KIND_ASKED: _ClassVar[SignalKind]
    SIGNAL_KIND_USEFUL: _ClassVar[SignalKind]

class GoalAct(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GOAL_ACT_UNSPECIFIED: _ClassVar[GoalAct]
    GOAL_ACT_GRANT: _ClassVar[GoalAct]
    GOAL_ACT_REFUSE: _ClassVar[GoalAct]
    GOAL_ACT_SET: _ClassVar[GoalAct]
    GOAL_ACT_DROP: _ClassVar[GoalAct]
FACT_KIND_UNSPECIFIED: FactKind
FACT_KIND_EMOTIONAL: FactKind
FACT_KIND_STANDARD: FactKind
FACT_KIND_OPERATIONAL: FactKind
FACT_KIND_PLACE: FactKind
FACT_STANDING_UNSPECIFIED: FactStanding
FACT_STANDING_HELD: FactStanding
FACT_STANDING_DISPUTED: FactStanding
FACT_STANDING_WRONG: FactStanding
GOAL_LAYER_UNSPECIFIED: GoalLayer
GOAL_LAYER_NONE: GoalLayer
GOAL_LAYER_GOAL: GoalLayer
GOAL_LAYER_IDENTITY: GoalLayer
SIGNAL_KIND_UNSPECIFIED: SignalKind
SIGNAL_KIND_CONSCIOUS: SignalKind
SIGNAL_KIND_ASKED: SignalKind
SIGNAL_KIND_USEFUL: SignalKind
GOAL_ACT_UNSPECIFIED: GoalAct
GOAL_ACT_GRANT: GoalAct
GOAL_ACT_REFUSE: GoalAct
GOAL_ACT_SET: GoalAct
GOAL_ACT_DROP: GoalAct

class Fact(_message.Message):
    __slots__ = ("id", "subject", "relation", "value", "kind", "since", "until", "learned", "closed", "confidence", "trust", "evidence", "sightings", "standing", "reason", "against")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    LEARNED_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    SIGHTINGS_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AGAINST_FIELD_NUMBER: _ClassVar[int]
    id: str
    subject: str
    relation: str
    value: str
    kind: FactKind
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    learned: _timestamp_pb2.Timestamp
    closed: _timestamp_pb2.Timestamp
    confidence: float
    trust: float
    evidence: _containers.RepeatedCompositeFieldContainer[_perception_pb2.PerceptionRef]
    sightings: int
    standing: FactStanding
    reason: str
    against: _containers.RepeatedCompositeFieldContainer[_perception_pb2.PerceptionRef]
    def __init__(self, id: _Optional[str] = ..., subject: _Optional[str] = ..., relation: _Optional[str] = ..., value: _Optional[str] = ..., kind: _Optional[_Union[FactKind, str]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., learned: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., closed: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., confidence: _Optional[float] = ..., trust: _Optional[float] = ..., evidence: _Optional[_Iterable[_Union[_perception_pb2.PerceptionRef, _Mapping]]] = ..., sightings: _Optional[int] = ..., standing: _Optional[_Union[FactStanding, str]] = ..., reason: _Optional[str] = ..., against: _Optional[_Iterable[_Union[_perception_pb2.PerceptionRef, _Mapping]]] = ...) -> None: ...

class Neighbour(_message.Message):
    __slots__ = ("name", "kind", "strength")
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STRENGTH_FIELD_NUMBER: _ClassVar[int]
    name: str
    kind: str
    strength: float
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., strength: _Optional[float] = ...) -> None: ...

class Contradiction(_message.Message):
    __slots__ = ("id", "subject", "relation", "facts", "values", "opened", "settled", "right", "how", "entity")
    ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    RIGHT_FIELD_NUMBER: _ClassVar[int]
    HOW_FIELD_NUMBER: _ClassVar[int]
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    id: str
    subject: str
    relation: str
    facts: _containers.RepeatedScalarFieldContainer[str]
    values: _containers.RepeatedScalarFieldContainer[str]
    opened: _timestamp_pb2.Timestamp
    settled: _timestamp_pb2.Timestamp
    right: str
    how: str
    entity: str
    def __init__(self, id: _Optional[str] = ..., subject: _Optional[str] = ..., relation: _Optional[str] = ..., facts: _Optional[_Iterable[str]] = ..., values: _Optional[_Iterable[str]] = ..., opened: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., settled: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., right: _Optional[str] = ..., how: _Optional[str] = ..., entity: _Optional[str] = ...) -> None: ...

class EntityPage(_message.Message):
    __slots__ = ("name", "aliases", "first", "last", "sightings", "facts", "others", "neighbours", "contradictions", "owed", "owes", "matters", "elsewhere")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    SIGHTINGS_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    OWED_FIELD_NUMBER: _ClassVar[int]
    OWES_FIELD_NUMBER: _ClassVar[int]
    MATTERS_FIELD_NUMBER: _ClassVar[int]
    ELSEWHERE_FIELD_NUMBER: _ClassVar[int]
    name: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    first: _perception_pb2.PerceptionRef
    last: _perception_pb2.PerceptionRef
    sightings: int
    facts: _containers.RepeatedCompositeFieldContainer[Fact]
    others: _containers.RepeatedCompositeFieldContainer[Fact]
    neighbours: _containers.RepeatedCompositeFieldContainer[Neighbour]
    contradictions: _containers.RepeatedCompositeFieldContainer[Contradiction]
    owed: _containers.RepeatedCompositeFieldContainer[_matters_pb2.OpenLoop]
    owes: _containers.RepeatedCompositeFieldContainer[_matters_pb2.OpenLoop]
    matters: _containers.RepeatedCompositeFieldContainer[_matters_pb2.Matter]
    elsewhere: _containers.RepeatedCompositeFieldContainer[Fact]
    def __init__(self, name: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., first: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., last: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., sightings: _Optional[int] = ..., facts: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ..., others: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ..., neighbours: _Optional[_Iterable[_Union[Neighbour, _Mapping]]] = ..., contradictions: _Optional[_Iterable[_Union[Contradiction, _Mapping]]] = ..., owed: _Optional[_Iterable[_Union[_matters_pb2.OpenLoop, _Mapping]]] = ..., owes: _Optional[_Iterable[_Union[_matters_pb2.OpenLoop, _Mapping]]] = ..., matters: _Optional[_Iterable[_Union[_matters_pb2.Matter, _Mapping]]] = ..., elsewhere: _Optional[_Iterable[_Union[Fact, _Mapping]]] = ...) -> None: ...

class KnownEntity(_message.Message):
    __slots__ = ("id", "name", "aliases", "last", "sightings", "speaks")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALIASES_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    SIGHTINGS_FIELD_NUMBER: _ClassVar[int]
    SPEAKS_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    aliases: _containers.RepeatedScalarFieldContainer[str]
    last: _perception_pb2.PerceptionRef
    sightings: int
    speaks: bool
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., aliases: _Optional[_Iterable[str]] = ..., last: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., sightings: _Optional[int] = ..., speaks: _Optional[bool] = ...) -> None: ...

class KnownEdge(_message.Message):
    __slots__ = ("one", "other", "kind", "strength", "used", "evidence")
    ONE_FIELD_NUMBER: _ClassVar[int]
    OTHER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STRENGTH_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    one: str
    other: str
    kind: str
    strength: float
    used: _timestamp_pb2.Timestamp
    evidence: _perception_pb2.PerceptionRef
    def __init__(self, one: _Optional[str] = ..., other: _Optional[str] = ..., kind: _Optional[str] = ..., strength: _Optional[float] = ..., used: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., evidence: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ...) -> None: ...

class Neighbourhood(_message.Message):
    __slots__ = ("entities", "edges")
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    entities: _containers.RepeatedCompositeFieldContainer[KnownEntity]
    edges: _containers.RepeatedCompositeFieldContainer[KnownEdge]
    def __init__(self, entities: _Optional[_Iterable[_Union[KnownEntity, _Mapping]]] = ..., edges: _Optional[_Iterable[_Union[KnownEdge, _Mapping]]] = ...) -> None: ...

class ListEntitiesRequest(_message.Message):
    __slots__ = ("text", "limit")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    text: str
    limit: int
    def __init__(self, text: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListEntitiesResponse(_message.Message):
    __slots__ = ("entities",)
    ENTITIES_FIELD_NUMBER: _ClassVar[int]
    entities: _containers.RepeatedCompositeFieldContainer[KnownEntity]
    def __init__(self, entities: _Optional[_Iterable[_Union[KnownEntity, _Mapping]]] = ...) -> None: ...

class GetNeighbourhoodRequest(_message.Message):
    __slots__ = ("entity", "limit")
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    entity: str
    limit: int
    def __init__(self, entity: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class GetNeighbourhoodResponse(_message.Message):
    __slots__ = ("neighbourhood",)
    NEIGHBOURHOOD_FIELD_NUMBER: _ClassVar[int]
    neighbourhood: Neighbourhood
    def __init__(self, neighbourhood: _Optional[_Union[Neighbourhood, _Mapping]] = ...) -> None: ...

class KnowRequest(_message.Message):
    __slots__ = ("entity", "at", "known")
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    entity: str
    at: _timestamp_pb2.Timestamp
    known: _timestamp_pb2.Timestamp
    def __init__(self, entity: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., known: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class KnowResponse(_message.Message):
    __slots__ = ("page",)
    PAGE_FIELD_NUMBER: _ClassVar[int]
    page: EntityPage
    def __init__(self, page: _Optional[_Union[EntityPage, _Mapping]] = ...) -> None: ...

class FactEvidence(_message.Message):
    __slots__ = ("perception", "text")
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    perception: _perception_pb2.PerceptionRef
    text: str
    def __init__(self, perception: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class Belief(_message.Message):
    __slots__ = ("fact", "evidence")
    FACT_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    fact: Fact
    evidence: _containers.RepeatedCompositeFieldContainer[FactEvidence]
    def __init__(self, fact: _Optional[_Union[Fact, _Mapping]] = ..., evidence: _Optional[_Iterable[_Union[FactEvidence, _Mapping]]] = ...) -> None: ...

class BelieveRequest(_message.Message):
    __slots__ = ("entity", "relation")
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    entity: str
    relation: str
    def __init__(self, entity: _Optional[str] = ..., relation: _Optional[str] = ...) -> None: ...

class BelieveResponse(_message.Message):
    __slots__ = ("beliefs",)
    BELIEFS_FIELD_NUMBER: _ClassVar[int]
    beliefs: _containers.RepeatedCompositeFieldContainer[Belief]
    def __init__(self, beliefs: _Optional[_Iterable[_Union[Belief, _Mapping]]] = ...) -> None: ...

class CorrectRequest(_message.Message):
    __slots__ = ("entity", "relation", "value", "by", "said")
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    RELATION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    SAID_FIELD_NUMBER: _ClassVar[int]
    entity: str
    relation: str
    value: str
    by: str
    said: _timestamp_pb2.Timestamp
    def __init__(self, entity: _Optional[str] = ..., relation: _Optional[str] = ..., value: _Optional[str] = ..., by: _Optional[str] = ..., said: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CorrectResponse(_message.Message):
    __slots__ = ("mark", "known")
    MARK_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    mark: _matters_pb2.Mark
    known: bool
    def __init__(self, mark: _Optional[_Union[_matters_pb2.Mark, _Mapping]] = ..., known: _Optional[bool] = ...) -> None: ...

class ListContradictionsRequest(_message.Message):
    __slots__ = ("all", "limit")
    ALL_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    all: bool
    limit: int
    def __init__(self, all: _Optional[bool] = ..., limit: _Optional[int] = ...) -> None: ...

class ListContradictionsResponse(_message.Message):
    __slots__ = ("contradictions",)
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    contradictions: _containers.RepeatedCompositeFieldContainer[Contradiction]
    def __init__(self, contradictions: _Optional[_Iterable[_Union[Contradiction, _Mapping]]] = ...) -> None: ...

class SleepLine(_message.Message):
    __slots__ = ("entity", "text", "why")
    ENTITY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    entity: str
    text: str
    why: str
    def __init__(self, entity: _Optional[str] = ..., text: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class SleepPart(_message.Message):
    __slots__ = ("count", "lines")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    count: int
    lines: _containers.RepeatedCompositeFieldContainer[SleepLine]
    def __init__(self, count: _Optional[int] = ..., lines: _Optional[_Iterable[_Union[SleepLine, _Mapping]]] = ...) -> None: ...

class SleepReport(_message.Message):
    __slots__ = ("id", "at", "since", "reason", "perceptions", "gists", "merged", "faded", "contradictions", "rehearsed")
    ID_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PERCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    GISTS_FIELD_NUMBER: _ClassVar[int]
    MERGED_FIELD_NUMBER: _ClassVar[int]
    FADED_FIELD_NUMBER: _ClassVar[int]
    CONTRADICTIONS_FIELD_NUMBER: _ClassVar[int]
    REHEARSED_FIELD_NUMBER: _ClassVar[int]
    id: str
    at: _timestamp_pb2.Timestamp
    since: _timestamp_pb2.Timestamp
    reason: str
    perceptions: int
    gists: SleepPart
    merged: SleepPart
    faded: SleepPart
    contradictions: SleepPart
    rehearsed: SleepPart
    def __init__(self, id: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., perceptions: _Optional[int] = ..., gists: _Optional[_Union[SleepPart, _Mapping]] = ..., merged: _Optional[_Union[SleepPart, _Mapping]] = ..., faded: _Optional[_Union[SleepPart, _Mapping]] = ..., contradictions: _Optional[_Union[SleepPart, _Mapping]] = ..., rehearsed: _Optional[_Union[SleepPart, _Mapping]] = ...) -> None: ...

class ListSleepsRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class ListSleepsResponse(_message.Message):
    __slots__ = ("sleeps",)
    SLEEPS_FIELD_NUMBER: _ClassVar[int]
    sleeps: _containers.RepeatedCompositeFieldContainer[SleepReport]
    def __init__(self, sleeps: _Optional[_Iterable[_Union[SleepReport, _Mapping]]] = ...) -> None: ...

class GoalSignal(_message.Message):
    __slots__ = ("at", "kind", "perception")
    AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    kind: SignalKind
    perception: _perception_pb2.PerceptionRef
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[_Union[SignalKind, str]] = ..., perception: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ...) -> None: ...

class StandingGoal(_message.Message):
    __slots__ = ("id", "text", "layer", "weight", "proposed", "evidence", "decided", "by")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PROPOSED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    DECIDED_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    layer: GoalLayer
    weight: float
    proposed: GoalLayer
    evidence: _containers.RepeatedCompositeFieldContainer[GoalSignal]
    decided: _timestamp_pb2.Timestamp
    by: str
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., layer: _Optional[_Union[GoalLayer, str]] = ..., weight: _Optional[float] = ..., proposed: _Optional[_Union[GoalLayer, str]] = ..., evidence: _Optional[_Iterable[_Union[GoalSignal, _Mapping]]] = ..., decided: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ...) -> None: ...

class ListGoalsRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class ListGoalsResponse(_message.Message):
    __slots__ = ("goals",)
    GOALS_FIELD_NUMBER: _ClassVar[int]
    goals: _containers.RepeatedCompositeFieldContainer[StandingGoal]
    def __init__(self, goals: _Optional[_Iterable[_Union[StandingGoal, _Mapping]]] = ...) -> None: ...

class SetGoalRequest(_message.Message):
    __slots__ = ("goal", "act", "layer", "weight", "by")
    GOAL_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    goal: str
    act: GoalAct
    layer: GoalLayer
    weight: float
    by: str
    def __init__(self, goal: _Optional[str] = ..., act: _Optional[_Union[GoalAct, str]] = ..., layer: _Optional[_Union[GoalLayer, str]] = ..., weight: _Optional[float] = ..., by: _Optional[str] = ...) -> None: ...

class SetGoalResponse(_message.Message):
    __slots__ = ("goal",)
    GOAL_FIELD_NUMBER: _ClassVar[int]
    goal: StandingGoal
    def __init__(self, goal: _Optional[_Union[StandingGoal, _Mapping]] = ...) -> None: ...
