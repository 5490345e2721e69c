import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from orchestration.pb.submind.v1 import perception_pb2 as _perception_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ThoughtKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    THOUGHT_KIND_UNSPECIFIED: _ClassVar[ThoughtKind]
    THOUGHT_KIND_PERCEPT: _ClassVar[ThoughtKind]
    THOUGHT_KIND_INSIGHT: _ClassVar[ThoughtKind]
    THOUGHT_KIND_REFLECTION: _ClassVar[ThoughtKind]
    THOUGHT_KIND_RESULT: _ClassVar[ThoughtKind]
THOUGHT_KIND_UNSPECIFIED: ThoughtKind
THOUGHT_KIND_PERCEPT: ThoughtKind
THOUGHT_KIND_INSIGHT: ThoughtKind
THOUGHT_KIND_REFLECTION: ThoughtKind
THOUGHT_KIND_RESULT: ThoughtKind

class Level(_message.Message):
    __slots__ = ("value", "at", "half_life")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    HALF_LIFE_FIELD_NUMBER: _ClassVar[int]
    value: float
    at: _timestamp_pb2.Timestamp
    half_life: _duration_pb2.Duration
    def __init__(self, value: _Optional[float] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., half_life: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Via(_message.Message):
    __slots__ = ("sender", "topic")
    SENDER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    sender: str
    topic: str
    def __init__(self, sender: _Optional[str] = ..., topic: _Optional[str] = ...) -> None: ...

class Trace(_message.Message):
    __slots__ = ("id", "version", "author", "authors", "kind", "text", "time", "at", "salience", "level", "live", "confidence", "trust", "topic", "parents", "perceptions", "associations", "emotions", "evidence", "insights", "count", "conscious", "depth", "via", "first_salience", "worded_by")
    class EmotionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class EvidenceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    AUTHORS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PARENTS_FIELD_NUMBER: _ClassVar[int]
    PERCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    ASSOCIATIONS_FIELD_NUMBER: _ClassVar[int]
    EMOTIONS_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    INSIGHTS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CONSCIOUS_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    FIRST_SALIENCE_FIELD_NUMBER: _ClassVar[int]
    WORDED_BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: int
    author: str
    authors: _containers.RepeatedScalarFieldContainer[str]
    kind: ThoughtKind
    text: str
    time: _timestamp_pb2.Timestamp
    at: _timestamp_pb2.Timestamp
    salience: float
    level: Level
    live: bool
    confidence: float
    trust: float
    topic: str
    parents: _containers.RepeatedScalarFieldContainer[str]
    perceptions: _containers.RepeatedCompositeFieldContainer[_perception_pb2.PerceptionRef]
    associations: _containers.RepeatedScalarFieldContainer[str]
    emotions: _containers.ScalarMap[str, float]
    evidence: _containers.ScalarMap[str, float]
    insights: _containers.RepeatedScalarFieldContainer[str]
    count: int
    conscious: int
    depth: int
    via: _containers.RepeatedCompositeFieldContainer[Via]
    first_salience: float
    worded_by: str
    def __init__(self, id: _Optional[str] = ..., version: _Optional[int] = ..., author: _Optional[str] = ..., authors: _Optional[_Iterable[str]] = ..., kind: _Optional[_Union[ThoughtKind, str]] = ..., text: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., salience: _Optional[float] = ..., level: _Optional[_Union[Level, _Mapping]] = ..., live: _Optional[bool] = ..., confidence: _Optional[float] = ..., trust: _Optional[float] = ..., topic: _Optional[str] = ..., parents: _Optional[_Iterable[str]] = ..., perceptions: _Optional[_Iterable[_Union[_perception_pb2.PerceptionRef, _Mapping]]] = ..., associations: _Optional[_Iterable[str]] = ..., emotions: _Optional[_Mapping[str, float]] = ..., evidence: _Optional[_Mapping[str, float]] = ..., insights: _Optional[_Iterable[str]] = ..., count: _Optional[int] = ..., conscious: _Optional[int] = ..., depth: _Optional[int] = ..., via: _Optional[_Iterable[_Union[Via, _Mapping]]] = ..., first_salience: _Optional[float] = ..., worded_by: _Optional[str] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("text", "k", "source", "author", "kind", "since", "until", "min_salience")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    MIN_SALIENCE_FIELD_NUMBER: _ClassVar[int]
    text: str
    k: int
    source: str
    author: str
    kind: ThoughtKind
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    min_salience: float
    def __init__(self, text: _Optional[str] = ..., k: _Optional[int] = ..., source: _Optional[str] = ..., author: _Optional[str] = ..., kind: _Optional[_Union[ThoughtKind, str]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., min_salience: _Optional[float] = ...) -> None: ...

class ListTracesRequest(_message.Message):
    __slots__ = ("limit",)
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    limit: int
    def __init__(self, limit: _Optional[int] = ...) -> None: ...

class ListTracesResponse(_message.Message):
    __slots__ = ("traces",)
    TRACES_FIELD_NUMBER: _ClassVar[int]
    traces: _containers.RepeatedCompositeFieldContainer[Trace]
    def __init__(self, traces: _Optional[_Iterable[_Union[Trace, _Mapping]]] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("hits",)
    HITS_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    def __init__(self, hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("trace", "score", "salience", "also")
    TRACE_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    trace: Trace
    score: float
    salience: float
    also: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, trace: _Optional[_Union[Trace, _Mapping]] = ..., score: _Optional[float] = ..., salience: _Optional[float] = ..., also: _Optional[_Iterable[str]] = ...) -> None: ...

class GetTraceRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetTraceResponse(_message.Message):
    __slots__ = ("revisions",)
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.RepeatedCompositeFieldContainer[Trace]
    def __init__(self, revisions: _Optional[_Iterable[_Union[Trace, _Mapping]]] = ...) -> None: ...

class AskRequest(_message.Message):
    __slots__ = ("question", "earlier")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    EARLIER_FIELD_NUMBER: _ClassVar[int]
    question: str
    earlier: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, question: _Optional[str] = ..., earlier: _Optional[_Iterable[str]] = ...) -> None: ...

class AskResponse(_message.Message):
    __slots__ = ("text", "known", "parts", "trust", "confidence", "asks", "state", "progress", "worded_by")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    ASKS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    WORDED_BY_FIELD_NUMBER: _ClassVar[int]
    text: str
    known: bool
    parts: _containers.RepeatedCompositeFieldContainer[Quotation]
    trust: float
    confidence: float
    asks: bool
    state: str
    progress: str
    worded_by: str
    def __init__(self, text: _Optional[str] = ..., known: _Optional[bool] = ..., parts: _Optional[_Iterable[_Union[Quotation, _Mapping]]] = ..., trust: _Optional[float] = ..., confidence: _Optional[float] = ..., asks: _Optional[bool] = ..., state: _Optional[str] = ..., progress: _Optional[str] = ..., worded_by: _Optional[str] = ...) -> None: ...

class Quotation(_message.Message):
    __slots__ = ("text", "perception")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    text: str
    perception: _perception_pb2.PerceptionRef
    def __init__(self, text: _Optional[str] = ..., perception: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ...) -> None: ...

class RecallRequest(_message.Message):
    __slots__ = ("text", "k", "source", "since", "until", "budget")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    K_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    text: str
    k: int
    source: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    budget: int
    def __init__(self, text: _Optional[str] = ..., k: _Optional[int] = ..., source: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., budget: _Optional[int] = ...) -> None: ...

class RecallResponse(_message.Message):
    __slots__ = ("episodes",)
    EPISODES_FIELD_NUMBER: _ClassVar[int]
    episodes: _containers.RepeatedCompositeFieldContainer[Recollection]
    def __init__(self, episodes: _Optional[_Iterable[_Union[Recollection, _Mapping]]] = ...) -> None: ...

class Recollection(_message.Message):
    __slots__ = ("text", "perception", "trust", "score", "words", "near", "meaning", "when", "who", "also", "around", "goal", "counted")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    NEAR_FIELD_NUMBER: _ClassVar[int]
    MEANING_FIELD_NUMBER: _ClassVar[int]
    WHEN_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    AROUND_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    COUNTED_FIELD_NUMBER: _ClassVar[int]
    text: str
    perception: _perception_pb2.PerceptionRef
    trust: float
    score: float
    words: _containers.RepeatedScalarFieldContainer[str]
    near: _containers.RepeatedScalarFieldContainer[str]
    meaning: float
    when: str
    who: str
    also: int
    around: _containers.RepeatedCompositeFieldContainer[Quotation]
    goal: str
    counted: int
    def __init__(self, text: _Optional[str] = ..., perception: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., trust: _Optional[float] = ..., score: _Optional[float] = ..., words: _Optional[_Iterable[str]] = ..., near: _Optional[_Iterable[str]] = ..., meaning: _Optional[float] = ..., when: _Optional[str] = ..., who: _Optional[str] = ..., also: _Optional[int] = ..., around: _Optional[_Iterable[_Union[Quotation, _Mapping]]] = ..., goal: _Optional[str] = ..., counted: _Optional[int] = ...) -> None: ...
