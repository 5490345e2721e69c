"""Every call of the schema: its scope, its path over HTTP, its messages. Read from the proto files' descriptors."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from orchestration.pb.submind import v1
from orchestration.pb.submind.v1 import options_pb2

_FILES = sorted(each.name for each in iter_modules(v1.__path__) if each.name.endswith("_pb2"))
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Method:
    """One call."""

    service: str
    """``submind.v1.MindService``."""
    name: str
    """``GetStatus``."""
    scope: str
    """What a token must allow."""
    verb: str
    """``GET`` or ``POST``; empty where it is not offered over HTTP."""
    path: str
    """Its template there: ``/v1/traces/{id}``."""
    body: str
    """The field of the request that the body of a POST holds; empty: the body is the request."""
    answered: str
    """The field of the answer that is answered over HTTP; empty: all of it."""
    unlogged: bool
    """Whether no log says what was asked."""
    request: type[Message]
    answer: type[Message]
    takes_stream: bool
    """Whether it takes a stream of requests."""
    gives_stream: bool
    """Whether it answers with a stream."""

    @property
    def rpc(self) -> str:
        """As gRPC names it: ``/submind.v1.MindService/GetStatus``."""
        return f"/{self.service}/{self.name}"

    @property
    def lines(self) -> str:
        """The repeated field that its request is, which may be sent by the line; empty where it is something else."""
        field, *others = self.request.DESCRIPTOR.fields or [None]
        return field.name if field is not None and field.is_repeated and not others else ""

    @property
    def ends(self) -> bool:
        """Whether its answers end by themselves: those of a stream without end have a mark to go on behind."""
        return not (self.gives_stream and "mark" in self.answer.DESCRIPTOR.fields_by_name)

    @property
    def attribute(self) -> str:
        """The name of the handler's method: ``get_status``."""
        return _CAPITAL.sub("_", self.name).lower()

    def on(self, channel: Any) -> Any:
        """What calls it over a gRPC channel."""
        kinds = ("stream" if streams else "unary" for streams in (self.takes_stream, self.gives_stream))
        return getattr(channel, "_".join(kinds))(
            self.rpc,
            request_serializer=self.request.SerializeToString,
            response_deserializer=self.answer.FromString,
        )


def _method(found: MethodDescriptor) -> Method:
    described: Any = found
    call: options_pb2.Call = described.GetOptions().Extensions[options_pb2.call]
    return Method(
        service=found.containing_service.full_name,
        name=found.name,
        scope=call.scope,
        verb=(call.WhichOneof("path") or "").upper(),
        path=call.get or call.post,
        body=call.body,
        answered=call.answer,
        unlogged=call.unlogged,
        request=GetMessageClass(found.input_type),
        answer=GetMessageClass(found.output_type),
        takes_stream=described.client_streaming,
        gives_stream=described.server_streaming,
    )


def _methods() -> Iterator[Method]:
    for file in _FILES:
        described = import_module(f"{v1.__name__}.{file}").DESCRIPTOR
        for service in described.services_by_name.values():
            yield from map(_method, service.methods)


METHODS: Mapping[str, Method] = {method.rpc: method for method in _methods()}
"""Every method of the schema, by its name in gRPC."""


def method(name: str) -> Method:
    """The method that is called ``Service/Method``. Raises ``KeyError``."""
    return METHODS[f"/submind.v1.{name}"]
