import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MindState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MIND_STATE_UNSPECIFIED: _ClassVar[MindState]
    MIND_STATE_STARTING: _ClassVar[MindState]
    MIND_STATE_RUNNING: _ClassVar[MindState]
    MIND_STATE_DEGRADED: _ClassVar[MindState]
    MIND_STATE_DOWN: _ClassVar[MindState]

class SubmindState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUBMIND_STATE_UNSPECIFIED: _ClassVar[SubmindState]
    SUBMIND_STATE_STARTING: _ClassVar[SubmindState]
    SUBMIND_STATE_RUNNING: _ClassVar[SubmindState]
    SUBMIND_STATE_RESTARTING: _ClassVar[SubmindState]
    SUBMIND_STATE_QUARANTINED: _ClassVar[SubmindState]
    SUBMIND_STATE_STOPPED: _ClassVar[SubmindState]

class ChangeKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANGE_KIND_UNSPECIFIED: _ClassVar[ChangeKind]
    CHANGE_KIND_OPENED: _ClassVar[ChangeKind]
    CHANGE_KIND_CREDITED: _ClassVar[ChangeKind]
    CHANGE_KIND_UNREWARDED: _ClassVar[ChangeKind]
    CHANGE_KIND_PROMOTED: _ClassVar[ChangeKind]
    CHANGE_KIND_DEMOTED: _ClassVar[ChangeKind]
    CHANGE_KIND_FORGOTTEN: _ClassVar[ChangeKind]
    CHANGE_KIND_EVICTED: _ClassVar[ChangeKind]
    CHANGE_KIND_REFUSED: _ClassVar[ChangeKind]
MIND_STATE_UNSPECIFIED: MindState
MIND_STATE_STARTING: MindState
MIND_STATE_RUNNING: MindState
MIND_STATE_DEGRADED: MindState
MIND_STATE_DOWN: MindState
SUBMIND_STATE_UNSPECIFIED: SubmindState
SUBMIND_STATE_STARTING: SubmindState
SUBMIND_STATE_RUNNING: SubmindState
SUBMIND_STATE_RESTARTING: SubmindState
SUBMIND_STATE_QUARANTINED: SubmindState
SUBMIND_STATE_STOPPED: SubmindState
CHANGE_KIND_UNSPECIFIED: ChangeKind
CHANGE_KIND_OPENED: ChangeKind
CHANGE_KIND_CREDITED: ChangeKind
CHANGE_KIND_UNREWARDED: ChangeKind
CHANGE_KIND_PROMOTED: ChangeKind
CHANGE_KIND_DEMOTED: ChangeKind
CHANGE_KIND_FORGOTTEN: ChangeKind
CHANGE_KIND_EVICTED: ChangeKind
CHANGE_KIND_REFUSED: ChangeKind

class GetStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("status",)
    STATUS_FIELD_NUMBER: _ClassVar[int]
    status: MindStatus
    def __init__(self, status: _Optional[_Union[MindStatus, _Mapping]] = ...) -> None: ...

class MindStatus(_message.Message):
    __slots__ = ("mind", "state", "version", "uptime", "perceptions", "stream", "traces", "tokens", "substrate", "limits", "subminds", "reasons", "now", "lineage")
    class SubmindsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    MIND_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    UPTIME_FIELD_NUMBER: _ClassVar[int]
    PERCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    TRACES_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUBSTRATE_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    SUBMINDS_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    NOW_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    mind: str
    state: MindState
    version: str
    uptime: _duration_pb2.Duration
    perceptions: PerceptionFigures
    stream: StreamFigures
    traces: TraceFigures
    tokens: TokenFigures
    substrate: _struct_pb2.Struct
    limits: _containers.RepeatedCompositeFieldContainer[Limit]
    subminds: _containers.ScalarMap[str, int]
    reasons: _containers.RepeatedScalarFieldContainer[str]
    now: _timestamp_pb2.Timestamp
    lineage: _containers.RepeatedCompositeFieldContainer[Ancestor]
    def __init__(self, mind: _Optional[str] = ..., state: _Optional[_Union[MindState, str]] = ..., version: _Optional[str] = ..., uptime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., perceptions: _Optional[_Union[PerceptionFigures, _Mapping]] = ..., stream: _Optional[_Union[StreamFigures, _Mapping]] = ..., traces: _Optional[_Union[TraceFigures, _Mapping]] = ..., tokens: _Optional[_Union[TokenFigures, _Mapping]] = ..., substrate: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., limits: _Optional[_Iterable[_Union[Limit, _Mapping]]] = ..., subminds: _Optional[_Mapping[str, int]] = ..., reasons: _Optional[_Iterable[str]] = ..., now: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lineage: _Optional[_Iterable[_Union[Ancestor, _Mapping]]] = ...) -> None: ...

