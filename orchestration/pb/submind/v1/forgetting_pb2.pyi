import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ScopeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCOPE_KIND_UNSPECIFIED: _ClassVar[ScopeKind]
    SCOPE_KIND_PERSON: _ClassVar[ScopeKind]
    SCOPE_KIND_SOURCE: _ClassVar[ScopeKind]
    SCOPE_KIND_RANGE: _ClassVar[ScopeKind]
    SCOPE_KIND_PERCEPTION: _ClassVar[ScopeKind]

class ForgetState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORGET_STATE_UNSPECIFIED: _ClassVar[ForgetState]
    FORGET_STATE_ASKED: _ClassVar[ForgetState]
    FORGET_STATE_RUNNING: _ClassVar[ForgetState]
    FORGET_STATE_SWEEPING: _ClassVar[ForgetState]
    FORGET_STATE_DONE: _ClassVar[ForgetState]
    FORGET_STATE_REFUSED: _ClassVar[ForgetState]
SCOPE_KIND_UNSPECIFIED: ScopeKind
SCOPE_KIND_PERSON: ScopeKind
SCOPE_KIND_SOURCE: ScopeKind
SCOPE_KIND_RANGE: ScopeKind
SCOPE_KIND_PERCEPTION: ScopeKind
FORGET_STATE_UNSPECIFIED: ForgetState
FORGET_STATE_ASKED: ForgetState
FORGET_STATE_RUNNING: ForgetState
FORGET_STATE_SWEEPING: ForgetState
FORGET_STATE_DONE: ForgetState
FORGET_STATE_REFUSED: ForgetState

class ForgetTarget(_message.Message):
    __slots__ = ("person", "source", "since", "until", "perception")
    PERSON_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    PERCEPTION_FIELD_NUMBER: _ClassVar[int]
    person: str
    source: str
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    perception: str
    def __init__(self, person: _Optional[str] = ..., source: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., perception: _Optional[str] = ...) -> None: ...

class ForgetRecord(_message.Message):
    __slots__ = ("id", "kind", "at", "by", "state", "done", "removed", "redacted", "reason", "scope")
    class RemovedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class RedactedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    REDACTED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: ScopeKind
    at: _timestamp_pb2.Timestamp
    by: str
    state: ForgetState
    done: _timestamp_pb2.Timestamp
    removed: _containers.ScalarMap[str, int]
    redacted: _containers.ScalarMap[str, int]
    reason: str
    scope: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[ScopeKind, str]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ..., state: _Optional[_Union[ForgetState, str]] = ..., done: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., removed: _Optional[_Mapping[str, int]] = ..., redacted: _Optional[_Mapping[str, int]] = ..., reason: _Optional[str] = ..., scope: _Optional[str] = ...) -> None: ...

class LegalHold(_message.Message):
    __slots__ = ("id", "kind", "title", "reason", "at", "by")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: ScopeKind
    title: str
    reason: str
    at: _timestamp_pb2.Timestamp
    by: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[_Union[ScopeKind, str]] = ..., title: _Optional[str] = ..., reason: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ...) -> None: ...

class ForgetRequest(_message.Message):
    __slots__ = ("target", "dry_run", "by")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    target: ForgetTarget
    dry_run: bool
    by: str
    def __init__(self, target: _Optional[_Union[ForgetTarget, _Mapping]] = ..., dry_run: _Optional[bool] = ..., by: _Optional[str] = ...) -> None: ...

class ForgetResponse(_message.Message):
    __slots__ = ("record", "names")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    record: ForgetRecord
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, record: _Optional[_Union[ForgetRecord, _Mapping]] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class ListForgottenRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListForgottenResponse(_message.Message):
    __slots__ = ("records",)
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[ForgetRecord]
    def __init__(self, records: _Optional[_Iterable[_Union[ForgetRecord, _Mapping]]] = ...) -> None: ...

class HoldRequest(_message.Message):
    __slots__ = ("target", "reason", "by")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    target: ForgetTarget
    reason: str
    by: str
    def __init__(self, target: _Optional[_Union[ForgetTarget, _Mapping]] = ..., reason: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class HoldResponse(_message.Message):
    __slots__ = ("hold",)
    HOLD_FIELD_NUMBER: _ClassVar[int]
    hold: LegalHold
    def __init__(self, hold: _Optional[_Union[LegalHold, _Mapping]] = ...) -> None: ...

class ListHoldsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListHoldsResponse(_message.Message):
    __slots__ = ("holds",)
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    holds: _containers.RepeatedCompositeFieldContainer[LegalHold]
    def __init__(self, holds: _Optional[_Iterable[_Union[LegalHold, _Mapping]]] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("id", "by")
    ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    by: str
    def __init__(self, id: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class ReleaseResponse(_message.Message):
    __slots__ = ("hold",)
    HOLD_FIELD_NUMBER: _ClassVar[int]
    hold: LegalHold
    def __init__(self, hold: _Optional[_Union[LegalHold, _Mapping]] = ...) -> None: ...
