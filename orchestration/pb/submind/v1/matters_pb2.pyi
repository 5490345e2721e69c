import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from orchestration.pb.submind.v1 import consciousness_pb2 as _consciousness_pb2
from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from orchestration.pb.submind.v1 import perception_pb2 as _perception_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MatterState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MATTER_STATE_UNSPECIFIED: _ClassVar[MatterState]
    MATTER_STATE_NEW: _ClassVar[MatterState]
    MATTER_STATE_GROWING: _ClassVar[MatterState]
    MATTER_STATE_STEADY: _ClassVar[MatterState]
    MATTER_STATE_SETTLED: _ClassVar[MatterState]
    MATTER_STATE_REOPENED: _ClassVar[MatterState]

class MatterChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MATTER_CHANGE_KIND_UNSPECIFIED: _ClassVar[MatterChangeKind]
    MATTER_CHANGE_KIND_MATTER: _ClassVar[MatterChangeKind]
    MATTER_CHANGE_KIND_LOOP: _ClassVar[MatterChangeKind]
    MATTER_CHANGE_KIND_CLOSED: _ClassVar[MatterChangeKind]

class MarkKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MARK_KIND_UNSPECIFIED: _ClassVar[MarkKind]
    MARK_KIND_USEFUL: _ClassVar[MarkKind]
    MARK_KIND_NOT_USEFUL: _ClassVar[MarkKind]
    MARK_KIND_WRONG: _ClassVar[MarkKind]
    MARK_KIND_MUTE: _ClassVar[MarkKind]
    MARK_KIND_SETTLED: _ClassVar[MarkKind]
    MARK_KIND_REMIND: _ClassVar[MarkKind]
    MARK_KIND_CORRECT: _ClassVar[MarkKind]
    MARK_KIND_GOAL: _ClassVar[MarkKind]

class MuteScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MUTE_SCOPE_UNSPECIFIED: _ClassVar[MuteScope]
    MUTE_SCOPE_SOURCE: _ClassVar[MuteScope]
    MUTE_SCOPE_TEMPLATE: _ClassVar[MuteScope]
    MUTE_SCOPE_MATTER: _ClassVar[MuteScope]
MATTER_STATE_UNSPECIFIED: MatterState
MATTER_STATE_NEW: MatterState
MATTER_STATE_GROWING: MatterState
MATTER_STATE_STEADY: MatterState
MATTER_STATE_SETTLED: MatterState
MATTER_STATE_REOPENED: MatterState
MATTER_CHANGE_KIND_UNSPECIFIED: MatterChangeKind
MATTER_CHANGE_KIND_MATTER: MatterChangeKind
MATTER_CHANGE_KIND_LOOP: MatterChangeKind
MATTER_CHANGE_KIND_CLOSED: MatterChangeKind
MARK_KIND_UNSPECIFIED: MarkKind
MARK_KIND_USEFUL: MarkKind
MARK_KIND_NOT_USEFUL: MarkKind
MARK_KIND_WRONG: MarkKind
MARK_KIND_MUTE: MarkKind
MARK_KIND_SETTLED: MarkKind
MARK_KIND_REMIND: MarkKind
MARK_KIND_CORRECT: MarkKind
MARK_KIND_GOAL: MarkKind
MUTE_SCOPE_UNSPECIFIED: MuteScope
MUTE_SCOPE_SOURCE: MuteScope
MUTE_SCOPE_TEMPLATE: MuteScope
MUTE_SCOPE_MATTER: MuteScope

class MatterLine(_message.Message):
    __slots__ = ("trace", "text", "perception", "salience", "link")
    TRACE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    trace: str
    text: str
    perception: _perception_pb2.PerceptionRef
    salience: float
    link: str
    def __init__(self, trace: _Optional[str] = ..., text: _Optional[str] = ..., perception: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., salience: _Optional[float] = ..., link: _Optional[str] = ...) -> None: ...

class Matter(_message.Message):
    __slots__ = ("id", "title", "state", "began", "changed", "salience", "severity", "lines", "count", "sources", "terms", "entries", "settled_by", "summary")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    BEGAN_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    SALIENCE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    SETTLED_BY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    id: str
    title: str
    state: MatterState
    began: _timestamp_pb2.Timestamp
    changed: _timestamp_pb2.Timestamp
    salience: float
    severity: _consciousness_pb2.Severity
    lines: _containers.RepeatedCompositeFieldContainer[MatterLine]
    count: int
    sources: _containers.RepeatedScalarFieldContainer[str]
    terms: _containers.RepeatedScalarFieldContainer[str]
    entries: _containers.RepeatedScalarFieldContainer[int]
    settled_by: MatterLine
    summary: str
    def __init__(self, id: _Optional[str] = ..., title: _Optional[str] = ..., state: _Optional[_Union[MatterState, str]] = ..., began: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., changed: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., salience: _Optional[float] = ..., severity: _Optional[_Union[_consciousness_pb2.Severity, str]] = ..., lines: _Optional[_Iterable[_Union[MatterLine, _Mapping]]] = ..., count: _Optional[int] = ..., sources: _Optional[_Iterable[str]] = ..., terms: _Optional[_Iterable[str]] = ..., entries: _Optional[_Iterable[int]] = ..., settled_by: _Optional[_Union[MatterLine, _Mapping]] = ..., summary: _Optional[str] = ...) -> None: ...

