import datetime

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

class EntryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENTRY_KIND_UNSPECIFIED: _ClassVar[EntryKind]
    ENTRY_KIND_THOUGHT: _ClassVar[EntryKind]
    ENTRY_KIND_SEGUE: _ClassVar[EntryKind]
    ENTRY_KIND_ANSWER: _ClassVar[EntryKind]

class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEVERITY_UNSPECIFIED: _ClassVar[Severity]
    SEVERITY_INFO: _ClassVar[Severity]
    SEVERITY_NOTABLE: _ClassVar[Severity]
    SEVERITY_WARNING: _ClassVar[Severity]
    SEVERITY_CRITICAL: _ClassVar[Severity]

class Ground(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GROUND_UNSPECIFIED: _ClassVar[Ground]
    GROUND_STOOD_OUT: _ClassVar[Ground]
    GROUND_WELCOME: _ClassVar[Ground]
    GROUND_BROKE_IN: _ClassVar[Ground]

class ExplanationKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXPLANATION_KIND_UNSPECIFIED: _ClassVar[ExplanationKind]
    EXPLANATION_KIND_ENTRY: _ClassVar[ExplanationKind]
    EXPLANATION_KIND_TRACE: _ClassVar[ExplanationKind]
    EXPLANATION_KIND_PERCEPTION: _ClassVar[ExplanationKind]

class Standing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STANDING_UNSPECIFIED: _ClassVar[Standing]
    STANDING_KEPT: _ClassVar[Standing]
    STANDING_RETIRED: _ClassVar[Standing]
    STANDING_FORGOTTEN: _ClassVar[Standing]
ENTRY_KIND_UNSPECIFIED: EntryKind
ENTRY_KIND_THOUGHT: EntryKind
ENTRY_KIND_SEGUE: EntryKind
ENTRY_KIND_ANSWER: EntryKind
SEVERITY_UNSPECIFIED: Severity
SEVERITY_INFO: Severity
SEVERITY_NOTABLE: Severity
SEVERITY_WARNING: Severity
SEVERITY_CRITICAL: Severity
GROUND_UNSPECIFIED: Ground
GROUND_STOOD_OUT: Ground
GROUND_WELCOME: Ground
GROUND_BROKE_IN: Ground
EXPLANATION_KIND_UNSPECIFIED: ExplanationKind
EXPLANATION_KIND_ENTRY: ExplanationKind
EXPLANATION_KIND_TRACE: ExplanationKind
EXPLANATION_KIND_PERCEPTION: ExplanationKind
STANDING_UNSPECIFIED: Standing
STANDING_KEPT: Standing
STANDING_RETIRED: Standing
STANDING_FORGOTTEN: Standing

class Decision(_message.Message):
    __slots__ = ("ground", "parts", "rank", "needed", "among", "beaten", "beaten_text", "beaten_salience", "quoted", "words", "worth", "judged", "judged_by")
    class PartsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    GROUND_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    NEEDED_FIELD_NUMBER: _ClassVar[int]
    AMONG_FIELD_NUMBER: _ClassVar[int]
    BEATEN_FIELD_NUMBER: _ClassVar[int]
    BEATEN_TEXT_FIELD_NUMBER: _ClassVar[int]
    BEATEN_SALIENCE_FIELD_NUMBER: _ClassVar[int]
    QUOTED_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    WORTH_FIELD_NUMBER: _ClassVar[int]
    JUDGED_FIELD_NUMBER: _ClassVar[int]
    JUDGED_BY_FIELD_NUMBER: _ClassVar[int]
    ground: Ground
    parts: _containers.ScalarMap[str, float]
    rank: float
    needed: float
    among: int
    beaten: str
    beaten_text: str
    beaten_salience: float
    quoted: bool
    words: str
    worth: float
    judged: str
    judged_by: str
    def __init__(self, ground: _Optional[_Union[Ground, str]] = ..., parts: _Optional[_Mapping[str, float]] = ..., rank: _Optional[float] = ..., needed: _Optional[float] = ..., among: _Optional[int] = ..., beaten: _Optional[str] = ..., beaten_text: _Optional[str] = ..., beaten_salience: _Optional[float] = ..., quoted: _Optional[bool] = ..., words: _Optional[str] = ..., worth: _Optional[float] = ..., judged: _Optional[str] = ..., judged_by: _Optional[str] = ...) -> None: ...

class StreamEntry(_message.Message):
    __slots__ = ("seq", "id", "kind", "text", "time", "at", "salience", "confidence", "trust", "perceptions", "lineage", "focus", "author", "worded_by", "severity", "why")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    PERCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    FOCUS_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    WORDED_BY_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    seq: int
    id: str
    kind: EntryKind
    text: str
    time: _timestamp_pb2.Timestamp
    at: _timestamp_pb2.Timestamp
    salience: float
    confidence: float
    trust: float
    perceptions: _containers.RepeatedCompositeFieldContainer[_perception_pb2.PerceptionRef]
    lineage: _containers.RepeatedScalarFieldContainer[str]
    focus: str
    author: str
    worded_by: str
    severity: Severity
    why: Decision
    def __init__(self, seq: _Optional[int] = ..., id: _Optional[str] = ..., kind: _Optional[_Union[EntryKind, str]] = ..., text: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., salience: _Optional[float] = ..., confidence: _Optional[float] = ..., trust: _Optional[float] = ..., perceptions: _Optional[_Iterable[_Union[_perception_pb2.PerceptionRef, _Mapping]]] = ..., lineage: _Optional[_Iterable[str]] = ..., focus: _Optional[str] = ..., author: _Optional[str] = ..., worded_by: _Optional[str] = ..., severity: _Optional[_Union[Severity, str]] = ..., why: _Optional[_Union[Decision, _Mapping]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("from_seq", "kinds", "min_salience", "source", "contains", "after")
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    MIN_SALIENCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CONTAINS_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    from_seq: int
    kinds: _containers.RepeatedScalarFieldContainer[EntryKind]
    min_salience: float
    source: str
    contains: str
    after: int
    def __init__(self, from_seq: _Optional[int] = ..., kinds: _Optional[_Iterable[_Union[EntryKind, str]]] = ..., min_salience: _Optional[float] = ..., source: _Optional[str] = ..., contains: _Optional[str] = ..., after: _Optional[int] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("entry", "mark")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    entry: StreamEntry
    mark: int
    def __init__(self, entry: _Optional[_Union[StreamEntry, _Mapping]] = ..., mark: _Optional[int] = ...) -> None: ...

class ListEntriesRequest(_message.Message):
    __slots__ = ("from_seq", "limit")
    FROM_SEQ_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    from_seq: int
    limit: int
    def __init__(self, from_seq: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListEntriesResponse(_message.Message):
    __slots__ = ("entries", "head")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[StreamEntry]
    head: int
    def __init__(self, entries: _Optional[_Iterable[_Union[StreamEntry, _Mapping]]] = ..., head: _Optional[int] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("explanation",)
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    explanation: Explanation
    def __init__(self, explanation: _Optional[_Union[Explanation, _Mapping]] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("id", "kind", "text", "time", "source", "author", "salience", "confidence", "trust", "children", "truncated", "standing", "trace_id", "evidence", "link", "worded_by", "severity", "why")
    class EvidenceEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    STANDING_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    WORDED_BY_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: ExplanationKind
    text: str
    time: _timestamp_pb2.Timestamp
    source: str
    author: str
    salience: float
    confidence: float
    trust: float
    children: _containers.RepeatedCompositeFieldContainer[Explanation]
    truncated: bool
    standing: Standing
    trace_id: str
    evidence: _containers.ScalarMap[str, float]
    link: str
    worded_by: str
    severity: Severity
    why: Decision
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[ExplanationKind, str]] = ..., text: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., source: _Optional[str] = ..., author: _Optional[str] = ..., salience: _Optional[float] = ..., confidence: _Optional[float] = ..., trust: _Optional[float] = ..., children: _Optional[_Iterable[_Union[Explanation, _Mapping]]] = ..., truncated: _Optional[bool] = ..., standing: _Optional[_Union[Standing, str]] = ..., trace_id: _Optional[str] = ..., evidence: _Optional[_Mapping[str, float]] = ..., link: _Optional[str] = ..., worded_by: _Optional[str] = ..., severity: _Optional[_Union[Severity, str]] = ..., why: _Optional[_Union[Decision, _Mapping]] = ...) -> None: ...
