import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from orchestration.pb.submind.v1 import perception_pb2 as _perception_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AllowRequest(_message.Message):
    __slots__ = ("caller", "kind", "amount", "ahead", "perceptions_per_second", "bytes_per_second")
    CALLER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AMOUNT_FIELD_NUMBER: _ClassVar[int]
    AHEAD_FIELD_NUMBER: _ClassVar[int]
    PERCEPTIONS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    BYTES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    caller: str
    kind: str
    amount: Amount
    ahead: Amount
    perceptions_per_second: float
    bytes_per_second: float
    def __init__(self, caller: _Optional[str] = ..., kind: _Optional[str] = ..., amount: _Optional[_Union[Amount, _Mapping]] = ..., ahead: _Optional[_Union[Amount, _Mapping]] = ..., perceptions_per_second: _Optional[float] = ..., bytes_per_second: _Optional[float] = ...) -> None: ...

class Amount(_message.Message):
    __slots__ = ("perceptions", "bytes")
    PERCEPTIONS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    perceptions: int
    bytes: int
    def __init__(self, perceptions: _Optional[int] = ..., bytes: _Optional[int] = ...) -> None: ...

class AllowResponse(_message.Message):
    __slots__ = ("ahead", "quota", "allowed", "retry_after")
    AHEAD_FIELD_NUMBER: _ClassVar[int]
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    ahead: Amount
    quota: str
    allowed: float
    retry_after: _duration_pb2.Duration
    def __init__(self, ahead: _Optional[_Union[Amount, _Mapping]] = ..., quota: _Optional[str] = ..., allowed: _Optional[float] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ForwardRequest(_message.Message):
    __slots__ = ("batches",)
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    batches: _containers.RepeatedCompositeFieldContainer[ForwardedBatch]
    def __init__(self, batches: _Optional[_Iterable[_Union[ForwardedBatch, _Mapping]]] = ...) -> None: ...

class ForwardedBatch(_message.Message):
    __slots__ = ("request", "caller", "traceparent", "recorded")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    request: _perception_pb2.PerceiveStreamRequest
    caller: str
    traceparent: str
    recorded: bool
    def __init__(self, request: _Optional[_Union[_perception_pb2.PerceiveStreamRequest, _Mapping]] = ..., caller: _Optional[str] = ..., traceparent: _Optional[str] = ..., recorded: _Optional[bool] = ...) -> None: ...

class ForwardResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[ForwardedAnswer]
    def __init__(self, answers: _Optional[_Iterable[_Union[ForwardedAnswer, _Mapping]]] = ...) -> None: ...

class ForwardedAnswer(_message.Message):
    __slots__ = ("batch", "first", "count", "known", "refusal")
    class KnownEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: int
        value: int
        def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ...) -> None: ...
    BATCH_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    KNOWN_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    batch: int
    first: int
    count: int
    known: _containers.ScalarMap[int, int]
    refusal: _perception_pb2.Refusal
    def __init__(self, batch: _Optional[int] = ..., first: _Optional[int] = ..., count: _Optional[int] = ..., known: _Optional[_Mapping[int, int]] = ..., refusal: _Optional[_Union[_perception_pb2.Refusal, _Mapping]] = ...) -> None: ...