class OpenLoop(_message.Message):
    __slots__ = ("id", "text", "perception", "due", "asked", "dated")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    DUE_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    DATED_FIELD_NUMBER: _ClassVar[int]
    id: str
    text: str
    perception: _perception_pb2.PerceptionRef
    due: _timestamp_pb2.Timestamp
    asked: bool
    dated: bool
    def __init__(self, id: _Optional[str] = ..., text: _Optional[str] = ..., perception: _Optional[_Union[_perception_pb2.PerceptionRef, _Mapping]] = ..., due: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., asked: _Optional[bool] = ..., dated: _Optional[bool] = ...) -> None: ...

class ListMattersRequest(_message.Message):
    __slots__ = ("since", "open", "limit")
    SINCE_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    since: _timestamp_pb2.Timestamp
    open: bool
    limit: int
    def __init__(self, since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., open: _Optional[bool] = ..., limit: _Optional[int] = ...) -> None: ...

class ListMattersResponse(_message.Message):
    __slots__ = ("matters", "loops")
    MATTERS_FIELD_NUMBER: _ClassVar[int]
    LOOPS_FIELD_NUMBER: _ClassVar[int]
    matters: _containers.RepeatedCompositeFieldContainer[Matter]
    loops: _containers.RepeatedCompositeFieldContainer[OpenLoop]
    def __init__(self, matters: _Optional[_Iterable[_Union[Matter, _Mapping]]] = ..., loops: _Optional[_Iterable[_Union[OpenLoop, _Mapping]]] = ...) -> None: ...

class GetMatterRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetMatterResponse(_message.Message):
    __slots__ = ("matter",)
    MATTER_FIELD_NUMBER: _ClassVar[int]
    matter: Matter
    def __init__(self, matter: _Optional[_Union[Matter, _Mapping]] = ...) -> None: ...

class WatchMattersRequest(_message.Message):
    __slots__ = ("after", "open")
    AFTER_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    after: int
    open: bool
    def __init__(self, after: _Optional[int] = ..., open: _Optional[bool] = ...) -> None: ...

class MatterChange(_message.Message):
    __slots__ = ("kind", "id", "matter", "loop")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    MATTER_FIELD_NUMBER: _ClassVar[int]
    LOOP_FIELD_NUMBER: _ClassVar[int]
    kind: MatterChangeKind
    id: str
    matter: Matter
    loop: OpenLoop
    def __init__(self, kind: _Optional[_Union[MatterChangeKind, str]] = ..., id: _Optional[str] = ..., matter: _Optional[_Union[Matter, _Mapping]] = ..., loop: _Optional[_Union[OpenLoop, _Mapping]] = ...) -> None: ...

class WatchMattersResponse(_message.Message):
    __slots__ = ("change", "mark")
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    change: MatterChange
    mark: int
    def __init__(self, change: _Optional[_Union[MatterChange, _Mapping]] = ..., mark: _Optional[int] = ...) -> None: ...

class Mark(_message.Message):
    __slots__ = ("id", "target", "kind", "at", "by", "text", "of", "value", "until", "matter")
    ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    MATTER_FIELD_NUMBER: _ClassVar[int]
    id: str
    target: str
    kind: MarkKind
    at: _timestamp_pb2.Timestamp
    by: str
    text: str
    of: MuteScope
    value: str
    until: _timestamp_pb2.Timestamp
    matter: str
    def __init__(self, id: _Optional[str] = ..., target: _Optional[str] = ..., kind: _Optional[_Union[MarkKind, str]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ..., text: _Optional[str] = ..., of: _Optional[_Union[MuteScope, str]] = ..., value: _Optional[str] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., matter: _Optional[str] = ...) -> None: ...

class MarkRequest(_message.Message):
    __slots__ = ("target", "kind", "of", "until", "line", "by")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OF_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    target: str
    kind: MarkKind
    of: MuteScope
    until: str
    line: str
    by: str
    def __init__(self, target: _Optional[str] = ..., kind: _Optional[_Union[MarkKind, str]] = ..., of: _Optional[_Union[MuteScope, str]] = ..., until: _Optional[str] = ..., line: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class MarkResponse(_message.Message):
    __slots__ = ("mark",)
    MARK_FIELD_NUMBER: _ClassVar[int]
    mark: Mark
    def __init__(self, mark: _Optional[_Union[Mark, _Mapping]] = ...) -> None: ...

class UndoMarkRequest(_message.Message):
    __slots__ = ("mark", "by")
    MARK_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    mark: str
    by: str
    def __init__(self, mark: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class UndoMarkResponse(_message.Message):
    __slots__ = ("mark",)
    MARK_FIELD_NUMBER: _ClassVar[int]
    mark: Mark
    def __init__(self, mark: _Optional[_Union[Mark, _Mapping]] = ...) -> None: ...

class ListMarksRequest(_message.Message):
    __slots__ = ("target",)
    TARGET_FIELD_NUMBER: _ClassVar[int]
    target: str
    def __init__(self, target: _Optional[str] = ...) -> None: ...

class ListMarksResponse(_message.Message):
    __slots__ = ("marks",)
    MARKS_FIELD_NUMBER: _ClassVar[int]
    marks: _containers.RepeatedCompositeFieldContainer[Mark]
    def __init__(self, marks: _Optional[_Iterable[_Union[Mark, _Mapping]]] = ...) -> None: ...
