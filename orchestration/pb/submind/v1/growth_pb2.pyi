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

class GrowthKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GROWTH_KIND_UNSPECIFIED: _ClassVar[GrowthKind]
    GROWTH_KIND_PROPOSED: _ClassVar[GrowthKind]
    GROWTH_KIND_APPROVED: _ClassVar[GrowthKind]
    GROWTH_KIND_REJECTED: _ClassVar[GrowthKind]
    GROWTH_KIND_DIVIDED: _ClassVar[GrowthKind]
    GROWTH_KIND_RETIRED: _ClassVar[GrowthKind]
    GROWTH_KIND_REFUSED: _ClassVar[GrowthKind]
    GROWTH_KIND_FROZEN: _ClassVar[GrowthKind]
    GROWTH_KIND_THAWED: _ClassVar[GrowthKind]
GROWTH_KIND_UNSPECIFIED: GrowthKind
GROWTH_KIND_PROPOSED: GrowthKind
GROWTH_KIND_APPROVED: GrowthKind
GROWTH_KIND_REJECTED: GrowthKind
GROWTH_KIND_DIVIDED: GrowthKind
GROWTH_KIND_RETIRED: GrowthKind
GROWTH_KIND_REFUSED: GrowthKind
GROWTH_KIND_FROZEN: GrowthKind
GROWTH_KIND_THAWED: GrowthKind

class GrowthEvent(_message.Message):
    __slots__ = ("seq", "at", "kind", "by", "submind", "act", "other", "topics", "proposal", "limit", "reason", "growth", "id")
    SEQ_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    SUBMIND_FIELD_NUMBER: _ClassVar[int]
    ACT_FIELD_NUMBER: _ClassVar[int]
    OTHER_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    GROWTH_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    seq: int
    at: _timestamp_pb2.Timestamp
    kind: GrowthKind
    by: str
    submind: str
    act: str
    other: str
    topics: _containers.RepeatedScalarFieldContainer[str]
    proposal: int
    limit: str
    reason: str
    growth: str
    id: str
    def __init__(self, seq: _Optional[int] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., kind: _Optional[_Union[GrowthKind, str]] = ..., by: _Optional[str] = ..., submind: _Optional[str] = ..., act: _Optional[str] = ..., other: _Optional[str] = ..., topics: _Optional[_Iterable[str]] = ..., proposal: _Optional[int] = ..., limit: _Optional[str] = ..., reason: _Optional[str] = ..., growth: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class Member(_message.Message):
    __slots__ = ("name", "role", "goals", "parent", "generation", "number", "born", "share", "topics", "retired", "heir")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    GOALS_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BORN_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    RETIRED_FIELD_NUMBER: _ClassVar[int]
    HEIR_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    goals: _containers.RepeatedScalarFieldContainer[str]
    parent: str
    generation: int
    number: int
    born: _timestamp_pb2.Timestamp
    share: float
    topics: _containers.RepeatedScalarFieldContainer[str]
    retired: _timestamp_pb2.Timestamp
    heir: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., goals: _Optional[_Iterable[str]] = ..., parent: _Optional[str] = ..., generation: _Optional[int] = ..., number: _Optional[int] = ..., born: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., share: _Optional[float] = ..., topics: _Optional[_Iterable[str]] = ..., retired: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., heir: _Optional[str] = ...) -> None: ...

class Population(_message.Message):
    __slots__ = ("living", "ceiling", "births", "births_per_hour", "approval", "frozen", "waiting", "members", "head", "mind_runs", "born", "next_page_token")
    LIVING_FIELD_NUMBER: _ClassVar[int]
    CEILING_FIELD_NUMBER: _ClassVar[int]
    BIRTHS_FIELD_NUMBER: _ClassVar[int]
    BIRTHS_PER_HOUR_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    FROZEN_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    MIND_RUNS_FIELD_NUMBER: _ClassVar[int]
    BORN_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    living: int
    ceiling: int
    births: int
    births_per_hour: int
    approval: str
    frozen: GrowthEvent
    waiting: _containers.RepeatedCompositeFieldContainer[GrowthEvent]
    members: _containers.RepeatedCompositeFieldContainer[Member]
    head: int
    mind_runs: bool
    born: int
    next_page_token: str
    def __init__(self, living: _Optional[int] = ..., ceiling: _Optional[int] = ..., births: _Optional[int] = ..., births_per_hour: _Optional[int] = ..., approval: _Optional[str] = ..., frozen: _Optional[_Union[GrowthEvent, _Mapping]] = ..., waiting: _Optional[_Iterable[_Union[GrowthEvent, _Mapping]]] = ..., members: _Optional[_Iterable[_Union[Member, _Mapping]]] = ..., head: _Optional[int] = ..., mind_runs: _Optional[bool] = ..., born: _Optional[int] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetPopulationRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "living_only")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    LIVING_ONLY_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    living_only: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., living_only: _Optional[bool] = ...) -> None: ...