class Ancestor(_message.Message):
    __slots__ = ("mind", "at", "perceptions", "entries", "snapshot")
    MIND_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PERCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    mind: str
    at: _timestamp_pb2.Timestamp
    perceptions: int
    entries: int
    snapshot: str
    def __init__(self, mind: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., perceptions: _Optional[int] = ..., entries: _Optional[int] = ..., snapshot: _Optional[str] = ...) -> None: ...

class PerceptionFigures(_message.Message):
    __slots__ = ("acknowledged", "head", "per_minute")
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    PER_MINUTE_FIELD_NUMBER: _ClassVar[int]
    acknowledged: int
    head: int
    per_minute: float
    def __init__(self, acknowledged: _Optional[int] = ..., head: _Optional[int] = ..., per_minute: _Optional[float] = ...) -> None: ...

class StreamFigures(_message.Message):
    __slots__ = ("head", "per_hour")
    HEAD_FIELD_NUMBER: _ClassVar[int]
    PER_HOUR_FIELD_NUMBER: _ClassVar[int]
    head: int
    per_hour: float
    def __init__(self, head: _Optional[int] = ..., per_hour: _Optional[float] = ...) -> None: ...

class TraceFigures(_message.Message):
    __slots__ = ("live", "total")
    LIVE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    live: int
    total: int
    def __init__(self, live: _Optional[int] = ..., total: _Optional[int] = ...) -> None: ...

class TokenFigures(_message.Message):
    __slots__ = ("input", "output", "cost", "budget_left")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    BUDGET_LEFT_FIELD_NUMBER: _ClassVar[int]
    input: int
    output: int
    cost: float
    budget_left: float
    def __init__(self, input: _Optional[int] = ..., output: _Optional[int] = ..., cost: _Optional[float] = ..., budget_left: _Optional[float] = ...) -> None: ...

class Limit(_message.Message):
    __slots__ = ("name", "limit", "hits")
    NAME_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    name: str
    limit: float
    hits: int
    def __init__(self, name: _Optional[str] = ..., limit: _Optional[float] = ..., hits: _Optional[int] = ...) -> None: ...

class ListSubmindsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSubmindsResponse(_message.Message):
    __slots__ = ("subminds", "next_page_token")
    SUBMINDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    subminds: _containers.RepeatedCompositeFieldContainer[SubmindReport]
    next_page_token: str
    def __init__(self, subminds: _Optional[_Iterable[_Union[SubmindReport, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SubmindReport(_message.Message):
    __slots__ = ("name", "role", "goal", "state", "at", "topics", "mailbox", "metrics", "reason")
    class MetricsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    MAILBOX_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    goal: str
    state: SubmindState
    at: _timestamp_pb2.Timestamp
    topics: _containers.RepeatedScalarFieldContainer[str]
    mailbox: int
    metrics: _containers.ScalarMap[str, float]
    reason: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., goal: _Optional[str] = ..., state: _Optional[_Union[SubmindState, str]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., topics: _Optional[_Iterable[str]] = ..., mailbox: _Optional[int] = ..., metrics: _Optional[_Mapping[str, float]] = ..., reason: _Optional[str] = ...) -> None: ...

class ListConnectionsRequest(_message.Message):
    __slots__ = ("owner", "page_size", "page_token", "limit", "history")
    OWNER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    owner: str
    page_size: int
    page_token: str
    limit: int
    history: bool
    def __init__(self, owner: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., limit: _Optional[int] = ..., history: _Optional[bool] = ...) -> None: ...

class ListConnectionsResponse(_message.Message):
    __slots__ = ("connections", "next_page_token", "total")
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    connections: _containers.RepeatedCompositeFieldContainer[Connection]
    next_page_token: str
    total: int
    def __init__(self, connections: _Optional[_Iterable[_Union[Connection, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., total: _Optional[int] = ...) -> None: ...

class Connection(_message.Message):
    __slots__ = ("owner", "topic", "label", "peer", "weight", "ltp", "uses", "credited", "last_use", "history")
    OWNER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    LTP_FIELD_NUMBER: _ClassVar[int]
    USES_FIELD_NUMBER: _ClassVar[int]
    CREDITED_FIELD_NUMBER: _ClassVar[int]
    LAST_USE_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    owner: str
    topic: str
    label: str
    peer: str
    weight: float
    ltp: bool
    uses: int
    credited: int
    last_use: _timestamp_pb2.Timestamp
    history: _containers.RepeatedCompositeFieldContainer[Outcome]
    def __init__(self, owner: _Optional[str] = ..., topic: _Optional[str] = ..., label: _Optional[str] = ..., peer: _Optional[str] = ..., weight: _Optional[float] = ..., ltp: _Optional[bool] = ..., uses: _Optional[int] = ..., credited: _Optional[int] = ..., last_use: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., history: _Optional[_Iterable[_Union[Outcome, _Mapping]]] = ...) -> None: ...

class Outcome(_message.Message):
    __slots__ = ("time", "outcome")
    TIME_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    outcome: str
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., outcome: _Optional[str] = ...) -> None: ...

class ListConnectionChangesRequest(_message.Message):
    __slots__ = ("owner", "topic", "since", "kinds", "limit", "before")
    OWNER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    owner: str
    topic: str
    since: _timestamp_pb2.Timestamp
    kinds: _containers.RepeatedScalarFieldContainer[ChangeKind]
    limit: int
    before: str
    def __init__(self, owner: _Optional[str] = ..., topic: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[ChangeKind, str]]] = ..., limit: _Optional[int] = ..., before: _Optional[str] = ...) -> None: ...

class ListConnectionChangesResponse(_message.Message):
    __slots__ = ("changes", "older")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    OLDER_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[ConnectionChange]
    older: str
    def __init__(self, changes: _Optional[_Iterable[_Union[ConnectionChange, _Mapping]]] = ..., older: _Optional[str] = ...) -> None: ...

class WatchConnectionChangesRequest(_message.Message):
    __slots__ = ("owner", "topic", "since", "kinds", "after")
    OWNER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    owner: str
    topic: str
    since: _timestamp_pb2.Timestamp
    kinds: _containers.RepeatedScalarFieldContainer[ChangeKind]
    after: str
    def __init__(self, owner: _Optional[str] = ..., topic: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kinds: _Optional[_Iterable[_Union[ChangeKind, str]]] = ..., after: _Optional[str] = ...) -> None: ...

class WatchConnectionChangesResponse(_message.Message):
    __slots__ = ("change", "mark")
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    change: ConnectionChange
    mark: str
    def __init__(self, change: _Optional[_Union[ConnectionChange, _Mapping]] = ..., mark: _Optional[str] = ...) -> None: ...

class ConnectionChange(_message.Message):
    __slots__ = ("mark", "owner", "topic", "label", "peer", "at", "kind", "weight", "reason")
    MARK_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    mark: str
    owner: str
    topic: str
    label: str
    peer: str
    at: _timestamp_pb2.Timestamp
    kind: ChangeKind
    weight: float
    reason: str
    def __init__(self, mark: _Optional[str] = ..., owner: _Optional[str] = ..., topic: _Optional[str] = ..., label: _Optional[str] = ..., peer: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[_Union[ChangeKind, str]] = ..., weight: _Optional[float] = ..., reason: _Optional[str] = ...) -> None: ...
