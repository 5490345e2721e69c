"""What stands before every method: who calls, and whether they may."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc

from orchestration.access.caller import CALLER
from orchestration.access.errors import AccessError
from orchestration.access.gate import Access
from orchestration.access.scopes import Free, Scope, need_of_rpc
from orchestration.gateway.answers import abort

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
            return _refusal(handler, error)
        CALLER.set(caller)  # the handler runs in this task
        return handler


def _refusal(handler: _Handler, error: AccessError) -> _Handler:
    """A handler of the same shape as the one it stands for: gRPC asks for that."""

    async def refuse(_: object, context: _Context) -> None:
        await abort(context, error)

    if handler.request_streaming:
        make = (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )
    else:
        make = (
            grpc.unary_stream_rpc_method_handler if handler.response_streaming else grpc.unary_unary_rpc_method_handler
        )
    return make(refuse)
