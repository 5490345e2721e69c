from google.protobuf import descriptor_pb2 as _descriptor_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor
CALL_FIELD_NUMBER: _ClassVar[int]
call: _descriptor.FieldDescriptor

class Call(_message.Message):
    __slots__ = ("scope", "get", "post", "body", "answer", "unlogged")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    GET_FIELD_NUMBER: _ClassVar[int]
    POST_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    UNLOGGED_FIELD_NUMBER: _ClassVar[int]
    scope: str
    get: str
    post: str
    body: str
    answer: str
    unlogged: bool
    def __init__(self, scope: _Optional[str] = ..., get: _Optional[str] = ..., post: _Optional[str] = ..., body: _Optional[str] = ..., answer: _Optional[str] = ..., unlogged: _Optional[bool] = ...) -> None: ...