class GetPopulationResponse(_message.Message):
    __slots__ = ("population",)
    POPULATION_FIELD_NUMBER: _ClassVar[int]
    population: Population
    def __init__(self, population: _Optional[_Union[Population, _Mapping]] = ...) -> None: ...

class ListGrowthRequest(_message.Message):
    __slots__ = ("after", "limit")
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    after: int
    limit: int
    def __init__(self, after: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListGrowthResponse(_message.Message):
    __slots__ = ("events", "head")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[GrowthEvent]
    head: int
    def __init__(self, events: _Optional[_Iterable[_Union[GrowthEvent, _Mapping]]] = ..., head: _Optional[int] = ...) -> None: ...

class WatchGrowthRequest(_message.Message):
    __slots__ = ("after",)
    AFTER_FIELD_NUMBER: _ClassVar[int]
    after: int
    def __init__(self, after: _Optional[int] = ...) -> None: ...

class WatchGrowthResponse(_message.Message):
    __slots__ = ("event", "mark")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    event: GrowthEvent
    mark: int
    def __init__(self, event: _Optional[_Union[GrowthEvent, _Mapping]] = ..., mark: _Optional[int] = ...) -> None: ...

class Order(_message.Message):
    __slots__ = ("by", "reason")
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    by: str
    reason: str
    def __init__(self, by: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class OrderOutcome(_message.Message):
    __slots__ = ("event", "mind_runs")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    MIND_RUNS_FIELD_NUMBER: _ClassVar[int]
    event: GrowthEvent
    mind_runs: bool
    def __init__(self, event: _Optional[_Union[GrowthEvent, _Mapping]] = ..., mind_runs: _Optional[bool] = ...) -> None: ...

class FreezeRequest(_message.Message):
    __slots__ = ("order",)
    ORDER_FIELD_NUMBER: _ClassVar[int]
    order: Order
    def __init__(self, order: _Optional[_Union[Order, _Mapping]] = ...) -> None: ...

class FreezeResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: OrderOutcome
    def __init__(self, outcome: _Optional[_Union[OrderOutcome, _Mapping]] = ...) -> None: ...

class ThawRequest(_message.Message):
    __slots__ = ("order",)
    ORDER_FIELD_NUMBER: _ClassVar[int]
    order: Order
    def __init__(self, order: _Optional[_Union[Order, _Mapping]] = ...) -> None: ...

class ThawResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: OrderOutcome
    def __init__(self, outcome: _Optional[_Union[OrderOutcome, _Mapping]] = ...) -> None: ...

class ApproveRequest(_message.Message):
    __slots__ = ("proposal", "order")
    PROPOSAL_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    proposal: str
    order: Order
    def __init__(self, proposal: _Optional[str] = ..., order: _Optional[_Union[Order, _Mapping]] = ...) -> None: ...

class ApproveResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: OrderOutcome
    def __init__(self, outcome: _Optional[_Union[OrderOutcome, _Mapping]] = ...) -> None: ...

class RejectRequest(_message.Message):
    __slots__ = ("proposal", "order")
    PROPOSAL_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    proposal: str
    order: Order
    def __init__(self, proposal: _Optional[str] = ..., order: _Optional[_Union[Order, _Mapping]] = ...) -> None: ...

class RejectResponse(_message.Message):
    __slots__ = ("outcome",)
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    outcome: OrderOutcome
    def __init__(self, outcome: _Optional[_Union[OrderOutcome, _Mapping]] = ...) -> None: ...
