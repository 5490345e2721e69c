from orchestration.pb.submind.v1 import options_pb2 as _options_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Pack(_message.Message):
    __slots__ = ("name", "version", "sections", "facts", "added")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    sections: int
    facts: int
    added: bool
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., sections: _Optional[int] = ..., facts: _Optional[int] = ..., added: _Optional[bool] = ...) -> None: ...

class ListPacksRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListPacksResponse(_message.Message):
    __slots__ = ("packs",)
    PACKS_FIELD_NUMBER: _ClassVar[int]
    packs: _containers.RepeatedCompositeFieldContainer[Pack]
    def __init__(self, packs: _Optional[_Iterable[_Union[Pack, _Mapping]]] = ...) -> None: ...

class AddPackRequest(_message.Message):
    __slots__ = ("name", "by", "text")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    name: str
    by: str
    text: str
    def __init__(self, name: _Optional[str] = ..., by: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class AddPackResponse(_message.Message):
    __slots__ = ("pack", "came", "gone")
    PACK_FIELD_NUMBER: _ClassVar[int]
    CAME_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    pack: Pack
    came: int
    gone: int
    def __init__(self, pack: _Optional[_Union[Pack, _Mapping]] = ..., came: _Optional[int] = ..., gone: _Optional[int] = ...) -> None: ...

class RemovePackRequest(_message.Message):
    __slots__ = ("name", "by")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    name: str
    by: str
    def __init__(self, name: _Optional[str] = ..., by: _Optional[str] = ...) -> None: ...

class RemovePackResponse(_message.Message):
    __slots__ = ("pack",)
    PACK_FIELD_NUMBER: _ClassVar[int]
    pack: Pack
    def __init__(self, pack: _Optional[_Union[Pack, _Mapping]] = ...) -> None: ...
