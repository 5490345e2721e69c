"""What stands before every method: who calls, and whether they may."""

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from orchestration.access.audit import AuditLog
from orchestration.access.caller import CALLER
from orchestration.access.errors import AccessError
from orchestration.access.gate import Access
from orchestration.access.needs import need_of_rpc
from orchestration.access.scopes import Free, Scope
from orchestration.gateway.error_answers import abort
from orchestration.schema.methods import METHODS

_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

BEHALF = "x-submind-caller"
"""The metadata by which a process before the mind says in whose name it calls."""

if TYPE_CHECKING:
    _Interceptor = grpc.aio.ServerInterceptor[Any, Any]
else:  # only the stubs know it as generic
    _Interceptor = grpc.aio.ServerInterceptor


class Admission(_Interceptor):
    """Refuses calls whose token does not allow them, before a message of theirs is read; says to the rest who calls."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[_Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> _Handler:
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        need = need_of_rpc(method)
        if handler is None or need is Free.OPEN:
            return handler
        metadata = dict(handler_call_details.invocation_metadata or ())
        behalf = metadata.get(BEHALF, "")
        try:
            caller = await self._access.caller(metadata.get("authorization"), behalf if isinstance(behalf, str) else "")
            if isinstance(need, Scope):
                caller.require(need, method.rpartition("/")[2])
        except AccessError as error:
            return _refusal(error, self._access, method)
        CALLER.set(caller)  # the handler runs in this task
        return _audited(handler, self._access.audit, method) if need is Scope.OPERATE else handler


def _audited(handler: _Handler, audit: AuditLog, method: str) -> _Handler:
    """The same handler, of an order: it is written down who gave it, what it was, and what came of it."""
    inner: Any = handler.unary_unary

    async def obey(raw: bytes, context: _Context) -> Any:
        outcome = "failed"
        try:
            answer = await inner(raw, context)
            outcome = "done"
        except BaseException:
            outcome = context.details() or outcome  # that of `abort`
            raise
        else:
            return answer
        finally:
            target = "" if METHODS[method].unlogged else _shown(method, raw)
            audit.record(method.rpartition("/")[2], CALLER.get(), outcome, target=target, peer=host_of(context.peer()))

    return grpc.unary_unary_rpc_method_handler(obey)


def _shown(method: str, raw: bytes) -> str:
    """A request as a log has it."""
    try:
        asked: Any = descriptor_pool.Default().FindMethodByName(method.strip("/").replace("/", "."))
        request = GetMessageClass(asked.input_type).FromString(raw)
    except (KeyError, DecodeError):
        return ""
    told = MessageToDict(request, preserving_proto_field_name=True)
    return json.dumps(told, ensure_ascii=False) if told else ""


def host_of(peer: str) -> str:
    """``ipv4:10.0.0.7:51234`` as ``10.0.0.7``."""
    address = unquote(peer.partition(":")[2]).rpartition(":")[0]
    return address.strip("[]") or peer


def _refusal(error: AccessError, access: Access, method: str) -> _Handler:
    """A handler that answers at once, whatever it stands for: it does not wait for a message that may never come."""

    async def refuse(_: object, context: _Context) -> None:
        access.refuse(method.rpartition("/")[2], error, host_of(context.peer()))
        await abort(context, error)

    return grpc.stream_stream_rpc_method_handler(refuse)
